"""Crawl, mark, learn again: the whole loop over loopback; and judges that fail on the way."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from live_webs import Resource, Site, TinySite, learn

from command_line import Command
from trailhound.demo import DemoWeb
from trailhound.errors import TrailhoundError, UsageError
from trailhound.records import Outcome
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.sessions.files import write_session
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import (
    MARKS_FILE,
    mark_results,
    mark_visited,
    marks_by_url,
    marks_of,
)
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.workspace import TopicFolder, Workspace


def topic_name(web: DemoWeb) -> str:
    return max(web.topics, key=lambda name: len(web.topics[name]))


@pytest.fixture(scope="module")
def finished(web: DemoWeb, port: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose topic has been crawled."""
    folder = tmp_path_factory.mktemp("finished")
    topic = learn(web, topic_name(web), folder)
    with Site(topic, port).begun(crawl__seeds=web.start_urls, crawl__max_requests=150) as crawl:
        list(crawl.run())
    return folder


@pytest.fixture
def crawled(web: DemoWeb, finished: Path, tmp_path: Path) -> CrawlFolder:
    """A copy of it."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return CrawlFolder(Workspace(tmp_path).topic(topic_name(web)))


def finds(folder: CrawlFolder) -> list[StoredPage]:
    with Results(folder.results) as results:
        return [page for page in results.ranked(only_new=True, min_score=0.0) if page.depth > 1]


def learned_again(topic: TopicFolder) -> TopicFolder:
    learn_into(Workspace(topic.path.parent.parent), LearningRequest(topic.name))
    return topic


def test_marked_results_become_targets_and_bring_their_paths(crawled: CrawlFolder) -> None:
    topic = crawled.topic
    before = topic.load().model.graph
    useful, useless = finds(crawled)[:3], finds(crawled)[3:5]
    marked = mark_results(crawled, [page.address for page in useful], True, now=2e9)
    assert [page.address for page in marked.pages] == [page.address for page in useful]
    assert marked.visits > 0
    mark_results(crawled, [page.address for page in useless], False, now=2e9)
    after = learned_again(topic).load().model.graph
    pages = {page.url: number for number, page in enumerate(after.pages)}
    assert len(after.targets) == len(before.targets) + 3
    assert {pages[page.address] for page in useful} <= after.targets
    assert {pages[page.address] for page in useless} <= after.rejected
    assert len(after.edges) > len(before.edges)
    assert all(after.pages[pages[page.address]].terms for page in useful)


def test_the_last_mark_counts_and_can_be_taken_back(crawled: CrawlFolder) -> None:
    page = finds(crawled)[0].address
    targets = len(crawled.topic.load().model.graph.targets)
    for now, useful, expected in [(2e9, True, 1), (2.1e9, False, 0), (2.2e9, True, 1)]:
        mark_results(crawled, [page], useful, now)
        assert marks_of(crawled.topic) == {page: useful}
        graph = learned_again(crawled.topic).load().model.graph
        assert len(graph.targets) == targets + expected
    mark_results(crawled, [page], None, 2.3e9)
    assert marks_of(crawled.topic) == {}
    text = (crawled.topic.sessions_path / MARKS_FILE).read_text("utf-8")
    assert text.count('"html"') == text.count('"visit"'), "a page comes along once"


def test_no_mark_is_lost_when_several_programs_mark_at_once(crawled: CrawlFolder) -> None:
    topic, addresses = crawled.topic, [page.address for page in finds(crawled)[:4]]
    command = [sys.executable, "-m", "trailhound", "mark", topic.name, "--workspace"]
    folder = str(topic.path.parents[1])
    programs = [subprocess.Popen([*command, folder, address]) for address in addresses]
    assert [program.wait(120) for program in programs] == [0, 0, 0, 0]
    assert set(addresses) <= set(marks_of(topic))


def test_a_mark_that_is_taken_back_lets_that_of_the_session_count(crawled: CrawlFolder) -> None:
    graph = crawled.topic.load().model.graph
    own = {graph.pages[number].url for number in graph.targets}
    with Results(crawled.results) as results:
        page = next(each.address for each in results.since(0) if each.address in own)
    mark_results(crawled, [page], False, 2e9)
    assert len(learned_again(crawled.topic).load().model.graph.targets) == len(own) - 1
    assert [each.address for each in mark_results(crawled, [page], None, 2.1e9).pages] == [page]
    assert len(learned_again(crawled.topic).load().model.graph.targets) == len(own)
    assert mark_results(crawled, [page], None, 2.2e9).pages == (), "hers is not ours to clear"


def test_marks_carry_the_label_that_the_topic_was_learned_with(crawled: CrawlFolder) -> None:
    record = crawled.topic.path / "topic.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "label": "bees"}))
    mark_results(crawled, [finds(crawled)[0].address], True, 2e9)
    last = (crawled.topic.sessions_path / MARKS_FILE).read_text("utf-8").splitlines()[-1]
    assert json.loads(last)["label"] == "bees"


def test_what_cannot_be_marked_is_told_and_nothing_is_written(crawled: CrawlFolder) -> None:
    good = finds(crawled)[0].address
    with pytest.raises(UsageError, match="is unknown to the crawl"):
        mark_results(crawled, [good, "http://nowhere.demo.test/"], True, 2e9)
    with pytest.raises(UsageError, match="no web address"):
        mark_results(crawled, ["mailto:x"], True, 2e9)
    archive = crawled.archive.rename(crawled.archive.with_name("elsewhere"))
    with pytest.raises(UsageError, match=r"has no archive \(archive = false\)"):
        mark_results(crawled, [good], True, 2e9)
    crawled.archive.mkdir()
    with pytest.raises(UsageError, match="does not hold"):
        mark_results(crawled, [good], True, 2e9)
    crawled.archive.rmdir()
    archive.rename(crawled.archive)
    assert marks_of(crawled.topic) == {}


def test_no_mark_is_written_down_over_marks_of_other_sessions_alone(tmp_path: Path) -> None:
    topic = Workspace(tmp_path).folder_for("bees")
    topic.prepare()
    hive, gate = "http://bees.test/hive", "http://bees.test/gate"
    browsed = (Visit(1.0, gate), Visit(2.0, hive), Mark(3.0, hive, useful=True))
    write_session(Session("bees", browsed), topic.sessions_path / "monday.jsonl")
    for useful in (None, False, None):
        mark_visited(topic, gate, useful=useful, now=4.0)
        assert (MARKS_FILE in topic.session_names()) is (useful is not None)
    mark_visited(topic, hive, useful=None, now=5.0)
    assert marks_by_url(topic) == {}


def test_a_topic_without_a_crawl_says_so(web: DemoWeb, tmp_path: Path) -> None:
    folder = CrawlFolder(learn(web, topic_name(web), tmp_path))
    with pytest.raises(UsageError, match="has not been crawled yet"):
        folder.require()


@pytest.fixture
def workspace_folder(tmp_path: Path) -> Path:
    return tmp_path  # where ``crawled`` keeps its topic


def test_the_commands(crawled: CrawlFolder, trailhound: Command, tmp_path: Path) -> None:
    name = crawled.topic.name
    first, second, third = (page.address for page in finds(crawled)[:3])
    code, _, err = trailhound("mark", name, first)
    assert code == 0
    assert "1 page marked useful" in err
    assert f"trailhound learn {name}" in err
    listed = tmp_path / "urls.txt"
    listed.write_text(f"# not these\n{second}\n\n")
    code, out, _ = trailhound("mark", name, "--not-useful", "--from", str(listed), "--json")
    assert json.loads(out) == {"marked": [second], "useful": False, "pages_along": 0}
    shown = {
        page["address"]: page
        for page in json.loads(trailhound("results", name, "--known", "--json", "-n999")[1])
    }
    assert shown[first]["marked"] == "useful"
    assert second not in shown
    every = json.loads(trailhound("results", name, "--all", "--json", "-n999")[1])
    marked = {page["address"]: page["marked"] for page in every}
    assert (marked[first], marked[second]) == ("useful", "not useful")
    new = json.loads(trailhound("results", name, "--json", "-n999")[1])
    assert new == [page for page in shown.values() if not page["known"] and page["marked"] is None]
    assert shown[third]["marked"] is None
    assert f"{first}  (marked useful)" in trailhound("results", name, "--known", "-n", "999")[1]
    targets = len(crawled.topic.load().model.graph.targets)
    code, out, _ = trailhound("mark", name, third, "--learn", "--json")
    assert json.loads(out)[0]["targets"] == targets + 2
    for arguments, reason in [
        (["mark", name], "Name the pages to mark"),
        (["mark", name, "http://x.demo.test/"], "unknown to the crawl"),
        (["mark", "nothing", first], "Unknown topic"),
    ]:
        code, _, err = trailhound(*arguments)
        assert code == 2
        assert reason in err


RAISING = """
def judge(page):
    if "{word}" in page.url:
        raise RuntimeError("I do not like it")
    return True
