"""What is told of pages that the strategy named: by links of the session, or by its own lights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from live_webs import Resource, Site, TinySite

from command_line import Command
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.storage.results_reading import Results
from trailhound.strategies.base import FoundLink, Reason
from trailhound.strategies.trail.strategy import TrailStrategy
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.finds.explaining import FORGOTTEN, Explainer, Explanation
from trailhound.topics.finds.opinions import Opinions
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.workspace import Workspace

HOST = "http://bees.test"
FRONT, TAX, NEW = f"{HOST}/", f"{HOST}/tax", f"{HOST}/new"
BEES = "Bees make honey in their hives and dance about nectar and pollen in summer. " * 5
TAXES = "Tax returns, football scores, the weather of the day and a lottery. " * 5
HURRIED: dict[str, Any] = {
    "crawl__concurrency": 1,
    "judge__kind": "keywords:words=honey",
    "fetch__delay_seconds": 0.0,
    "fetch__allow_impolite": True,
}


def page(title: str, words: str, *links: str) -> str:
    anchors = " ".join(f"<a href={link}>honey of {link[1:]}</a>" for link in links)
    return f"<html lang=en><title>{title}</title><p>{words}</p>{anchors}</html>"


BROWSED = {
    FRONT: page("Front", TAXES, "/hive", "/swarm", "/tax", "/new"),
    f"{HOST}/hive": page("Hive", BEES),
    f"{HOST}/swarm": page("Swarm", BEES),
    TAX: page("Taxes", TAXES),
}
NOW = {
    "/": page("Another front", TAXES, "/late"),
    "/hive": page("Hive", BEES),
    "/swarm": page("Swarm", BEES),
    "/tax": page("Taxes", TAXES, "/"),
    "/new": page("New", f"News. {BEES}", "/behind"),
    "/behind": page("Behind", f"Behind it. {BEES}"),
    "/late": page("Late", f"Late. {TAXES}"),
}
"""The front page does not link to the new one any more."""


def browsed() -> Session:
    hive, swarm = f"{HOST}/hive", f"{HOST}/swarm"
    visits = [
        Visit(float(time), url, html=html, from_url=None if url == FRONT else FRONT)
        for time, (url, html) in enumerate(BROWSED.items())
    ]
    return Session("bees", (*visits, Mark(10.0, hive), Mark(11.0, swarm)))


@pytest.fixture
def site(workspace_folder: Path) -> Iterator[Site]:
    """The web as it is now, and a topic learned from what it was."""
    workspace = Workspace(workspace_folder)
    learn_into(workspace, LearningRequest("bees", [browsed()]))
    with TinySite({path: Resource(html.encode()) for path, html in NOW.items()}) as web:
        yield Site(workspace.topic("bees"), web.port, "*.test")


def crawled(site: Site, **more: Any) -> CrawlFolder:
    asked = {"crawl__strategy": "trail", "crawl__seeds": (TAX,), **HURRIED, **more}
    with site.begun(**asked) as crawl:
        list(crawl.run())
    return crawl.folder


def told(folder: CrawlFolder, url: str) -> Explanation:
    with Results(folder.results) as results:
        said = Opinions(folder, results)
        return Explainer(folder, results, said.belief, said.reasons, said.words).explain(url)


def test_a_link_that_the_session_has_shown_is_told_so_though_its_page_is_fetched_later(
    site: Site, trailhound: Command
) -> None:
    folder = crawled(site)
    front, new, behind = (told(folder, url) for url in (FRONT, NEW, f"{HOST}/behind"))
    assert front.number is not None
    assert new.number is not None
    assert front.number > new.number, "the crawl did not come to the new page by it"
    assert new.priority is not None
    assert (
        f"It was known beforehand, with priority {new.priority:g}: {FRONT}, a page of your "
        "sessions, links there."
    ) in new.details
    assert new.path == [FRONT, NEW]
    assert behind.path == [FRONT, NEW, behind.url]
    assert any(f"found on {NEW}, 1 link from where the crawl" in each for each in behind.details)
    shown = trailhound("explain", "bees", NEW).out
    assert f"The path to it:\n    0  {FRONT}\n    1  {NEW}\n" in shown
    assert "seed" not in shown


def test_a_link_that_waits_since_the_beginning_is_told_so(site: Site, trailhound: Command) -> None:
    folder = crawled(site, crawl__max_requests=1)
    new = told(folder, NEW)
    assert new.verdict == "waiting"
    assert any(f"{FRONT}, a page of your sessions, links there" in each for each in new.details)
    assert new.path == [FRONT, NEW]
    assert trailhound("forget", "bees", "--url", FRONT).code == 0
    new = told(folder, NEW)
    assert any(
        each.startswith("It was named by the strategy, with priority")
        and each.endswith(": a page that was forgotten links there.")
        for each in new.details
    )
    assert new.path == [FORGOTTEN, NEW]


def test_its_reasons_are_those_of_the_page_that_the_session_saw(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = crawled(site)
    words = {reason.words for reason in told(folder, NEW).reasons}
    assert "anchor 'honey'" in words
    assert not any("people opened" in each for each in words), "there was no trace"
    heard: list[FoundLink] = []

    def hear(_: TrailStrategy, found: FoundLink) -> Sequence[Reason]:
        heard.append(found)
        return ()

    monkeypatch.setattr(TrailStrategy, "reasons", hear)
    for url in (NEW, f"{HOST}/behind", f"{HOST}/late"):
        told(folder, url)
    new, behind, late = heard
    graph = folder.topic.load().model.graph
    assert new.page == next(page for page in graph.pages if page.url == FRONT)
    assert new.outcomes == {}
    assert behind.page is not None
    assert behind.page.title == "New"
    assert behind.outcomes[NEW]
    assert FRONT not in behind.outcomes, "it was fetched later"
    assert late.page is not None
    assert late.page.title == "Another front"
    assert FRONT in late.outcomes


NAMING = f"""
from trailhound import Candidate, ScoredLink
from trailhound.strategies.base import Reason

