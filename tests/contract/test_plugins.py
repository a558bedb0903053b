"""Every built-in part and every example keeps the promises that strangers' plug-ins are held to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from browser_histories import Step, chrome_history, places
from examples.own_fetcher import FolderFetcher
from examples.own_frontier import ArrivalFrontier
from examples.own_sink import Webhook
from live_webs import USER_AGENT, Resource, TinySite
from six_users import six_user_trace

from loopback import posts_taken
from trailhound.config.settings import FetchSettings
from trailhound.crawling.sinks import JsonLinesSink
from trailhound.errors import ConfigError, UsageError
from trailhound.fetching.http import HttpFetcher
from trailhound.frontier.memory import MemoryFrontier
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.judges.choosing import judge_names, make_judge
from trailhound.plugins import FETCHER, FRONTIER, KINDS, SINK, Catalogue, registered
from trailhound.records import Candidate, CrawledPage, FinishedPage, Page, Relevance, ScoredLink
from trailhound.sessions.importers import importer, importer_names
from trailhound.sources import Sources
from trailhound.strategies.base import Briefing
from trailhound.strategies.choosing import make_strategy, strategy_names
from trailhound.testing import (
    BrokenPromiseError,
    check_fetcher,
    check_frontier,
    check_importer,
    check_judge,
    check_sink,
    check_strategy,
)
from trailhound.testing.promises import page_graph

EXAMPLES = Path(__file__).parents[2] / "examples"


class Answers:
    def pursuit(self) -> Answers:
        return self

    def arrived(self, url: str) -> None:
        """All the same."""

    def answer(self, url: str) -> int | None:
        return None

    def worth(self, url: str) -> float:
        return 0.5


BRIEFING = Briefing(page_graph(), seed=7, answers=Answers(), sources=Sources(trace=six_user_trace))


@pytest.mark.parametrize("spec", [*strategy_names(), str(EXAMPLES / "short_urls.py")])
def test_strategies(spec: str) -> None:
    check_strategy(lambda briefing: make_strategy(spec, briefing), BRIEFING)


OPTIONS = {"keywords": ":words=bee", "regex": ":pattern=bee"}


@pytest.mark.parametrize("name", [*judge_names(), str(EXAMPLES / "long_reads.py")])
def test_judges(name: str) -> None:
    check_judge(make_judge(name + OPTIONS.get(name, ""), BRIEFING))


def test_the_http_fetcher() -> None:
    settings = FetchSettings(
        user_agent=USER_AGENT,
        delay_seconds=0.0,
        address_delay_seconds=0.0,
        allow_impolite=True,
        allow_addresses=("127.0.0.1",),
    )
    with TinySite({"/": Resource(b"<title>Hives</title>")}) as site:
        home = f"http://127.0.0.1:{site.port}/"
        check_fetcher(lambda: HttpFetcher.from_settings(settings), home, home + "nothing")


def test_a_fetcher_of_your_own(tmp_path: Path) -> None:
    (tmp_path / "hives.test").mkdir()
    (tmp_path / "hives.test" / "index.html").write_text("<title>Hives</title>")
    home = "http://hives.test/"
    check_fetcher(lambda: FolderFetcher(tmp_path), home, home + "nothing")
    with pytest.raises(BrokenPromiseError, match="is not there, so it is not fetched"):
        check_fetcher(lambda: FolderFetcher(tmp_path), home, home)


def test_a_folder_of_pages_gives_nothing_from_beside_it(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "secret").write_text("honey")
    with pytest.raises(BrokenPromiseError, match="is fetched, not not-found"):
        check_fetcher(
            lambda: FolderFetcher(tmp_path / "pages"), "http://h.test/%2e%2e/%2e%2e/secret", "x:"
        )


def test_the_json_lines_sink(tmp_path: Path) -> None:
    check_sink(lambda folder: JsonLinesSink.open("bees", folder), tmp_path)
    found = [json.loads(line) for line in (tmp_path / "finds.jsonl").read_text().splitlines()]
    assert [each["title"] for each in found] == ["Bees", "Bees"]
    assert found[0]["url"] == "http://hives.test/bees"
    assert found[0]["score"] == 0.9
    assert found[0]["text"] == "bees in a hive make honey"


def test_half_a_line_of_a_killed_crawl_is_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "new" / "mine.jsonl"
    JsonLinesSink.open("bees", None, path=path).close()
    path.write_text('{"url": "http://a.test/"}\n{"url": "http')
    JsonLinesSink.open("bees", None, path=path).close()
    assert path.read_text() == '{"url": "http://a.test/"}\n'


def test_a_sink_of_your_own(tmp_path: Path) -> None:
    with posts_taken() as (port, got):
        url = f"http://127.0.0.1:{port}/"
        check_sink(lambda folder: Webhook.open("bees", folder, url=url, batch=2), tmp_path)
    assert [len(each["pages"]) for each in got] == [2, 1, 2, 1]
    with pytest.raises(BrokenPromiseError, match="A sink can be closed, but it raised Client"):
        check_sink(lambda folder: Webhook.open("bees", folder, url=url, batch=9), tmp_path)


def test_a_sink_that_breaks_is_found_out(tmp_path: Path) -> None:
    class Careless:
        def keep(self, finished: FinishedPage) -> None:
            assert finished.page is not None

        def close(self) -> None:
            pass

    with pytest.raises(BrokenPromiseError, match="takes any page"):
        check_sink(lambda _: Careless(), tmp_path)


def test_frontiers() -> None:
    check_frontier(SqliteFrontier.open, histories=5)
    check_frontier(MemoryFrontier.open, durable=False, histories=5)
    check_frontier(ArrivalFrontier.open, best_first=False, histories=10)
    with pytest.raises(BrokenPromiseError, match=r"is next, not .* \(after .*add"):
        check_frontier(ArrivalFrontier.open)
    with pytest.raises(BrokenPromiseError, match="stats: waiting"):
        check_frontier(MemoryFrontier.open)


def _steps(kind: int) -> list[Step]:
    return [Step("http://a.test/", kind), Step("http://a.test/two", kind, came_from=1)]


def _har(path: Path) -> Path:
    entry = {
        "startedDateTime": "2026-03-01T12:00:00.000Z",
        "request": {"method": "GET", "url": "http://a.test/", "headers": []},
        "response": {"status": 200, "content": {"mimeType": "text/html", "text": "<p>a"}},
    }
    path.write_text(json.dumps({"log": {"version": "1.2", "pages": [], "entries": [entry]}}))
    return path


def _warc(path: Path) -> Path:
    answer = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Hive</title>"
    path.write_text(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\n"
        "WARC-Target-URI: http://a.test/\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(answer)}\r\n\r\n{answer}\r\n\r\n",
        newline="",
    )
    return path


def _written(text: str) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.write_text(text)
        return path

    return write


RECORDINGS: dict[str, Callable[[Path], Path]] = {
    "chrome": lambda path: chrome_history(path, _steps(0)),
    "firefox": lambda path: places(path, _steps(1)),
    "har": _har,
    "warc": _warc,
    "wacz": _warc,
    "squid": _written(
        "1772366400.000 9 10.0.0.1 TCP_MISS/200 5 GET http://a.test/ - DIRECT/- text/html\n"
    ),
    "combined": _written(
        '10.0.0.1 - - [01/Mar/2026:12:00:01 +0000] "GET / HTTP/1.1" 200 9 "-" "Agent"\n'
    ),
    str(EXAMPLES / "own_importer.py"): _written("http://a.test/\nno address\n"),
}
IMPORT_OPTIONS: dict[str, dict[str, object]] = {
    "squid": {"min_pages": 1},
    "combined": {"min_pages": 1, "site": "http://a.test"},
}


@pytest.mark.parametrize("name", RECORDINGS, ids=lambda name: Path(name).stem)
def test_importers(name: str, tmp_path: Path) -> None:
    recording = RECORDINGS[name](tmp_path / "recording.warc")
    check_importer(importer(name), recording, **IMPORT_OPTIONS.get(name, {}))


def test_every_built_in_importer_is_checked() -> None:
    assert set(importer_names()) <= set(RECORDINGS)


class Undecided:
    """A strategy and a judge whose answers cannot be used."""

    name: ClassVar[str] = "undecided"
    summary: ClassVar[str] = "gives no number"
    paper: ClassVar[str] = ""

    def observe(self, crawled: CrawledPage) -> None:
        pass

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        return [ScoredLink(link, float("nan")) for link in crawled.page.links]

    def judge(self, page: Page) -> Relevance:
        return Relevance(7.0, True)


def test_guides_without_sense_are_found_out() -> None:
    with pytest.raises(BrokenPromiseError, match="a number that can be compared"):
        check_strategy(lambda _: Undecided())
    with pytest.raises(BrokenPromiseError, match="from 0 to 1, not 7"):
        check_judge(Undecided())


NOTHING = """class Nothing:
    name = summary = "nothing"
    paper = ""

    @classmethod
    def from_briefing(cls, briefing): return None

    def score_links(self, crawled): return ()

    def observe(self, crawled): pass

    def judge(self, page): pass
