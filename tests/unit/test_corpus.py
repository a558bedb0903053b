"""A corpus gives back what was put into it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.errors import CorpusError
from trailhound.lab.corpora import (
    BACK,
    Access,
    Corpus,
    CorpusInfo,
    CorpusWriter,
    Trail,
    TrailVisit,
    preparation,
)
from trailhound.lab.corpora.contents import access_log
from trailhound.sessions.events import Mark, Session, Submit, Visit
from trailhound.text.extract import EXTRACTION_VERSION, extract_page

HOME = "http://a.test/"
BEES = "http://a.test/bees"
HIVE = "http://b.test/hive"


def html(title: str, *links: str) -> bytes:
    anchors = "".join(f'<p>see <a href="{link}">{link}</a></p>' for link in links)
    return f"<html lang=en><title>{title}</title><h1>{title}</h1>{anchors}</html>".encode()


def write(path: Path, jobs: int = 1) -> CorpusInfo:
    """Three pages on two hosts, a redirect, an alias, an error, a file, and side data."""
    with CorpusWriter(path, "made-up", {"source": "nowhere"}, jobs) as writer:
        writer.add_page(HOME, html("Home", "/bees", "/bees#top", "/old", "/", "/gone"))
        writer.add_page(BEES, html("Bees", HIVE, "/hive.pdf", "http://elsewhere.test/"))
        writer.add_page(HIVE, html("Hive é", HOME + "index.html"), "text/html; charset=utf-8")
        writer.add_redirect("http://a.test/old", "../bees#now", status=302)
        writer.add_alias(HOME + "index.html", HOME)
        writer.add_error("http://a.test/gone", 410)
        writer.add_error("http://a.test/hive.pdf", 200, "application/pdf")
        writer.add_label(BEES, "insects")
        writer.add_label("http://a.test/old", "moved")
        writer.add_label(HIVE, "insects")
        writer.add_label("http://nowhere.test/", "insects")
        writer.set_group(HOME, "left")
        writer.set_group(HIVE, "right")
        writer.add_duplicate(HIVE, BEES)
        writer.set_start_urls([HOME])
        writer.add_trail(Trail("eva", 100.0, 20.0, (HOME, BEES, BACK), goal=BEES))
        writer.add_trail(Trail("tom", 105.0, 0.0, (HIVE,), finished=False))
        writer.add_session(SESSION)
        writer.note("Origin: made up.")
    return writer.info


SESSION = Session(
    topic="bees",
    events=(Visit(1.0, HOME), Visit(2.0, BEES, from_url=HOME), Mark(3.0, BEES), Submit(4.0)),
    user="eva",
)


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    path = tmp_path / "web.thc"
    write(path)
    with Corpus.open(path) as opened:
        yield opened


def test_pages_come_back_as_they_were_extracted(corpus: Corpus) -> None:
    assert len(corpus) == 3
    assert corpus.page_urls == (HOME, BEES, HIVE)
    expected = extract_page(html("Bees", HIVE, "/hive.pdf", "http://elsewhere.test/"), BEES)
    assert corpus.page(BEES) == expected
    assert corpus.page_by_id(1) == expected
    assert corpus.html(HIVE) == html("Hive é", HOME + "index.html")


def test_no_two_threads_share_a_compressor() -> None:
    with ThreadPoolExecutor(1) as other:
        assert other.submit(lambda: preparation._own.compress).result() != preparation._own.compress


def test_a_page_is_found_through_redirects_and_other_spellings(corpus: Corpus) -> None:
    assert corpus.page_id("http://a.test/old") == 1
    assert corpus.page_id(HOME + "index.html") == 0
    assert corpus.page_id("http://a.test/gone") is None
    assert corpus.page("http://a.test/gone") is None
    assert corpus.html("http://unknown.test/") is None


def test_lookup_tells_pages_redirects_errors_and_files_apart(corpus: Corpus) -> None:
    page = corpus.lookup(HIVE)
    assert page is not None
    assert page.page is not None
    assert (page.status, page.page.title) == (200, "Hive é")
    assert page.content_type == "text/html; charset=utf-8"
    redirect = corpus.lookup("http://a.test/old")
    assert redirect is not None
    assert (redirect.status, redirect.redirect_to, redirect.page) == (302, BEES, None)
    alias = corpus.lookup(HOME + "index.html")
    assert alias is not None
    assert (alias.url, alias.status, alias.redirect_to) == (HOME, 200, None)
    error = corpus.lookup("http://a.test/gone")
    assert error is not None
    assert (error.status, error.redirect_to, error.page) == (410, None, None)
    file = corpus.lookup("http://a.test/hive.pdf")
    assert file is not None
    assert (file.status, file.content_type, file.page) == (200, "application/pdf", None)
    assert corpus.lookup("http://elsewhere.test/") is None


def test_everything_recorded_is_in_the_corpus_and_nothing_else(corpus: Corpus) -> None:
    recorded = [HOME, BEES, HIVE, "http://a.test/old", "http://a.test/gone"]
    assert all(url in corpus for url in recorded)
    assert "http://elsewhere.test/" not in corpus


def test_the_link_graph_resolves_redirects_and_drops_repeats_and_self_links(corpus: Corpus) -> None:
    graph = corpus.graph
    assert [graph.links_of(page).tolist() for page in range(3)] == [[1], [2], [0]]


def test_side_data_is_found_by_page_number(corpus: Corpus) -> None:
    assert corpus.labels() == {"insects": {1, 2}, "moved": {1}}
    assert corpus.groups() == {"left": {0}, "right": {2}}
    assert corpus.duplicates() == {HIVE: BEES}
    assert corpus.start_urls == (HOME,)
    assert corpus.sessions() == (SESSION,)


def test_trails_come_back_and_make_an_access_log_without_back_clicks(corpus: Corpus) -> None:
    eva, tom = corpus.trails()
    assert (eva.steps, eva.goal, eva.finished) == ((HOME, BEES, BACK), BEES, True)
    assert not tom.finished
    assert list(access_log(corpus.trails())) == [
        Access(100.0, "eva", HOME),
        Access(105.0, "tom", HIVE),
        Access(110.0, "eva", BEES),
    ]


def test_info_counts_everything(corpus: Corpus) -> None:
    info = corpus.info()
    assert (info.kind, info.parameters) == ("made-up", {"source": "nowhere"})
    assert (info.pages, info.hosts, info.links_inside, info.links_leaving) == (3, 2, 3, 1)
    assert (info.redirects, info.aliases, info.errors, info.files) == (1, 1, 1, 1)
    assert (info.labels, info.groups) == ({"insects": 2, "moved": 1}, {"left": 1, "right": 1})
    assert (info.trails, info.trails_finished, info.users) == (2, 1, 2)
    assert (info.sessions, info.duplicates) == ({"bees": 1}, 1)
    assert sum(info.languages.values()) == 3
    assert info.bytes == corpus.path.stat().st_size
    assert info.extraction_version == EXTRACTION_VERSION
    assert info.notes == ("Origin: made up.", "1 × label or group of a URL without a page")


def test_the_first_capture_of_a_page_wins_and_a_page_wins_over_an_error(tmp_path: Path) -> None:
    with CorpusWriter(tmp_path / "web.thc", "made-up") as writer:
        writer.add_error(BEES, 503)
        assert writer.add_page(BEES, html("First"))
        assert not writer.add_page("HTTP://A.test:80/bees#x", html("Second"))
        assert not writer.add_page("ftp://a.test/", html("Third"))
        writer.add_redirect(BEES, HIVE)
        writer.add_redirect(HIVE, HIVE + "#self")
    with Corpus.open(tmp_path / "web.thc") as corpus:
        page = corpus.page(BEES)
        assert page is not None
        assert page.title == "First"
        assert corpus.info().redirects == corpus.info().errors == 0
        assert corpus.info().notes == (
            "1 × answer from something other than http or https",
            "1 × page captured more than once, the first kept",
            "1 × redirect to itself",
        )


def test_redirect_loops_lead_nowhere(tmp_path: Path) -> None:
    with CorpusWriter(tmp_path / "web.thc", "made-up") as writer:
        writer.add_page(HOME, html("Home", "/x"))
        writer.add_redirect("http://a.test/x", "/y")
        writer.add_redirect("http://a.test/y", "/x")
    with Corpus.open(tmp_path / "web.thc") as corpus:
        assert corpus.page_id("http://a.test/x") is None
        assert corpus.graph.n_links == 0


def test_bodies_and_links_can_be_asked_for_while_recording(tmp_path: Path) -> None:
    with CorpusWriter(tmp_path / "web.thc", "made-up", jobs=1) as writer:
        writer.add_page(HOME, html("Home", "/bees", "/old"))
        writer.add_redirect("http://a.test/old", "/")
        assert writer.body("http://a.test/old") == html("Home", "/bees", "/old")
        assert writer.body(BEES) is None
        assert list(writer.unrecorded_links()) == [BEES]


def test_the_same_input_gives_the_same_corpus_for_any_number_of_jobs(tmp_path: Path) -> None:
    alone, together = write(tmp_path / "1.thc"), write(tmp_path / "2.thc", jobs=2)
    assert alone.fingerprint == together.fingerprint
    with Corpus.open(tmp_path / "1.thc") as one, Corpus.open(tmp_path / "2.thc") as two:
        assert [one.page(url) for url in one.page_urls] == [two.page(url) for url in two.page_urls]


def test_the_fingerprint_changes_with_the_content(tmp_path: Path) -> None:
    def fingerprint(body: bytes, label: str) -> str:
        with CorpusWriter(tmp_path / "web.thc", "made-up") as writer:
            writer.add_page(HOME, body)
            writer.add_label(HOME, label)
        return writer.info.fingerprint

    first = fingerprint(b"<p>one", "a")
    assert fingerprint(b"<p>one", "a") == first
    assert len({first, fingerprint(b"<p>two", "a"), fingerprint(b"<p>one", "b")}) == 3


def test_info_is_known_only_when_the_corpus_is_complete(tmp_path: Path) -> None:
    with CorpusWriter(tmp_path / "web.thc", "made-up") as writer:
        writer.add_page(HOME, b"<p>x")
        with pytest.raises(CorpusError, match="not complete"):
            _ = writer.info


def test_back_clicks_show_the_page_before_again() -> None:
    trail = Trail("u", 10.0, 40.0, ("a", "b", BACK, "c", BACK))
    assert list(trail.visits()) == [
        TrailVisit(10.0, "a", None, back=False),
        TrailVisit(20.0, "b", "a", back=False),
        TrailVisit(30.0, "a", "b", back=True),
        TrailVisit(40.0, "c", "a", back=False),
        TrailVisit(50.0, "a", "c", back=True),
    ]


def test_a_single_page_is_shown_at_the_start() -> None:
    assert list(Trail("u", 10.0, 40.0, ("a",)).visits()) == [TrailVisit(10.0, "a", None, False)]


def test_back_from_the_first_page_is_passed_over() -> None:
    visits = Trail("u", 0.0, 3.0, ("a", BACK, BACK, "b")).visits()
    assert [(visit.time, visit.url) for visit in visits] == [(0.0, "a"), (3.0, "b")]


def test_an_empty_trail_shows_nothing() -> None:
    assert list(Trail("u", 0.0, 3.0, ()).visits()) == []


def test_the_access_log_merges_users_in_order_of_time() -> None:
    trails = [Trail("v", 0.0, 10.0, ("a", "b")), Trail("u", 0.0, 2.0, ("c", BACK, "d"))]
    assert list(access_log(trails)) == [
        Access(0.0, "u", "c"),
        Access(0.0, "v", "a"),
        Access(2.0, "u", "d"),
        Access(10.0, "v", "b"),
    ]


@given(st.lists(st.sampled_from(["a", "b", "c", BACK])), st.floats(0, 1e6))
def test_visits_are_in_order_of_time_and_linked_to_each_other(
    steps: list[str], duration: float
) -> None:
    visits = list(Trail("u", 5.0, duration, tuple(steps)).visits())
    times = [visit.time for visit in visits]
    assert times == sorted(times)
    assert all(5.0 <= time <= 5.0 + duration * 1.0001 for time in times)
    assert [visit.from_url for visit in visits[1:]] == [visit.url for visit in visits[:-1]]
    assert BACK not in {visit.url for visit in visits}
