"""A crawl of a topic that nobody has taught anything: its judge alone says what is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from live_webs import Site

from command_line import Command
from trailhound.demo import DemoWeb
from trailhound.errors import SessionError, UsageError
from trailhound.storage.results_reading import Results
from trailhound.topics.finds.explaining import Explainer
from trailhound.topics.finds.opinions import Opinions
from trailhound.topics.workspace import Workspace

KEYWORDS = "keywords:words=research page news"
RULE = """
def judge(page):
    return "professor" in page.text.lower()
"""


@pytest.fixture
def untaught(tmp_path: Path, port: int) -> Site:
    topic = Workspace(tmp_path / "workspace").folder_for("wasps")
    topic.prepare()
    return Site(topic, port)


@pytest.mark.parametrize(
    "strategy",
    ["trail", "intelligent", "fish-search", "content-link:keywords=research news", "random"],
)
def test_words_are_enough(untaught: Site, web: DemoWeb, strategy: str) -> None:
    asked: dict[str, Any] = {"crawl__strategy": strategy, "judge__kind": KEYWORDS}
    with untaught.begun(crawl__seeds=web.start_urls, crawl__max_requests=25, **asked) as crawl:
        events = list(crawl.run())
    assert sum(event.requests for event in events) == 25
    assert any(event.relevance and event.relevance.relevant for event in events)
    assert "Nothing has been learned for the topic 'wasps'" in untaught.notices[0]
    with untaught.resumed(crawl__max_requests=30) as crawl:
        assert sum(event.requests for event in crawl.run()) == 5


def test_a_rule_in_a_file_is_enough_and_its_crawl_can_be_explained(
    untaught: Site, web: DemoWeb, tmp_path: Path
) -> None:
    rule = tmp_path / "professors.py"
    rule.write_text(RULE)
    asked: dict[str, Any] = {"crawl__strategy": "intelligent", "judge__kind": str(rule)}
    with untaught.begun(crawl__seeds=web.start_urls, crawl__max_requests=20, **asked) as crawl:
        events = list(crawl.run())
        folder = crawl.folder
    with Results(folder.results) as results:
        said = Opinions(folder, results)
        told = Explainer(folder, results, said.belief, said.reasons).explain(events[-1].url)
    assert told.number == 20


@pytest.mark.parametrize("judge", ["auto", "cosine", "contrast", "latent"])
def test_judges_that_compare_with_marked_pages_need_a_session(
    untaught: Site, web: DemoWeb, judge: str
) -> None:
    with (
        pytest.raises(UsageError, match="Nothing has been learned for the topic"),
        untaught.begun(crawl__seeds=web.start_urls, judge__kind=judge),
    ):
        pass
    assert not (untaught.topic.path / "crawl").exists()


@pytest.mark.parametrize("strategy", ["best-first", "shark-search", "hidden-markov"])
def test_strategies_that_live_on_marked_pages_refuse(
    untaught: Site, web: DemoWeb, strategy: str
) -> None:
    asked: dict[str, Any] = {"crawl__strategy": strategy, "judge__kind": KEYWORDS}
    with (
        pytest.raises(SessionError, match=r"marked useful|holds no page"),
        untaught.begun(crawl__seeds=web.start_urls, **asked),
    ):
        pass


def test_a_topic_that_was_never_taught_learns_from_its_marks(
    untaught: Site, web: DemoWeb, trailhound: Command
) -> None:
    place = ("--workspace", untaught.topic.path.parent.parent)
    asked: dict[str, Any] = {"crawl__strategy": "breadth-first", "judge__kind": KEYWORDS}
    with untaught.begun(crawl__seeds=web.start_urls, crawl__max_requests=25, **asked) as crawl:
        list(crawl.run())
    nothing = trailhound("inspect", "wasps", *place)
    assert nothing.code == 2
    assert "trailhound mark wasps URL --learn" in nothing.err
    with Results(crawl.folder.results) as results:
        first, second, *_ = (page.address for page in results.ranked())
    assert trailhound("mark", "wasps", first, *place).code == 0
    known = trailhound("inspect", "wasps", *place)
    assert (known.code, "trailhound learn wasps" in known.err) == (2, True)
    (learned,) = trailhound("mark", "wasps", second, "--learn", "--json", *place).report
    assert learned["targets"] == 2
    assert trailhound("inspect", "wasps", *place).code == 0
