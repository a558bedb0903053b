"""Judges by name, by options and by file."""

from __future__ import annotations

import pickle
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from trailhound.errors import ConfigError, SessionError, TrailhoundError, UsageError
from trailhound.judges import choosing
from trailhound.judges.calibration import calibrate_judges
from trailhound.judges.choosing import (
    best_ranked,
    check_judge,
    chosen_judge,
    describe_judge,
    judge_names,
    make_judge,
    suiting_judges,
)
from trailhound.judges.rules import PredicateJudge, as_relevance
from trailhound.models.topic_model import learn_topic
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.text.tokens import count_terms

ROOT = Path(__file__).parents[2]


def graph(n_targets: int = 2) -> PageGraph:
    """Pages about bees, marked, and pages about cars, not marked."""
    pages = (
        Page("http://h.test/a", terms={"bee": 3, "hive": 2}),
        Page("http://h.test/b", terms={"bee": 2, "honey": 2}),
        Page("http://h.test/c", terms={"car": 3, "road": 1}),
        Page("http://h.test/d", terms={"car": 2, "engin": 2}),
    )
    return PageGraph(pages, ((2, 0), (3, 1)), frozenset(range(n_targets)))


TITLE, TEXT = "Honey Bees", "All honey bees live in hives. E-mail us about C++ and 蜜蜂养殖."
BEES = Page(
    "http://h.test/hives/1?x=2",
    title=TITLE,
    text=TEXT,
    language="en",
    terms=count_terms(f"{TITLE}\n{TEXT}", "en"),
)
CARS = Page("http://h.test/cars", title="Cars", text="A car.", language="en", terms={"car": 2})
BRIEFING = Briefing(graph())


def relevant(spec: str, page: Page = BEES) -> bool:
    return make_judge(spec, BRIEFING).judge(page).relevant


def test_every_judge_says_what_it_is() -> None:
    assert set(judge_names()) >= {"cosine", "latent", "contrast", "keywords", "regex"}
    for name in judge_names():
        assert describe_judge(name).summary
    assert describe_judge("keywords").options == {"words": "required", "least": "any"}
    assert describe_judge("contrast").options == {"threshold": "calibrated"}


def test_every_judge_and_option_is_documented() -> None:
    text = (ROOT / "docs" / "judges.md").read_text("utf-8")
    for name in judge_names():
        assert f"`{name}`" in text
        for option in describe_judge(name).options:
            assert f"`{option}" in text, f"option {option} of {name}"


@pytest.mark.parametrize("name", ["cosine", "latent", "contrast", "fields", "auto"])
def test_judges_that_learn_tell_bees_from_cars(name: str) -> None:
    assert relevant(name, Page("x", terms={"bee": 2, "hive": 1, "honey": 1}))
    assert not relevant(name, Page("x", terms={"car": 2, "road": 1}))


def test_auto_is_fields_where_there_is_something_to_tell_from() -> None:
    assert chosen_judge("auto", graph()) == "fields"
    assert chosen_judge("auto", graph(4)) == "cosine"
    assert chosen_judge("auto:threshold=0.3", graph()) == "fields:threshold=0.3"
    assert chosen_judge("latent", graph()) == "latent"
    assert make_judge("auto", Briefing(graph(4))).judge(BEES).relevant
    with pytest.raises(SessionError, match="or use the judge 'cosine'"):
        make_judge("contrast", Briefing(graph(4)))


class Brilliant:
    """Somebody else's judge: better than any, for sessions with two targets."""

    name = "brilliant"
    summary = "knows"
    rank = 0.99

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> PredicateJudge:
        return PredicateJudge(lambda page: page is BEES)

    @classmethod
    def suits(cls, graph: PageGraph) -> bool:
        if len(graph.targets) == 3:
            raise ZeroDivisionError
        return len(graph.targets) == 2


