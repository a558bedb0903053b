"""Which pages of a host that has sent harmful ones are still tried."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from trailhound.crawling.analysis import Analysis, Analyst, PageJob
from trailhound.crawling.page_reading import COSTLY_PAGES, READ_PER_COSTLY, PageReading
from trailhound.crawling.processes import PAGE_LIMITS
from trailhound.records import Candidate, Page, Relevance
from trailhound.strategies.baselines import BreadthFirstStrategy

HOST = "h.test"


class NoJudge:
    def judge(self, page: Page) -> Relevance:
        del page
        return Relevance(0.0, False)


def a_reading() -> PageReading:
    return PageReading(
        BreadthFirstStrategy(),
        NoJudge(),
        with_fingerprints=False,
        workers=1,
        recipe=None,
        limits=PAGE_LIMITS,
    )


def test_a_host_with_heavy_documents_gets_another_try_for_what_it_has_else() -> None:
    reading = a_reading()
    url = f"http://{HOST}/x.pdf"
    job = PageJob(Candidate(url, 1.0), url, "application/pdf", b"%PDF-1.7")

    def is_tried() -> bool:
        return reading.complete(None, job, HOST) is None

    def came_to(analysis: Analysis, times: int) -> None:
        for _ in range(times):
            reading.complete(analysis, job, HOST)

    heavy = Analysis(failure="it was not analysed in time", is_too_costly=True)
    read = Analysis(page=Page(url), relevance=Relevance(0.0, False))
    came_to(read, READ_PER_COSTLY)
    came_to(heavy, COSTLY_PAGES - 1)
    assert is_tried()
    came_to(heavy, 1)
    assert not is_tried(), "what was read before is no excuse"
    came_to(read, READ_PER_COSTLY)
    assert is_tried()
    came_to(heavy, 1)
    assert not is_tried()


def test_a_page_that_was_set_apart_is_what_it_would_be_here() -> None:
    words = "Die Bienen fliegen im Sommer von einer Blüte zur anderen und sammeln Honig. " * 5
    url = f"http://{HOST}/bienen"
    job = PageJob(
        Candidate(url, 1.0), url, "text/html", f"<title>Bienen</title><p>{words}".encode()
    )
    reading = a_reading()
    apart = Analyst(None).analyse(msgspec.structs.replace(job, is_set_apart=True))
    here, there = reading.complete(None, job, HOST), reading.complete(apart, job, HOST)
    assert here is not None
    assert there is not None
    assert here.page is not None
    assert here.page.language == "de"
    assert there.page == here.page


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_what_is_loaded_beside_the_limit_does_not_count() -> None:
    program = """
import resource
from trailhound.crawling.processes import beside_the_limit, limit_memory
limit_memory(50_000_000)
def limit(): return resource.getrlimit(resource.RLIMIT_AS)[0]
before = limit()
with beside_the_limit():
    ours = bytearray(200_000_000)
assert limit() - before >= 200_000_000, limit() - before
try:
    bytearray(200_000_000)
except MemoryError:
    print("limited")
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stdout == "limited\n", said.stderr
