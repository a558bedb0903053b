"""Live crawls that go by an access trace, over loopback."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_webs import Site, learn

from trailhound.cli.crawl_view import next_steps
from trailhound.crawling.budget import StopReason
from trailhound.demo import DemoWeb
from trailhound.demo.web import write_access_log
from trailhound.errors import SourceError, UsageError
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import TRACES
from trailhound.topics.finds.opinions import strategy_of
from trailhound.topics.upkeep.forgetting import forget_pages, one_host
from trailhound.topics.workspace import TopicFolder, Workspace

COLLABORATIVE = "collaborative:min_pages=20"
HURRIED: dict[str, Any] = {"fetch__delay_seconds": 0.0, "fetch__allow_impolite": True}
"""It is our own server."""


@pytest.fixture
def topic(web: DemoWeb, topic_name: str, tmp_path: Path) -> TopicFolder:
    return learn(web, topic_name, tmp_path / "workspace")


@pytest.fixture
def log(web: DemoWeb, topic_name: str, tmp_path: Path) -> Path:
    """A proxy's log: of twenty people, four read about the topic; two lines are damaged."""
    rng = np.random.default_rng(5)
    of_topic = sorted(web.topics[topic_name])
    others = sorted(url for name in web.topics for url in web.topics[name] - set(of_topic))
    lines = ["1772366400.000 half a line\n", "\n", "garbage\n"]
    for user in range(20):
        pages = rng.choice(of_topic if user % 5 == 0 else others, 12)
        lines += [
            f"{1772366400 + 1000 * user + 60 * at}.000     90 10.0.0.{user} TCP_MISS/200 4000 GET "
            f"{page} - HIER_DIRECT/192.0.2.1 text/html\n"
            for at, page in enumerate(pages)
        ]
    path = tmp_path / "access.log"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_a_crawl_that_its_trace_starves_is_told_how_to_go_beyond_it(
    demo: Site, web: DemoWeb, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere.log"
    elsewhere.write_text(
        "".join(
            f"{1772366400 + n}.000 90 10.0.0.{n % 3} TCP_MISS/200 4000 GET http://far.test/{n} - "
            "HIER_DIRECT/192.0.2.1 text/html\n"
            for n in range(30)
        )
    )
    seeds = web.start_urls[:1]
    settings = {"sources__trace": str(elsewhere), "crawl__scope": ("*.demo.test",), **HURRIED}
    with demo.begun(crawl__seeds=seeds, crawl__strategy=COLLABORATIVE, **settings) as crawl:
        list(crawl.run())
        assert crawl.stop_reason is StopReason.FRONTIER_EMPTY
        said = " ".join(next_steps(crawl))
    assert f"its trace ({elsewhere})" in said
    assert "--strategy collaborative:min_pages=20,links=true" in said
    further = f"{COLLABORATIVE},links=true"
    with demo.begun(restart=True, crawl__seeds=seeds, crawl__strategy=further, **settings) as crawl:
        list(crawl.run())
        said = " ".join(next_steps(crawl))
    assert "links=true" not in said
    assert "--seed URL" in said


def test_a_crawl_starts_from_a_log_alone_and_goes_on(
    demo: Site, log: Path, web: DemoWeb, topic_name: str
) -> None:
    settings = {"crawl__strategy": COLLABORATIVE, "sources__trace": str(log), **HURRIED}
    with demo.begun(**settings, crawl__max_requests=10) as crawl:
        events = list(crawl.run())
        assert crawl.stop_reason is StopReason.REQUESTS_SPENT
    assert crawl.folder.strategy.is_file()
    (told,) = [notice for notice in demo.notices if "The trace" in notice]
    assert "240 visits by 20 people" in told
    assert "Left out: 2 not a line of this format" in told
    demo.notices.clear()
    with demo.resumed(crawl__max_requests=50) as crawl:
        events += list(crawl.run())
    assert not any("trace" in notice or "learns anew" in notice for notice in demo.notices)
    assert len({event.url for event in events}) == len(events)
    with Results(crawl.folder.results) as results:
        found = {each.address for each in results.ranked(only_new=True)}
    assert len(found & web.topics[topic_name]) >= 2
    (index,) = (demo.topic.path / TRACES).iterdir()
    stored = b"".join(path.read_bytes() for path in index.iterdir())
    assert b"10.0.0." not in stored, "who it was is not kept"


def test_the_access_log_of_the_demo_web_leads_a_crawl(
    demo: Site, web: DemoWeb, topic_name: str, tmp_path: Path
) -> None:
    log = write_access_log(web, tmp_path)
    settings = {"crawl__strategy": COLLABORATIVE, "sources__trace": str(log), **HURRIED}
    with demo.begun(**settings, crawl__max_requests=30) as crawl:
        events = list(crawl.run())
    assert len({event.url for event in events} & web.topics[topic_name]) >= 3


def test_trail_goes_by_links_and_by_the_trace_that_is_named(
    demo: Site, web: DemoWeb, topic_name: str, tmp_path: Path
) -> None:
    log = write_access_log(web, tmp_path)
    settings = {"crawl__seeds": web.start_urls[:1], "sources__trace": str(log), **HURRIED}
    with demo.begun(crawl__strategy="trail", crawl__max_requests=30, **settings) as crawl:
        events = list(crawl.run())
    with demo.resumed(crawl__max_requests=60) as crawl:
        events += list(crawl.run())
    assert not any("does not use --trace" in notice for notice in demo.notices)
    assert not any("learns anew" in notice for notice in demo.notices)
    found = [event for event in events if event.url in web.topics[topic_name]]
    assert len(found) >= 3
    assert len({event.url for event in events}) == len(events)


def test_a_crawl_is_looked_at_without_its_trace(
    demo: Site, log: Path, web: DemoWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(log.parent)
    settings = {"crawl__seeds": web.start_urls[:1], "sources__trace": log.name, **HURRIED}
    with demo.begun(crawl__strategy="trail", crawl__max_requests=5, **settings) as crawl:
        list(crawl.run())
    record = crawl.folder.read()
    assert record.settings.sources.trace == str(log), "a crawl is resumed from anywhere"
    log.unlink()
    shutil.rmtree(demo.topic.path / TRACES)
    assert strategy_of(crawl.folder, record.settings) is not None
    assert not (demo.topic.path / TRACES).exists()


def test_a_trace_of_elsewhere_is_told_of_in_the_strategys_own_terms(
    demo: Site, web: DemoWeb, tmp_path: Path
) -> None:
    far = tmp_path / "far.log"
    far.write_text(
        "1772366400.000 90 10.0.0.1 TCP_MISS/200 4000 GET http://far.test/ - "
        "HIER_DIRECT/192.0.2.1 text/html\n"
    )
    settings = {"crawl__seeds": web.start_urls[:1], "sources__trace": str(far), **HURRIED}
    with demo.begun(crawl__strategy="trail", crawl__max_requests=1, **settings) as crawl:
        list(crawl.run())
    (told,) = [notice for notice in demo.notices if "Nobody in the trace" in notice]
    assert "may learn nothing from it" in told
    assert "random pages" not in told


def test_seeds_and_links_join_in(demo: Site, log: Path, web: DemoWeb) -> None:
    with demo.begun(
        crawl__strategy=f"{COLLABORATIVE},links=true",
        crawl__seeds=web.start_urls[:1],
        crawl__max_requests=20,
        sources__trace=str(log),
        **HURRIED,
    ) as crawl:
        events = list(crawl.run())
    assert events[0].url == web.start_urls[0]
    assert not any("covers nothing" in notice for notice in demo.notices)


def test_the_sessions_of_a_topic_are_a_trace_whatever_the_current_folder_holds(
    demo: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sessions").mkdir()
    strategy = "collaborative:session=false"
    settings = {"crawl__strategy": strategy, "sources__trace": "sessions", **HURRIED}
    with demo.begun(**settings, crawl__max_requests=10) as crawl:
        events = list(crawl.run())
    known = {page.url for page in demo.topic.load().model.graph.pages}
    assert {event.url for event in events} <= known


def test_without_a_trace_nothing_begins(demo: Site, tmp_path: Path, web: DemoWeb) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear all,\n")
    seeds = web.start_urls[:1]
    for trace, error, message in (
        ("", UsageError, "--trace FILE"),
        (str(tmp_path / "none.log"), UsageError, "no trace"),
        (str(letter), SourceError, "is no access log"),
        (str(tmp_path), SourceError, "is no index of a trace"),
    ):
        with (
            pytest.raises(error, match=message),
            demo.begun(crawl__strategy="collaborative", crawl__seeds=seeds, sources__trace=trace),
        ):
            pass
    assert not (demo.topic.path / "crawl").exists()


def test_seeds_come_from_the_session_unless_the_strategy_finds_pages_in_the_trace(
    demo: Site, log: Path
) -> None:
    with demo.begun(crawl__strategy="best-first", sources__trace=str(log)):
        pass
    assert any("No seed was named" in notice for notice in demo.notices)
    with (
        pytest.raises(UsageError, match="--same-domain"),
        demo.begun(
            crawl__strategy="collaborative", sources__trace=str(log), crawl__same_domain=True
        ),
    ):
        pass


def test_a_trace_of_another_web_is_noticed(demo: Site, log: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.log"
    other.write_text(log.read_text("utf-8").replace("demo.test", "elsewhere.test"), "utf-8")
    with demo.begun(
        crawl__strategy="collaborative",
        crawl__seeds=["http://www.demo.test/"],
        crawl__scope=["*.demo.test"],
        crawl__max_requests=5,
        sources__trace=str(other),
    ) as crawl:
        events = list(crawl.run())
    assert [event.url for event in events] == ["http://www.demo.test/"]
    assert any(
        "covers nothing of where this crawl may go" in notice and "another strategy" in notice
        for notice in demo.notices
    )


def test_forgetting_pages_forgets_the_indices(demo: Site, log: Path, tmp_path: Path) -> None:
    settings = {"crawl__strategy": COLLABORATIVE, "sources__trace": str(log), **HURRIED}
    with demo.begun(**settings, crawl__max_requests=1) as crawl:
        list(crawl.run())
    assert (demo.topic.path / TRACES).is_dir()
    workspace = Workspace(tmp_path / "workspace")
    forget_pages(workspace, demo.topic.name, one_host("nowhere.test"), dry_run=True)
    assert (demo.topic.path / TRACES).is_dir()
    report = forget_pages(workspace, demo.topic.name, one_host("nowhere.test"))
    assert report.removed["indices of access traces"] == 1
    assert not (demo.topic.path / TRACES).exists()
