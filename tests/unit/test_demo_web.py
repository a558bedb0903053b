"""The demo web is what the documentation says: large, varied, difficult, and always the same."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from protego import Protego
from selectolax.lexbor import LexborHTMLParser

from trailhound.demo import DemoWeb, DemoWebParameters
from trailhound.demo.trap import trap_page, trap_urls
from trailhound.errors import UsageError
from trailhound.sessions.events import Mark, Reached, Session, Submit, Visit
from trailhound.urls import canonicalize

Links = Mapping[str, list[str]]

SMALL = DemoWebParameters(
    universities=3,
    people_per_department=4,
    papers_per_person=2,
    articles_per_newspaper=24,
    threads_per_forum=16,
    articles_per_club=10,
    products_per_shop=8,
)


def fingerprint(web: DemoWeb) -> str:
    digest = hashlib.sha256(fingerprint_of_answers(web).encode())
    for topic, members in web.topics.items():
        digest.update(f"{topic} {sorted(members)} {web.sessions[topic]}".encode())
    digest.update(f"{list(web.duplicates.items())} {web.hosts} {web.start_urls}".encode())
    return digest.hexdigest()


def fingerprint_of_answers(web: DemoWeb) -> str:
    digest = hashlib.sha256()
    for url, response in web.responses.items():
        digest.update(f"{url} {response.status} {sorted(response.headers.items())}".encode())
        digest.update(response.body)
    return digest.hexdigest()


def is_html(web: DemoWeb, url: str) -> bool:
    response = web.responses[url]
    return response.status == 200 and response.headers["Content-Type"].startswith("text/html")


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb.generate()


@pytest.fixture(scope="module")
def small_web() -> DemoWeb:
    return DemoWeb.generate(parameters=SMALL)


@pytest.fixture(scope="module")
def links(web: DemoWeb) -> dict[str, list[str]]:
    """Every HTML page's links, read from its bytes."""
    found = {}
    for url in web.responses:
        if is_html(web, url):
            tree = LexborHTMLParser(web.responses[url].body.decode("latin-1"))
            hrefs = [node.attributes.get("href") for node in tree.css("a[href]")]
            hrefs += [node.attributes.get("src") for node in tree.css("frame[src]")]
            found[url] = [canonicalize(href or "", url) or "" for href in hrefs]
    return found


def follow(web: DemoWeb, url: str) -> str:
    for _ in range(5):
        response = web.respond(url)
        if response.status not in (301, 302):
            break
        url = response.headers["Location"]
    return url


def distances(web: DemoWeb, links: Links, starts: tuple[str, ...]) -> dict[str, int]:
    reached = dict.fromkeys(starts, 0)
    queue = deque(starts)
    while queue:
        url = queue.popleft()
        for target in links.get(url, ()):
            final = follow(web, target)
            if final not in reached:
                reached[final] = reached[url] + 1
                queue.append(final)
    return reached


def visits(session: Session) -> list[Visit]:
    return [event for event in session.events if isinstance(event, Visit)]


def useful(session: Session) -> set[str]:
    return {event.url for event in session.events if isinstance(event, Mark) and event.useful}


def test_the_same_seed_gives_the_same_web_whatever_the_hash_seed() -> None:
    script = (
        "from tests.unit.test_demo_web import fingerprint, SMALL\n"
        "from trailhound.demo import DemoWeb\n"
        "print(fingerprint(DemoWeb.generate(3, SMALL)))"
    )
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    here = fingerprint(DemoWeb.generate(3, SMALL))
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == here


def test_the_web_is_the_one_on_which_the_floors_of_the_quality_gate_were_measured(
    web: DemoWeb,
) -> None:
    """Whoever changes words, sites or the order of drawing measures the floors again."""
    assert (
        fingerprint_of_answers(web)
        == "d5cdc455d6c6d03630a5e577e37965de90a1ef0eaaca65c56ec3cb676005a8d4"
    )


@pytest.mark.parametrize(
    "sizes",
    [
        {"universities": 1, "departments_per_university": 1},
        {"people_per_department": 1, "papers_per_person": 1, "articles_per_club": 5},
        {"articles_per_newspaper": 1, "threads_per_forum": 1, "products_per_shop": 1},
    ],
)
def test_very_small_webs_can_be_made(sizes: dict[str, int]) -> None:
    web = DemoWeb.generate(parameters=replace(SMALL, **sizes))
    assert web.sessions.keys() == web.topics.keys()


def test_generating_twice_gives_equal_webs_and_another_seed_a_different_one(web: DemoWeb) -> None:
    assert fingerprint(DemoWeb.generate()) == fingerprint(web)
    assert fingerprint(DemoWeb.generate(8, SMALL)) != fingerprint(DemoWeb.generate(9, SMALL))


