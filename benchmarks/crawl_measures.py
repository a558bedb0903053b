"""What all measured crawls share: the model that they crawl with, and how their cost is taken."""

from __future__ import annotations

import time

import msgspec

from benchmarks.measured_web import browsing_graph
from trailhound.judges.calibration import calibrate_judges
from trailhound.models.topic_model import learn_topic
from trailhound.topics.learned import LearnedTopic, Origin

CONCURRENCY = 16
TOPIC = "measured"


class CrawlCost(msgspec.Struct, frozen=True):
    """What one crawl took."""

    pages: int
    cpu_seconds: float
    """Of the crawling process."""
    seconds: float

    @property
    def cpu_ms_per_page(self) -> float:
        """The figure that is compared."""
        return 1000 * self.cpu_seconds / self.pages

    @property
    def pages_per_second(self) -> float:
        """By the clock on the wall."""
        return self.pages / self.seconds


class Stopwatch:
    """CPU and wall time from now on."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def cost(self, pages: int) -> CrawlCost:
        """Since the start, for so many pages."""
        return CrawlCost(pages, time.process_time() - self._cpu, time.perf_counter() - self._wall)


def learned_topic(pages: dict[str, bytes]) -> LearnedTopic:
    """A model of the session over the first pages."""
    graph = browsing_graph(pages)
    model = learn_topic(graph)
    return LearnedTopic(model, calibrate_judges(model)["cosine"], Origin(TOPIC))
