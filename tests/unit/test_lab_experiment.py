"""Whole experiments on a tiny recorded web."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from tiny_lab_web import N_LEAVES, ONE_BY_ONE, TOPICS, leaf_url, write_tiny_web

from trailhound.errors import ConfigError, StorageError, TrailhoundError, UsageError
from trailhound.lab.corpora import Corpus
from trailhound.lab.experiment import plan_experiment, run_experiment
from trailhound.lab.ground_truth import GroundTruth
from trailhound.lab.results import ExperimentPlan, ExperimentResults, RunResult, run_seed
from trailhound.lab.results_files import PARTIAL_NAME, PartialHeader, PartialRuns, read_results
from trailhound.lab.runner import FinishedCrawl, costs_of
from trailhound.plugins import digest_of_file
from trailhound.records import Outcome, PageEvent

STRATEGIES = ("breadth-first", "best-first", "shark-search:decay=0.3", "random", "oracle")
BUDGET = 40


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_web(tmp_path_factory.mktemp("corpus") / "tiny.thc")


@pytest.fixture(scope="module")
def plan(corpus: Path) -> ExperimentPlan:
    return plan_experiment(
        corpus, STRATEGIES, max_requests=BUDGET, seed_sets=2, judge="cosine", settings=ONE_BY_ONE
    )


@pytest.fixture(scope="module")
def results(plan: ExperimentPlan, tmp_path_factory: pytest.TempPathFactory) -> ExperimentResults:
    return run_experiment(plan, tmp_path_factory.mktemp("out"))


def without_times(runs: list[RunResult]) -> list[RunResult]:
    """Runs with the only measured, and so varying, numbers taken out."""
    return [msgspec.structs.replace(run, cpu_seconds=0.0, learning_cpu_seconds=0.0) for run in runs]


def fetched(url: str, outcome: Outcome = Outcome.FETCHED) -> PageEvent:
    return PageEvent(
        number=1,
        url=url,
        final_url=url,
        outcome=outcome,
        parent=None,
        depth=0,
        priority=0.0,
        requests=1,
        requests_total=1,
    )


def test_requests_of_repeated_attempts_are_in_the_curve() -> None:
    page = fetched("http://a.test/")
    events = [msgspec.structs.replace(page, requests_total=total) for total in (1, 4)]
    crawl = FinishedCrawl(events, "", 0.0, 0.0)
    assert costs_of(events) == [1, 3]
    assert crawl.within(1).events == events[:1]


def test_every_combination_is_run_once_in_order(results: ExperimentResults) -> None:
    expected = [
        (topic, seed_set, strategy)
        for topic in TOPICS
        for seed_set in range(2)
        for strategy in STRATEGIES
    ]
    assert [(run.topic, run.seed_set, run.strategy) for run in results.runs] == expected


def test_curves_are_consistent(results: ExperimentResults) -> None:
    for run in results.runs:
        assert len(run.curve) == run.fetches <= BUDGET
        assert run.curve == sorted(run.curve)
        assert run.found <= run.relevant_total == 20
        assert run.stop_reason
        assert sum(run.outcomes.values()) <= run.fetches
        assert run.cpu_seconds > 0


def test_the_oracle_leads_and_chance_trails(results: ExperimentResults) -> None:
    nauc = {name: results.summary[name]["nauc"].mean for name in STRATEGIES}
    assert nauc["oracle"] >= nauc["best-first"] > nauc["random"]


def test_links_out_of_the_recorded_web_are_counted(results: ExperimentResults) -> None:
    """Of what was fetched: the bound from above needs few pages for all answers."""
    for run in results.runs:
        assert (run.strategy != "oracle") <= run.links_outside <= 4


def test_number_of_processes_does_not_change_the_results(
    plan: ExperimentPlan, results: ExperimentResults, tmp_path: Path
) -> None:
    in_two = run_experiment(plan, tmp_path, jobs=2)
    assert without_times(in_two.runs) == without_times(results.runs)
    assert in_two.comparisons == results.comparisons
    assert in_two.corpus == results.corpus
    assert read_results(tmp_path) == in_two


def test_an_interrupted_experiment_continues(
    plan: ExperimentPlan, results: ExperimentResults, tmp_path: Path
) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(plan, tmp_path, progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == [PARTIAL_NAME]
    # A crash may cut the last line; that run is made again.
    partial = tmp_path / PARTIAL_NAME
    partial.write_bytes(partial.read_bytes()[:-20])

    calls: list[tuple[int, int]] = []
    continued = run_experiment(plan, tmp_path, progress=lambda *call: calls.append(call))
    assert calls[0] == (2, 20)
    assert without_times(continued.runs) == without_times(results.runs)
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_two_experiments_do_not_write_into_one_folder(plan: ExperimentPlan, tmp_path: Path) -> None:
    def second(done: int, total: int) -> None:
        with pytest.raises(StorageError, match="Another 'trailhound lab run' is writing into"):
            run_experiment(plan, tmp_path)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(plan, tmp_path, progress=second)
    assert [path.name for path in tmp_path.iterdir()] == [PARTIAL_NAME]


def test_options_that_cannot_be_meant_are_told_before_anything_is_run(
    corpus: Path, tmp_path: Path
) -> None:
    plan = plan_experiment(corpus, ["breadth-first", "trail:hub=-1"], max_requests=5)

    def run(done: int, total: int) -> None:
        raise AssertionError

    with pytest.raises(UsageError, match="hub"):
        run_experiment(plan, tmp_path, progress=run)
    assert not list(tmp_path.iterdir())


LEAVING = """
import sys
from trailhound.strategies.baselines import BreadthFirstStrategy
class Leaving(BreadthFirstStrategy):
    name, summary, paper = "leaving", "ends the program", ""
    @classmethod
    def from_briefing(cls, briefing, *, at_once=True):
        sys.exit(0)