"""


def tiny_site() -> TinySite:
    links = "".join(f'<a href="/{n}">page {n}</a>' for n in range(12))
    pages = {f"/{n}": Resource(f"<p>page {n} about hives</p>".encode()) for n in range(12)}
    return TinySite({"/": Resource(f"<p>{links}</p>".encode()), **pages})


@pytest.mark.parametrize("workers", [1, 2])
def test_a_judge_that_raises_costs_that_page_not_the_crawl(
    web: DemoWeb, tmp_path: Path, workers: int
) -> None:
    judge = tmp_path / "mine.py"
    judge.write_text(RAISING.format(word="/3"))
    with tiny_site() as tiny:
        site = Site(learn(web, topic_name(web), tmp_path / "w"), tiny.port, host="h.test")
        settings: dict[str, Any] = {"judge__kind": str(judge), "fetch__delay_seconds": 0.0}
        with site.begun(
            crawl__seeds=("http://h.test/",),
            crawl__workers=workers,
            fetch__allow_impolite=True,
            **settings,
        ) as crawl:
            events = {event.final_url: event for event in crawl.run()}
    broken = [url for url, event in events.items() if event.outcome is Outcome.BROKEN]
    assert broken == ["http://h.test/3"]
    assert events["http://h.test/3"].why == "the judge failed: RuntimeError: I do not like it"
    assert sum(event.outcome is Outcome.FETCHED for event in events.values()) == 12
    (notice,) = [text for text in site.notices if "could not be dealt with" in text]
    assert "http://h.test/3: the judge failed: RuntimeError: I do not like it" in notice
    assert "log.jsonl" in notice


def test_a_judge_that_always_raises_is_noticed_at_once(web: DemoWeb, tmp_path: Path) -> None:
    judge = tmp_path / "mine.py"
    judge.write_text(RAISING.format(word="h.test"))
    with tiny_site() as tiny:
        site = Site(learn(web, topic_name(web), tmp_path / "w"), tiny.port, host="h.test")
        with site.begun(crawl__seeds=("http://h.test/",), judge__kind=str(judge)) as crawl:
            (event,) = list(crawl.run())
    assert event.outcome is Outcome.BROKEN
    assert any("The first page could not be dealt with" in text for text in site.notices)


@pytest.mark.parametrize(
    ("kind", "threshold", "message"),
    [
        ("keywords:words=hive", 0.5, "has no threshold"),
        ("cosin", None, "Did you mean cosine"),
        ("missing.py", None, "no judge file"),
    ],
)
def test_a_wrong_judge_is_told_before_anything_is_fetched(
    web: DemoWeb, tmp_path: Path, kind: str, threshold: float | None, message: str
) -> None:
    with tiny_site() as tiny:
        site = Site(learn(web, topic_name(web), tmp_path), tiny.port, host="h.test")
        flags: dict[str, Any] = {"judge__kind": kind, "judge__threshold": threshold}
        with (
            pytest.raises(TrailhoundError, match=message),
            site.begun(crawl__seeds=("http://h.test/",), **flags),
        ):
            pass
        assert tiny.asked == []


def test_keywords_decide_what_a_crawl_keeps(web: DemoWeb, tmp_path: Path) -> None:
    with tiny_site() as tiny:
        site = Site(learn(web, topic_name(web), tmp_path), tiny.port, host="h.test")
        flags: dict[str, Any] = {"judge__kind": "keywords:words=hive", "fetch__delay_seconds": 0.0}
        with site.begun(
            crawl__seeds=("http://h.test/",), fetch__allow_impolite=True, **flags
        ) as crawl:
            events = list(crawl.run())
    verdicts = {e.final_url: e.relevance.relevant for e in events if e.relevance is not None}
    assert verdicts.pop("http://h.test/") is False
    assert len(verdicts) == 12
    assert all(verdicts.values())