class Naming:
    name, summary, paper = "naming", "names pages", ""

    @classmethod
    def from_briefing(cls, briefing):
        return cls()

    def entrances(self, in_scope):
        yield Candidate("{HOST}/hive", 0.75)
        yield Candidate("{NEW}", 0.5, parent="http://catalogue.test/")
        yield Candidate("{HOST}/swarm", 0.125, parent="{FRONT}")

    def score_links(self, crawled):
        return [ScoredLink(link, 0.25) for link in crawled.page.links]

    def observe(self, crawled):
        pass

    def reasons(self, found):
        return [Reason(f"{{found.page and found.page.title}}, {{len(found.outcomes)}} fetched")]
"""


def test_what_a_strategy_of_ones_own_names_is_told_so(site: Site, tmp_path: Path) -> None:
    plugin = tmp_path / "naming.py"
    plugin.write_text(NAMING)
    folder = crawled(site, crawl__strategy=str(plugin))
    hive, new, tax = (told(folder, url) for url in (f"{HOST}/hive", NEW, TAX))
    assert "It was named by the strategy, with priority 0.75." in hive.details
    assert hive.path == [hive.url]
    assert (
        "It was named by the strategy, with priority 0.5: http://catalogue.test/ links there."
    ) in new.details
    assert new.path == ["http://catalogue.test/", NEW]
    assert [reason.words for reason in new.reasons] == ["None, 0 fetched"]
    assert "It is a seed." in tax.details


def test_what_it_names_is_not_told_as_found_on_a_page_that_was_fetched_since(
    site: Site, tmp_path: Path
) -> None:
    plugin = tmp_path / "naming.py"
    plugin.write_text(NAMING)
    folder = crawled(site, crawl__strategy=str(plugin), crawl__max_requests=4)
    front, swarm = told(folder, FRONT), told(folder, f"{HOST}/swarm")
    assert (front.path, swarm.verdict) == ([TAX, FRONT], "waiting")
    assert (
        f"It was known beforehand, with priority 0.125: {FRONT}, a page of your sessions, "
        "links there."
    ) in swarm.details
    assert swarm.path == [FRONT, swarm.url]
    assert [reason.words for reason in swarm.reasons] == ["Front, 0 fetched"]


def test_a_topic_that_is_gone_leaves_the_story_true(site: Site) -> None:
    folder = crawled(site)
    (folder.topic.model_path / "model.json").unlink()
    new = told(folder, NEW)
    assert not any("people opened" in reason.words for reason in new.reasons)
    assert any(
        each.startswith("It was named by the strategy, with priority")
        and each.endswith(f"{FRONT} links there.")
        for each in new.details
    )