"""


def test_a_strategy_that_ends_the_program_fails_its_own_runs(corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "leaving.py"
    path.write_text(LEAVING)
    plan = plan_experiment(corpus, [str(path), "breadth-first"], max_requests=5, seed_sets=1)
    with pytest.raises(TrailhoundError, match=r"cannot be made: SystemExit: 0"):
        run_experiment(plan, tmp_path / "out")
    assert (tmp_path / "out" / PARTIAL_NAME).read_text().count("breadth-first") == 2


def test_runs_of_another_experiment_are_not_taken_over(
    plan: ExperimentPlan, results: ExperimentResults, tmp_path: Path
) -> None:
    header = PartialHeader("trailhound", "another web", BUDGET, 2, 7, None, "cosine", [])
    with PartialRuns(tmp_path, header) as partial:
        partial.keep(results.runs[0])
    with PartialRuns(tmp_path, header) as partial:
        assert list(partial.runs.values()) == [results.runs[0]]
    with pytest.raises(UsageError, match=r"another corpus; .*--replace"):
        run_experiment(plan, tmp_path)
    calls: list[tuple[int, int]] = []

    def enough(done: int, total: int) -> None:
        calls.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(plan, tmp_path, replace=True, progress=enough)
    assert calls == [(0, 20)]


def test_runs_of_a_strategy_whose_file_has_changed_are_made_again(
    corpus: Path, tmp_path: Path, results: ExperimentResults
) -> None:
    file = tmp_path / "mine.py"
    file.write_text("from trailhound.strategies.baselines import BreadthFirstStrategy as Base\n")
    first, second = results.runs[:2]
    mine = msgspec.structs.replace(second, strategy=str(file))

    def kept(asked: list[str], judge_digest: str = "") -> list[str]:
        digests = {spec: digest_of_file(spec) for spec in asked if spec.endswith(".py")}
        header = PartialHeader("trailhound", "web", BUDGET, 2, 7, None, "cosine", [])
        header = msgspec.structs.replace(
            header, judge_digest=judge_digest, strategy_digests=digests
        )
        with PartialRuns(tmp_path / "out", header) as partial:
            before = [run.strategy for run in partial.runs.values()]
            for run in (first, mine):
                if run.strategy in asked and run.task not in partial.runs:
                    partial.keep(run)
            return before

    both = [first.strategy, mine.strategy]
    assert kept(both) == []
    assert kept(both) == both
    assert kept([first.strategy]) == both, "what is not asked for now is still there"
    assert kept(both) == both
    file.write_text(file.read_text() + "# changed\n")
    assert kept(both) == [first.strategy]
    assert kept(both, "another judge") == []


def test_runs_depend_on_the_sessions_of_a_topics_file(corpus: Path, tmp_path: Path) -> None:
    topics_file, session = tmp_path / "topics.toml", tmp_path / "s.jsonl"
    pages = '[topics.bees]\nurl_patterns = ["http://bees.test/*/*"]\n'

    def digest(session: str) -> str | None:
        topics_file.write_text(pages + session)
        plan = plan_experiment(corpus, ["oracle"], topics_file=topics_file)
        return plan.parameters.topics_digest

    found = [digest('session = "s.jsonl"')]
    for content in ("one", "another"):
        session.write_text(content)
        found.append(digest('session = "s.jsonl"'))
    assert len(set(found)) == 3
    assert digest("") == sha256(topics_file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("crawl.scope", "--without"),
        ("crawl.max_requests", "--max-requests"),
        ("crawl.strategy", "--strategy"),
        ("crawl.give_up_after", "--max-requests"),
        ("judge.kind", "--judge"),
        ("crawl.frontier", "recorded web"),
        ("crawl.min_free", "recorded web"),
        ("crawl.sitemaps", "recorded web"),
        ("sources.trace", "recorded web"),
        ("fetch.fetcher", "recorded web"),
        ("fetch.render", "recorded web"),
        ("fetch.documents", "recorded web"),
        ("output.sinks", "recorded web"),
    ],
)
def test_settings_that_would_change_nothing_are_refused(
    corpus: Path, name: str, instead: str
) -> None:
    with pytest.raises(UsageError, match=f"{name} is of no use in the lab.*{instead}"):
        plan_experiment(corpus, ["oracle"], settings={name: "5"})


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_run_is_named_and_the_others_are_kept(
    corpus: Path, tmp_path: Path, jobs: int
) -> None:
    topics_file = tmp_path / "topics.toml"
    topics_file.write_text(
        '[topics.bees]\nurl_patterns = ["http://bees.test/*/*"]\nstart = "http://portal.test/"\n'
        '[topics.nothing]\nurl_patterns = ["http://nowhere.test/*"]\n'
    )
    plan = plan_experiment(
        corpus, ["breadth-first", "oracle"], topics_file=topics_file, max_requests=10, seed_sets=1
    )
    with pytest.raises(TrailhoundError) as raised:
        run_experiment(plan, tmp_path / "out", jobs=jobs)
    message = str(raised.value)
    assert "2 of 4 runs failed" in message
    assert "Topic nothing; strategy breadth-first, oracle" in message
    assert "empty" in message
    assert raised.value.exit_code == 1
    kept = (tmp_path / "out" / PARTIAL_NAME).read_text("utf-8").splitlines()
    assert len(kept) == 1 + 2
    assert not (tmp_path / "out" / "results.json").exists()


def test_unknown_names_are_refused_before_anything_runs(corpus: Path) -> None:
    with pytest.raises(UsageError, match="best-first"):
        plan_experiment(corpus, ["best-frist"])
    with pytest.raises(UsageError, match="decay"):
        plan_experiment(corpus, ["shark-search:decoy=1"])
    with pytest.raises(UsageError, match="Did you mean bees"):
        plan_experiment(corpus, ["oracle"], topics=["bee"])
    with pytest.raises(UsageError, match="--strategy"):
        plan_experiment(corpus, [])
    with pytest.raises(UsageError, match="--max-requests"):
        plan_experiment(corpus, ["oracle"], max_requests=0)


def test_a_repeated_name_is_run_once(corpus: Path) -> None:
    plan = plan_experiment(corpus, ["oracle", "oracle"], topics=["bees", "bees"], seed_sets=1)
    assert len(plan.tasks()) == 1


def test_an_unwritable_folder_is_a_clear_error(plan: ExperimentPlan, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(StorageError, match="Cannot write"):
        run_experiment(plan, tmp_path / "out")


def test_run_seeds_differ_by_topic_and_seed_set_only() -> None:
    seeds = {run_seed(7, topic, seed_set) for topic in ("a", "b") for seed_set in (0, 1)}
    assert len(seeds) == 4
    assert run_seed(7, "bees", 0) == run_seed(7, "bees", 0) != run_seed(8, "bees", 0)


def test_a_relevant_page_counts_once_under_all_its_addresses(corpus: Path) -> None:
    original = leaf_url("bees", 2, 6)
    with Corpus.open(corpus) as web:
        truth = GroundTruth(web, [original, leaf_url("bees", 2, 5)])
        events = [
            fetched("http://bees.test/copy"),
            fetched(original),
            fetched("http://bees.test/old", Outcome.NOT_FOUND),
            fetched("http://bees.test/old"),
            fetched("http://sport.test/"),
        ]
        found = [web.page_id(original), web.page_id(leaf_url("bees", 2, 5))]
        assert truth.finds(events) == [found[0], None, None, found[1], None]
        assert len(truth) == 2


def test_pages_shown_in_the_session_do_not_count(results: ExperimentResults) -> None:
    # Of 3 × 8 leaves four were marked useful in training.
    assert {run.relevant_all for run in results.runs} == {3 * N_LEAVES - 4}


def test_settings_are_read_and_checked_by_name(corpus: Path) -> None:
    given = {"crawl.concurrency": "1", "crawl.avoid_traps": False}
    plan = plan_experiment(corpus, ["random"], settings=given)
    assert plan.parameters.settings == {"crawl.concurrency": 1, "crawl.avoid_traps": False}
    assert plan.parameters.crawl_settings().crawl.concurrency == 1
    with pytest.raises(ConfigError, match=r"Did you mean crawl\.concurrency"):
        plan_experiment(corpus, ["random"], settings={"crawl.concurency": 1})
    with pytest.raises(ConfigError, match=r"crawl\.concurrency is 'many'"):
        plan_experiment(corpus, ["random"], settings={"crawl.concurrency": "many"})


def test_pages_can_be_closed_to_all_crawls(corpus: Path, tmp_path: Path) -> None:
    closed = "http://bees.test/1/"
    plan = plan_experiment(
        corpus, ["breadth-first"], seed_sets=1, max_requests=200, without=[closed]
    )
    results = run_experiment(plan, tmp_path)
    with Corpus.open(corpus) as web:
        urls = web.page_urls
        fetched_closed = [
            number
            for run in results.runs
            for number in run.found_pages
            if urls[number].startswith(closed)
        ]
    assert not fetched_closed
    assert results.parameters.without == [closed]


def test_closing_pages_that_do_not_exist_is_an_error(corpus: Path) -> None:
    with pytest.raises(UsageError, match=r"No page of the corpus begins with 'http://x\.test/'"):
        plan_experiment(corpus, ["breadth-first"], without=["http://x.test/"])


def test_finds_and_similarities_are_kept_with_each_run(results: ExperimentResults) -> None:
    for run in results.runs:
        assert len(run.found_pages) == len(set(run.found_pages)) == run.found
        assert len(run.similarities) == run.outcomes.get("fetched", 0)
        assert run.mean_max_similarity == pytest.approx(
            sum(run.similarities) / max(len(run.similarities), 1), abs=1e-3
        )
