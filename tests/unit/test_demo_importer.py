"""The generated demo web, recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from trailhound.demo import DemoWeb, DemoWebParameters
from trailhound.lab.corpora import Corpus, CorpusWriter
from trailhound.lab.importers import no_progress
from trailhound.lab.importers.demo import TRAP_PAGES, record_answers, record_knowledge

# The whole demo web takes ten seconds; this one has all of its kinds of pages.
SMALL = DemoWebParameters(
    universities=3,
    people_per_department=4,
    papers_per_person=2,
    articles_per_newspaper=20,
    threads_per_forum=15,
    articles_per_club=8,
    products_per_shop=8,
)


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb.generate(3, SMALL)


@pytest.fixture(scope="module")
def path(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.thc"
    with CorpusWriter(path, "demo") as writer:
        record_answers(web, no_progress, writer)
        record_knowledge(web, writer)
    return path


def test_every_answer_of_the_demo_web_is_recorded(web: DemoWeb, path: Path) -> None:
    with Corpus.open(path) as corpus:
        assert all(url in corpus for url in web.responses)
        for url, response in web.responses.items():
            recorded = corpus.lookup(url)
            assert recorded is not None
            assert recorded.status == response.status
            if recorded.page is not None:
                assert corpus.html(url) == response.body


def test_topics_sessions_and_duplicates_come_along(web: DemoWeb, path: Path) -> None:
    with Corpus.open(path) as corpus:
        urls = corpus.page_urls
        labels = {label: {urls[page] for page in pages} for label, pages in corpus.labels().items()}
        assert labels == web.topics
        assert corpus.sessions() == tuple(web.sessions.values())
        assert corpus.duplicates() == web.duplicates
        assert corpus.start_urls == web.start_urls


def test_the_beginning_of_the_trap_is_recorded_and_its_end_is_open(
    web: DemoWeb, path: Path
) -> None:
    with Corpus.open(path) as corpus:
        inside = web.trap_urls(TRAP_PAGES)
        assert all(corpus.page(url) is not None for url in inside)
        assert any(link.url not in corpus for link in corpus.page_by_id(len(corpus) - 1).links)