def test_it_is_as_large_as_promised(web: DemoWeb) -> None:
    pages = [u for u in web.responses if is_html(web, u) and u not in web.duplicates]
    assert len(pages) >= 3000
    assert len(web.hosts) >= 40
    assert {url.split("/")[2] for url in web.responses} == set(web.hosts)


def test_every_url_is_canonical(web: DemoWeb) -> None:
    assert [url for url in web.responses if canonicalize(url) != url] == []


def test_pages_have_realistic_sizes_and_numbers_of_links(web: DemoWeb, links: Links) -> None:
    sizes = sorted(len(web.responses[url].body) for url in links)
    assert sizes[len(sizes) // 10] >= 3000
    assert 12_000 < sizes[-1] <= 24_000
    counts = [len(found) for found in links.values()]
    assert sum(15 <= count <= 80 for count in counts) > 0.9 * len(counts)


def test_every_link_leads_to_an_answer_that_was_meant(web: DemoWeb, links: Links) -> None:
    strangers = {
        link
        for found in links.values()
        for link in found
        if link not in web.responses and trap_page(link) is None
    }
    assert strangers == set()


def test_dead_links_redirects_chains_and_failures_occur(web: DemoWeb, links: Links) -> None:
    linked = {link for found in links.values() for link in found}
    statuses = {web.responses[link].status for link in linked if link in web.responses}
    assert statuses == {200, 301, 302, 404, 500}
    chained = [
        url
        for url, response in web.responses.items()
        if web.respond(response.headers.get("Location", "")).status in (301, 302)
    ]
    assert len(chained) > 5


def test_topics_have_known_members_on_several_hosts(web: DemoWeb) -> None:
    assert len(web.topics) >= 6
    for members in web.topics.values():
        assert 30 <= len(members) <= 120
        assert len({url.split("/")[2] for url in members}) >= 6
        assert all(is_html(web, url) for url in members)
        assert not members & web.duplicates.keys()


def test_duplicates_tell_the_same_as_their_originals(web: DemoWeb) -> None:
    assert any("?print=1" in url for url in web.duplicates)
    assert any("mirror." in url for url in web.duplicates)
    assert any("sid=" in url for url in web.duplicates)
    for copy, original in web.duplicates.items():
        paragraphs = LexborHTMLParser(web.responses[original].body.decode()).css("main p")
        text = paragraphs[1].text()
        assert text in LexborHTMLParser(web.responses[copy].body.decode()).text()


def test_all_members_can_be_reached_but_not_at_once(web: DemoWeb, links: Links) -> None:
    reached = distances(web, links, web.start_urls)
    members = frozenset[str]().union(*web.topics.values())
    assert members <= reached.keys()
    assert min(reached[url] for url in members) >= 2


def test_members_stay_reachable_without_what_robots_may_not_see(web: DemoWeb, links: Links) -> None:
    allowed = {
        url: found
        for url, found in links.items()
        if "/private/" not in url and not url.startswith("http://intranet.")
    }
    reached = distances(web, allowed, web.start_urls)
    assert frozenset[str]().union(*web.topics.values()) <= reached.keys()


def test_hidden_papers_are_linked_only_from_lists_of_publications() -> None:
    web = DemoWeb.generate(parameters=replace(SMALL, hidden_share=1.0))
    papers = {url for members in web.topics.values() for url in members if "/~" in url}
    assert papers
    for url in web.responses:
        if is_html(web, url):
            html = web.responses[url].body.decode("latin-1")
            assert "publications" in url or not any(f'href="{paper}"' in html for paper in papers)


@pytest.mark.parametrize(
    "difficulty",
    [
        {"topical_locality": 0.9},
        {"hidden_share": 0.0},
        {"anchor_noise": 0.9},
        {"topical_text": 0.2},
        {"vocabulary_overlap": 0.0},
        {"redirect_rate": 0.3},
    ],
)
def test_a_difficulty_changes_pages_but_does_not_move_them(
    small_web: DemoWeb, difficulty: dict[str, Any]
) -> None:
    other = DemoWeb.generate(parameters=replace(SMALL, **difficulty))
    assert other.topics == small_web.topics
    assert fingerprint(other) != fingerprint(small_web)


def test_sessions_have_the_promised_size(web: DemoWeb) -> None:
    assert web.sessions.keys() == web.topics.keys()
    for topic, session in web.sessions.items():
        assert session.topic == topic
        assert len({visit.url for visit in visits(session)}) >= 60
        assert len(visits(session)) <= 200
        assert 8 <= len(useful(session)) <= 25
        assert useful(session) <= web.topics[topic]
        assert len(useful(session)) <= len(web.topics[topic]) / 2
        assert isinstance(session.events[-1], Submit)
        times = [event.time for event in session.events]
        assert times == sorted(times)


def test_sessions_follow_links_that_exist(web: DemoWeb, links: Links) -> None:
    for session in web.sessions.values():
        for visit in visits(session):
            if visit.reached is Reached.LINK:
                assert visit.from_url is not None
                requested = visit.requested_url or visit.url
                assert requested in links[visit.from_url]
                assert follow(web, requested) == visit.url


def test_sessions_go_back_where_they_came_from(web: DemoWeb) -> None:
    for session in web.sessions.values():
        history: list[str] = []
        for visit in visits(session):
            if visit.frame_of is not None:
                assert visit.frame_of == history[-1]
            elif visit.reached is Reached.BACK:
                assert visit.from_url == history.pop()
                assert visit.url == history[-1]
            else:
                history.append(visit.url)


def test_sessions_show_wrong_turns_rejections_and_frames(web: DemoWeb) -> None:
    everything = [event for session in web.sessions.values() for event in session.events]
    assert any(isinstance(event, Mark) and event.useful is False for event in everything)
    assert any(isinstance(event, Visit) and event.frame_of for event in everything)
    for topic, session in web.sessions.items():
        assert any(visit.reached is Reached.BACK for visit in visits(session))
        off_topic = {visit.url for visit in visits(session)} - web.topics[topic]
        assert len(off_topic) >= 20


def test_visited_pages_carry_the_title_they_have_in_the_web(web: DemoWeb) -> None:
    visit = visits(web.sessions["bee-health"])[0]
    title = LexborHTMLParser(web.respond(visit.url).body.decode()).css_first("title")
    assert title is not None
    assert title.text() == visit.title


def test_robots_files_close_private_folders_and_one_host(web: DemoWeb) -> None:
    slow = 0
    for host in web.hosts:
        rules = Protego.parse(web.responses[f"http://{host}/robots.txt"].body.decode())
        closed = host.startswith("intranet.")
        assert rules.can_fetch(f"http://{host}/", "trailhound") is not closed
        assert not rules.can_fetch(f"http://{host}/private/x.html", "trailhound")
        slow += rules.crawl_delay("trailhound") is not None
    assert slow >= 2


def test_the_calendar_never_ends_and_counts_as_trap(web: DemoWeb, links: Links) -> None:
    first = trap_urls(1)[0]
    assert any(first in found for found in links.values())
    assert len(set(trap_urls(500))) == 500
    url = first
    for _ in range(40):
        tree = LexborHTMLParser(web.respond(url).body.decode())
        (url,) = [
            str(node.attributes["href"]) for node in tree.css("a") if node.text() == "Next month"
        ]
        assert trap_page(url) is not None
        assert url not in web.responses
        assert web.respond(url).status == 200


@pytest.mark.parametrize(
    "path", ["/calendar/2024/13", "/calendar/1999/01", "/calendar/2024/1", "/calendar/2024/01/99"]
)
def test_the_calendar_knows_no_impossible_dates(web: DemoWeb, path: str) -> None:
    assert web.respond(f"http://events.larkhaven-city.demo.test{path}").status == 404


def test_unknown_addresses_answer_404_and_fragments_do_not_matter(web: DemoWeb) -> None:
    start = web.start_urls[0]
    assert web.respond(start + "#top") == web.responses[start]
    assert web.respond(start + "no-such-page").status == 404
    assert web.respond("http://elsewhere.test/").status == 404


def test_any_session_id_leads_to_the_plain_page(web: DemoWeb) -> None:
    plain = next(original for copy, original in web.duplicates.items() if "?sid=" in copy)
    assert web.respond(f"{plain}?sid=00ff00ff00ff00ff") == web.responses[plain]


def test_pages_come_in_several_languages_and_encodings(web: DemoWeb) -> None:
    def body(url: str) -> bytes:
        return web.responses[url].body

    assert "山麓" in body("http://www.sanroku.demo.test/").decode("shift_jis")
    assert "協会" in body("http://www.sanroku.demo.test/news.html").decode("euc_jp")
    assert b'lang="de"' in body("http://www.rosental.demo.test/")
    assert b'lang="fr"' in body("http://www.valmont.demo.test/")
    wrong = 0
    for url, response in web.responses.items():
        if response.headers["Content-Type"].endswith("charset=utf-8"):
            try:
                body(url).decode("utf-8")
            except UnicodeDecodeError:
                wrong += 1
    assert wrong >= 5


def test_a_small_web_works_too(small_web: DemoWeb) -> None:
    assert len(small_web.responses) < 3000
    assert all(useful(session) for session in small_web.sessions.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [("topical_locality", 1.5), ("anchor_noise", -0.1), ("universities", 0), ("universities", 99)],
)
def test_impossible_parameters_are_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        DemoWebParameters(**{name: value})