def test_judges_of_other_packages_take_part_in_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("brilliant", f"{__name__}:Brilliant", "trailhound.judges")
    monkeypatch.setitem(choosing._catalogue._entries, "brilliant", entry)
    assert list(suiting_judges(graph())) == ["brilliant", "fields", "contrast", "cosine", "latent"]
    assert chosen_judge("auto", graph(2)) == "brilliant"
    assert chosen_judge("auto", graph(1)) == "fields"
    assert chosen_judge("auto", graph(3)) == "fields"  # it failed, and is passed over
    assert best_ranked(["latent", "brilliant", "no longer installed"]) == "brilliant"
    # Without left-out scores there is nothing to calibrate.
    known = ["fields", "contrast", "cosine", "latent"]
    assert list(calibrate_judges(learn_topic(graph()))) == known


def test_without_marks_auto_says_what_is_missing() -> None:
    with pytest.raises(SessionError, match=r"No page is marked useful.*such as keywords"):
        chosen_judge("auto", graph(0))


@pytest.mark.parametrize("name", ["cosine", "latent", "contrast", "fields"])
def test_where_a_threshold_comes_from(name: str) -> None:
    def threshold(spec: str, **known: Any) -> object:
        return vars(make_judge(spec, BRIEFING, **known))["threshold"]

    own = threshold(name)
    assert threshold(name, calibrated={name: 0.25, "other": 0.9}) == 0.25
    assert threshold(name, calibrated={"other": 0.9}) == own
    assert threshold(name, threshold=0.75, calibrated={name: 0.25}) == 0.75
    assert threshold(f"{name}:threshold=0.5", threshold=0.75, calibrated={name: 0.25}) == 0.5


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("hive", 1),
        ("hives HONEY", 2),
        ("honey wasp", 1),
        ('"honey bees"', 1),
        ('"bees honey"', 0),
        ('"in hives" wasp', 1),
        ('"n hives"', 0),
        ("all", 1),  # a stop word: looked for in the text
        ("ll", 0),
        ("e-mail C++", 2),
        ("蜜蜂", 1),
        ("蜂", 1),
        ("wasp", 0),
    ],
)
def test_words_are_found_in_all_their_forms_and_phrases_as_written(words: str, found: int) -> None:
    relevance = make_judge(f"keywords:words={words}", BRIEFING).judge(BEES)
    n_words = words.count('"') // 2 + len([w for w in words.split('"')[::2] for w in w.split()])
    assert relevance.score == found / n_words
    assert relevance.relevant == (found >= 1)


def test_how_many_words_are_enough() -> None:
    assert relevant("keywords:words=honey wasp")
    assert relevant("keywords:words=honey wasp bee,least=2")
    assert not relevant("keywords:words=honey wasp,least=2")
    assert not relevant("keywords:words=honey wasp,least=all")
    assert relevant("keywords:words=honey bees,least=all")
    assert relevant("keywords:words=honey,least=any")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("regex:pattern=hon[ea]y", True),
        ("regex:pattern=Hon[ea]y,ignore_case=false", True),
        ("regex:pattern=honey Bees,ignore_case=false", False),
        ("regex:pattern=/hives/\\d,parts=url", True),
        ("regex:pattern=/hives/\\d,parts=title text", False),
        (r"regex:pattern=e{2\,3}s", True),
        ("regex:pattern=^Honey Bees$,parts=title", True),
        ("regex:pattern=wasp", False),
    ],
)
def test_patterns_are_looked_for_in_the_parts_asked_for(spec: str, expected: bool) -> None:
    assert relevant(spec) is expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cosin", "Unknown judge 'cosin'. Did you mean cosine"),
        ("keywords", "needs the option words: write keywords:words=…"),
        ("keywords:words=", "cannot ask for 1 of 0 words"),
        ("keywords:words=a b,least=3", "cannot ask for 3 of 2 words"),
        ("keywords:words=a b,least=0", "cannot ask for 0 of 2 words"),
        ("keywords:words=a b,least=most", "should be a number, any or all"),
        ("keywords:words=a b,lest=1", "Did you mean least"),
        ("regex:pattern=(", "cannot use the pattern '('"),
        ("regex:pattern=a,parts=body", "cannot look into 'body'"),
        ("contrast:threshold=high", "should be a number"),
    ],
)
def test_a_wrong_judge_says_what_is_wrong(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_judge(spec, BRIEFING)
    assert message in str(caught.value)


def test_names_can_be_checked_without_sessions() -> None:
    for spec in ("auto", "auto:threshold=0.5", "contrast", "keywords:words=x"):
        check_judge(spec)
    for spec in ("auto:words=x", "oracle", "nowhere.py"):
        with pytest.raises(UsageError):
            check_judge(spec)


def test_a_threshold_for_a_judge_that_has_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="'regex' has no threshold"):
        make_judge("regex:pattern=a", BRIEFING, threshold=0.5)