"""


def test_guides_that_are_none_are_refused_as_they_are_made(tmp_path: Path) -> None:
    path = tmp_path / "nothing.py"
    path.write_text(NOTHING)
    for make in (make_strategy, make_judge):
        with pytest.raises(ConfigError, match=r"nothing.py' cannot be made: .*gives None"):
            make(str(path), BRIEFING)
    with pytest.raises(BrokenPromiseError, match="from_briefing gives what can score_links"):
        check_strategy(lambda _: cast(Any, None))


# The table of all kinds


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.noun)
def test_each_kind_is_documented_and_has_what_it_says(kind: Any) -> None:
    page = (EXAMPLES.parent / "docs" / "plugins.md").read_text("utf-8")
    module, _, name = kind.protocol.partition(":")
    assert f"`{kind.group}`" in page
    assert f"`{name}`" in page
    assert hasattr(__import__(module, fromlist=[name]), name)
    catalogue = Catalogue(kind)
    assert catalogue.names()
    for each in catalogue.names():
        assert all(hasattr(catalogue.load(each), needed) for needed in kind.needs)


def test_everything_that_is_installed_says_what_it_is() -> None:
    known = list(registered())
    assert {each.kind for each in known} == {kind.noun for kind in KINDS}
    assert all(each.summary and each.provider for each in known)
    assert next(each for each in known if each.name == "jsonl").options == {"path": None}


def test_nobody_takes_the_name_of_a_part_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = EntryPoint("http", "trailhound.fetching.http:HttpFetcher", "trailhound.fetchers")
    taken = EntryPoint("http", "examples.own_fetcher:FolderFetcher", "trailhound.fetchers")
    monkeypatch.setattr("trailhound.plugins.entry_points", lambda group: [taken, ours, taken])
    assert Catalogue(FETCHER).load("http") is HttpFetcher


def test_a_file_may_define_dataclasses(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Mine:\n    topic: str\n"
        "    @classmethod\n    def open(cls, topic, folder): return cls(topic)\n"
        "    def keep(self, finished): pass\n    def close(self): pass\n"
    )
    assert Catalogue(SINK).make(str(path), "bees", None).topic == "bees"


def test_a_plug_in_is_asked_for_what_it_needs() -> None:
    frontiers = Catalogue(FRONTIER)
    with pytest.raises(UsageError, match=r"Unknown frontier 'sqlit'. Did you mean sqlite"):
        frontiers.resolve("sqlit")
    fetchers = Catalogue(FETCHER)
    with pytest.raises(UsageError, match=r"needs the option folder: write .*:folder="):
        fetchers.resolve(str(EXAMPLES / "own_fetcher.py"))
    assert frontiers.make("memory", None).add([Candidate("http://a.test/", 1.0)]) == 1
