"""An experiment in records: what is going to be done, and what was measured.

Apart from CPU seconds nothing in the results depends on the machine, the clock or the number of
processes: two experiments with equal parameters on the same corpus are equal.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from trailhound.config.settings import Settings

RESULTS_FORMAT = "trailhound-results"
RESULTS_VERSION = 2
"""2 calls the budget ``max_requests``; 1 called it ``max_pages``."""


class Parameters(msgspec.Struct, frozen=True):
    """What was asked for: with the corpus, all that is needed to repeat the experiment."""

    strategies: list[str]
    topics: list[str]
    max_requests: int
    """Budget of each crawl, failures and questions to sources included."""
    seed_sets: int
    seed: int
    topics_file: str | None = None
    """Name of the file that defined the topics, when one did."""
    topics_digest: str | None = None
    """SHA-256 of that file and of the sessions that it names."""
    judge: str = "auto"
    """What the crawls take for relevant on their way; ground truth measures them all the same."""
    without: list[str] = []
    """Beginnings of URLs whose pages existed for no session and no crawl."""
    settings: dict[str, Any] = {}
    """What differs from the defaults of a live crawl, by ``section.name``."""

    def crawl_settings(self) -> Settings:
        """Of every crawl in the experiment; only the strategy differs."""
        return Settings().changed({"judge.kind": self.judge, **self.settings})


class RunTask(msgspec.Struct, frozen=True):
    """One crawl to be made."""

    topic: str
    seed_set: int
    strategy: str


@dataclass(frozen=True)
class ExperimentPlan:
    """Where the recorded web is and what to try on it."""

    corpus: Path
    parameters: Parameters
    topics_file: Path | None = None

    def everywhere(self) -> ExperimentPlan:
        """With paths that mean the same in every process."""
        topics = self.topics_file.absolute() if self.topics_file is not None else None
        return replace(self, corpus=self.corpus.absolute(), topics_file=topics)

    def tasks(self) -> list[RunTask]:
        """All runs, topic by topic, so that a worker seldom has to change its topic."""
        return [
            RunTask(topic, seed_set, strategy)
            for topic in self.parameters.topics
            for seed_set in range(self.parameters.seed_sets)
            for strategy in self.parameters.strategies
        ]


def run_seed(seed: int, topic: str, seed_set: int) -> int:
    """The random seed of a run: the same for every strategy, on every machine."""
    text = f"{seed}\x1f{topic}\x1f{seed_set}".encode()
    # 32 bits: exact in any JSON reader, and enough to keep runs apart.
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big")


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """One crawl: one topic, one seed set, one strategy."""

    topic: str
    strategy: str
    """As it was asked for: ``name`` or ``name:key=value,…``."""
    seed_set: int
    """Number of the start pages, from 0."""
    seed: int
    """Of the strategy's random generator."""
    fetches: int
    """Requests, those of learning included; at most the budget."""
    curve: list[int]
    """Relevant pages found after each fetch."""
    relevant_total: int
    """Relevant pages that can be reached from this seed set."""
    nauc: float
    """ΣR(t)/Σmin(t, relevant_total) up to the budget; an early end holds the curve flat."""
    harvest: float
    """Relevant pages found per fetch."""
    recall: float
    """Relevant pages found per relevant page findable."""
    hosts: int
    """Hosts on which a relevant page was found."""
    cpu_seconds: float
    """Of the crawl itself. Measured, so it differs from run to run."""
    auhc: float
    """Mean over t up to the budget of R(t)/t."""
    mean_max_similarity: float
    """Mean over fetched pages of the TF-IDF cosine to the nearest training target."""
    eq9_similarity: float
    """The same by the printed eq. 9 of Liu, Janssen and Milios (2006): maximum of means."""
    effective_hosts: float
    """exp(entropy) of the hosts of the relevant pages found."""
    max_host_share: float
    """Share of the relevant pages found that one host supplied."""
    links_outside: int
    """Links met that leave the recorded web; they are no candidates."""
    outcomes: dict[str, int]
    """How the requested URLs ended, by outcome."""
    stop_reason: str
    learning_cpu_seconds: float
    """CPU spent learning from the session before the crawl. Measured."""
    seeds: list[str]
    """The start pages."""
    relevant_all: int
    """Relevant pages in the corpus, reachable from here or not."""
    learning_queries: int = 0
    """Put to backlinks or a search before the crawl; the curve begins with them."""
    learning_pages: int = 0
    """Pages read before the crawl because a source named them; likewise."""
    queries: int = 0
    """Questions during the crawl; each is a request in the curve and against the budget."""
    crawl_fetches: int = 0
    """Requests of the crawl alone, within the same budget: what the CPU time was spent on."""
    nauc_learning_free: float = 0.0
    """nAUC if learning had cost no request: equal for strategies that ask nothing beforehand."""
    first_find: int = 0
    """Requests up to it, those of learning included; one more than the budget without it."""
    third_find: int = 0
    """Likewise."""
    tenth_find: int = 0
    """Likewise."""
    found_pages: list[int] = []
    """Numbers of the relevant pages found, in the order of the crawl."""
    similarities: list[float] = []
    """Of each page fetched, in order: the TF-IDF cosine to the nearest training target."""

    @property
    def found(self) -> int:
        """Relevant pages found."""
        return self.curve[-1] if self.curve else 0

    @property
    def task(self) -> RunTask:
        """What it fulfilled."""
        return RunTask(self.topic, self.seed_set, self.strategy)


class CorpusSummary(msgspec.Struct, frozen=True):
    """Which recorded web was crawled."""

    name: str
    fingerprint: str
    pages: int
    hosts: int
    kind: str = ""


class Estimate(msgspec.Struct, frozen=True):
    """A mean over topics with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


class Comparison(msgspec.Struct, frozen=True):
    """A strategy against the baseline, by paired differences of topic means."""

    strategy: str
    baseline: str
    metric: str
    difference: Estimate
    """Strategy minus baseline."""
    topics: int
    p: float
    """Of the two-sided sign-flip test over topics."""
    p_holm: float
    """Corrected for the number of strategies compared."""


class BeatenBound(msgspec.Struct, frozen=True):
    """A run that did better than the oracle from the same seeds, which should not be possible."""

    topic: str
    seed_set: int
    strategy: str
    nauc: float
    bound: float
    """nAUC of the oracle."""


class ExperimentResults(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    format: str = RESULTS_FORMAT
    version: int = RESULTS_VERSION
    created_by: str
    corpus: CorpusSummary
    parameters: Parameters
    baseline: str | None
    """The strategy the comparisons refer to."""
    summary: dict[str, dict[str, Estimate]]
    """Per strategy and metric: mean over topics and 95 % interval."""
    comparisons: list[Comparison]
    runs: list[RunResult]

    def ranked(self) -> list[str]:
        """The strategies, best nAUC first."""
        return sorted(self.summary, key=lambda name: -self.summary[name]["nauc"].mean)
