from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import pytest

from trailhound import judges, strategies
from trailhound.errors import TrailhoundError, UsageError
from trailhound.plugins import JUDGE, SINK, Catalogue, absolute
from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.strategies.choosing import (
    check_live_spec,
    check_spec,
    describe_strategy,
    live_strategy_names,
    make_strategy,
    parse_spec,
    strategy_names,
)

GRAPH = PageGraph(
    pages=(
        Page("http://h.test/a", terms={"bee": 2, "hive": 1}),
        Page("http://h.test/b", terms={"car": 2}),
    ),
    edges=((1, 0),),
    targets=frozenset({0}),
)


def test_every_registered_strategy_describes_itself() -> None:
    assert len(strategy_names()) >= 5
    for name in strategy_names():
        info = describe_strategy(name)
        assert info.name == name
        assert info.summary


def test_a_spec_carries_typed_options() -> None:
    assert parse_spec("shark-search:decay=0.3, anchor-weight=1") == (
        "shark-search",
        {"decay": "0.3", "anchor_weight": "1"},
    )
    check_spec("shark-search:decay=0.3")
    assert make_strategy("shark-search:decay=0.25", Briefing(GRAPH)).name == "shark-search"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("best-frist", "Unknown strategy 'best-frist'. Did you mean best-first"),
        (
            "shark-search:decai=1",
            "Strategy 'shark-search' has no option 'decai'. Did you mean decay? It has: decay,",
        ),
        ("best-first:foo=1", "Strategy 'best-first' has no option 'foo'. It has: back_crawl"),
        ("best-first:foo=1", "('trailhound strategies' lists them with their defaults.)"),
        ("oracle:foo=1", "Strategy 'oracle' has no option 'foo'. It has no options."),
        ("shark-search:decay=much", "option decay is 'much', but it should be a number"),
        ("shark-search:decay", "'decay' is not option=value"),
    ],
)
def test_a_wrong_spec_says_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_spec(spec)
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


def test_the_oracle_refuses_to_work_without_ground_truth() -> None:
    with pytest.raises(UsageError, match="only the lab has"):
        make_strategy("oracle", Briefing(GRAPH))


def test_live_crawls_are_offered_only_what_works_there() -> None:
    assert set(strategy_names()) - set(live_strategy_names()) == {"oracle"}
    check_live_spec("best-first")
    check_live_spec(str(EXAMPLE))
    with pytest.raises(UsageError, match=r"Unknown strategy 'nonsense'.*best-first") as unknown:
        check_live_spec("nonsense")
    assert "oracle" not in str(unknown.value)
    with pytest.raises(UsageError, match=r"'oracle' is for the lab only.*best-first"):
        check_live_spec("oracle")
    with pytest.raises(UsageError, match=r"Unknown strategy 'nonsense'.*See 'trailhound strat"):
        check_spec("nonsense")


EXAMPLE = Path(__file__).parents[2] / "examples" / "short_urls.py"


def test_a_strategy_can_be_a_file_of_its_own() -> None:
    strategy = make_strategy(f"{EXAMPLE}:exponent=2", Briefing(GRAPH))
    links = (Link("http://h.test/"), Link("http://h.test/longer"))
    page = CrawledPage(
        Page("http://h.test/p", links=links), Relevance(0.0, False), Candidate("http://h.test/p", 0)
    )
    short, long = strategy.score_links(page)
    assert short.priority == pytest.approx(14**-2)
    assert short.priority > long.priority


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no strategy file"),
        ("class Nothing: pass", "should define one strategy, a class with"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_strategy_file_that_cannot_be_used_says_why(
    tmp_path: Path, content: str | None, message: str
) -> None:
    path = tmp_path / "mine.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(TrailhoundError, match=message):
        check_spec(str(path))


@pytest.mark.parametrize("package", [strategies, judges])
def test_all_parts_are_names_of_their_package(package: ModuleType) -> None:
    registered = entry_points(group=f"trailhound.{package.__name__.rpartition('.')[2]}")
    own = [entry for entry in registered if entry.value.startswith("trailhound.")]
    assert len(own) >= 5
    for entry in own:
        assert getattr(package, entry.attr) is entry.load()
    for name in package.__all__:
        assert getattr(package, name).__name__ == name


def test_paths_in_options_are_the_same_in_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = absolute("jsonl:path=a\\,b.jsonl", SINK)
    assert spec == f"jsonl:path={tmp_path}/a\\,b.jsonl"
    assert absolute(spec, SINK) == spec
    assert absolute("jsonl", SINK) == "jsonl"
    assert absolute("nothing:path=x", SINK) == "nothing:path=x", "told when it is to be opened"
    for words in ("hive", "setup.py", "a.py:b"):
        assert absolute(f"keywords:words={words}", JUDGE) == f"keywords:words={words}"
        assert Catalogue(JUDGE).parse(f"keywords:words={words}") == ("keywords", {"words": words})
    for path in ("mine.py", "C:\\a\\mine.py", "C:/mine.py", "./a:b/mine.py"):
        assert Catalogue(JUDGE).parse(f"{path}:words=x.py") == (path, {"words": "x.py"})


def test_a_file_that_was_edited_is_run_again(tmp_path: Path) -> None:
    source = EXAMPLE.read_text("utf-8")
    path = tmp_path / "mine.py"
    for summary in ("short URLs first", "short URLs FIRST"):  # in one second, of one size
        path.write_text(source.replace("short URLs first", summary), "utf-8")
        assert describe_strategy(str(path)).summary == summary
    path.unlink()
    with pytest.raises(UsageError, match="There is no strategy file"):
        describe_strategy(str(path))