FUNCTION = """
from trailhound.records import Page

def judge(page: Page) -> float:
    return min(1.0, page.terms.get("bee", 0) / 4)
"""
CLASS = """
from trailhound.records import Page, Relevance

class Mentions:
    name = "mentions"
    summary = "counts a word"

    def __init__(self, word, times):
        self.word, self.times = word, times

    @classmethod
    def from_briefing(cls, briefing, *, times: int = 1):
        word = max(briefing.graph.pages[0].terms, key=briefing.graph.pages[0].terms.get)
        return cls(word, times)

    def judge(self, page):
        return page.terms.get(self.word, 0) >= self.times
"""


def test_a_function_in_a_file_is_a_judge(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FUNCTION)
    judge = make_judge(str(path), BRIEFING)
    assert (judge.judge(BEES).score, judge.judge(BEES).relevant) == (0.5, True)
    assert not judge.judge(CARS).relevant
    assert not relevant(f"{path}:threshold=0.75")
    assert not make_judge(str(path), BRIEFING, threshold=0.75).judge(BEES).relevant


def test_a_class_in_a_file_is_a_judge_with_options(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CLASS)
    assert relevant(str(path))
    assert not relevant(f"{path}:times=3")
    with pytest.raises(UsageError, match="should be a whole number"):
        make_judge(f"{path}:times=x", BRIEFING)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no judge file"),
        ("x = 1", r"should define a function judge\(page\)"),
        (FUNCTION + CLASS, "1 such class and a function"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_judge_file_that_cannot_be_used_says_why(
    tmp_path: Path, content: str | None, message: str
) -> None:
    path = tmp_path / "mine.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(TrailhoundError, match=message):
        make_judge(str(path), BRIEFING)


@pytest.mark.parametrize(
    "spec",
    [
        *("cosine", "latent", "contrast", "fields", "regex:pattern=bee"),
        'keywords:words=honey "bees live",least=2',
        *("function.py:threshold=0.25", "class.py:times=2"),
    ],
)
def test_judges_travel_to_worker_processes(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "function.py").write_text(FUNCTION)
    (tmp_path / "class.py").write_text(CLASS)
    monkeypatch.chdir(tmp_path)
    judge = make_judge(spec, BRIEFING)
    before = [judge.judge(page) for page in (BEES, CARS)]
    travelled = pickle.loads(pickle.dumps(judge))
    assert [travelled.judge(page) for page in (BEES, CARS)] == before
    assert before[0].relevant
    assert not before[1].relevant


def test_what_a_function_may_answer() -> None:
    assert as_relevance(True) == as_relevance(1.0)
    assert as_relevance(0.25, 0.25).relevant
    assert not as_relevance(0).relevant
    nonsense: list[Any] = [None, "yes", 1.5, -0.1, float("nan")]
    for verdict in nonsense:
        with pytest.raises(ValueError, match="True, False or a score from 0 to 1"):
            as_relevance(verdict)
    assert PredicateJudge(lambda page: len(page.title) > 5).judge(BEES).relevant


def test_the_example_in_the_documentation_works() -> None:
    path = ROOT / "examples" / "long_reads.py"
    judge = make_judge(str(path), BRIEFING)
    long = Page("http://h.test/long", text="hive " * 500, terms={"hive": 500})
    assert judge.judge(long).relevant
    assert not judge.judge(BEES).relevant
    function = path.read_text("utf-8").partition("def judge")[2]
    assert function in (ROOT / "docs" / "judges.md").read_text("utf-8")
