"""Live crawls on loopback: what they keep, how they end, and how they go on."""

from __future__ import annotations

import asyncio
import gzip
import io
import re
import time
import urllib.request
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from live_webs import Resource, Site, TinySite, back_off_shortly
from rich.console import Console

from trailhound.cli.crawl_view import CrawlDisplay
from trailhound.config.layers import configure
from trailhound.crawling.budget import StopReason
from trailhound.crawling.build import OwnParts
from trailhound.crawling.metrics import CrawlMetrics, metrics_served
from trailhound.demo import DemoWeb
from trailhound.errors import ConfigError, UsageError
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.polite_settings import polite_delay
from trailhound.fetching.politeness import Politeness
from trailhound.fetching.resolver import MappedResolver, mapped_resolver
from trailhound.records import Candidate, Outcome, PageEvent
from trailhound.storage.results import RESULTS
from trailhound.storage.results_reading import Results
from trailhound.topics.control.overview import news
from trailhound.topics.finds.explaining import Explainer
from trailhound.topics.finds.opinions import Opinions
from trailhound.topics.runs.crawl import TopicCrawl
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.runs.seed_sitemaps import sitemap_candidates
from trailhound.topics.workspace import TopicFolder


@pytest.fixture
def bodies(web: DemoWeb, topic: TopicFolder) -> list[bytes]:
    """Pages that the topic's judge finds relevant: those it was taught with."""
    graph = topic.load().model.graph
    urls = [graph.pages[number].url for number in sorted(graph.targets)]
    return [web.respond(url).body for url in urls]


def run(crawl: TopicCrawl) -> list[PageEvent]:
    return list(crawl.run())


def page(*links: str) -> Resource:
    anchors = " ".join(f'<a href="{link}">link</a>' for link in links)
    return Resource(f"<title>Page</title><p>Something else.</p>{anchors}".encode())


def tiny(topic: TopicFolder, site: TinySite) -> Site:
    return Site(topic, site.port, "tiny.test")


def test_a_crawl_finds_pages_that_nobody_had_shown_it(
    demo: Site, web: DemoWeb, topic_name: str
) -> None:
    with demo.begun(crawl__seeds=web.start_urls, crawl__max_requests=400) as crawl:
        events = run(crawl)
        assert crawl.stop_reason is StopReason.REQUESTS_SPENT
        assert events[-1].requests_total == 400, "redirects in flight included"
        assert crawl.stats().waiting > 0
    known = {each.url for each in demo.topic.load().model.graph.pages}
    with Results(crawl.folder.results) as results:
        found = {each.address for each in results.ranked(only_new=True)}
        assert len(found & web.topics[topic_name]) >= 3
        assert not found & known
        for each in results.ranked(5):
            path = results.path_to(each)
            assert path[0] in web.start_urls
            assert path[-1] == each.address
        assert results.summary().pages == len(events)
    names = {entry.name for entry in crawl.folder.path.iterdir()}
    assert names >= {"archive", "crawl.json", "frontier.db", "log.jsonl", "results.db"}


def test_a_resumed_crawl_goes_on_with_its_settings_and_numbers(demo: Site, web: DemoWeb) -> None:
    with demo.begun(crawl__seeds=web.start_urls, crawl__max_requests=30) as crawl:
        first = run(crawl)
    with pytest.raises(UsageError, match="has a crawl already"), demo.begun(crawl__seeds=["x"]):
        pass
    with pytest.raises(UsageError, match=r"30 requests.*--max-requests 60"), demo.resumed():
        pass
    record = demo.topic.path / "crawl" / "crawl.json"
    record.write_bytes(record.read_bytes().replace(b"max_requests", b"max_pages"))  # an old one
    with demo.resumed(crawl__max_requests=60) as crawl:
        second = run(crawl)
        assert crawl.settings.crawl.strategy == "best-first"
    assert second[0].number == first[-1].number + 1
    assert second[-1].requests_total == 60
    asked = [event.url for event in first + second]
    assert len(set(asked)) == len(asked)
    with pytest.raises(UsageError, match="begun with"), demo.resumed(crawl__strategy="random"):
        pass


def test_a_login_in_an_address_is_written_nowhere(demo: Site, web: DemoWeb) -> None:
    seed = web.start_urls[0].replace("http://", "http://ann:hunter2@")
    host = seed.split("@")[1].split("/")[0]
    with demo.begun(
        crawl__seeds=(seed,),
        crawl__scope=(seed, f"ann:hunter2@{host}"),
        crawl__exclude=("https://ann:hunter2@other.test/private/@me",),
        crawl__max_requests=3,
    ) as crawl:
        assert crawl.settings.crawl.scope == (web.start_urls[0], host)
        assert crawl.settings.crawl.exclude == ("https://other.test/private/@me",)
        run(crawl)
    for path in crawl.folder.path.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        content += gzip.decompress(content) if path.suffix == ".gz" else b""
        assert b"hunter2" not in content, path.name


def test_a_restart_sets_the_old_crawl_aside(demo: Site, web: DemoWeb) -> None:
    for restart in (False, True, True):
        with demo.begun(
            restart=restart, crawl__seeds=web.start_urls[:1], crawl__max_requests=3
        ) as crawl:
            assert run(crawl)[0].number == 1
    with (
        pytest.raises(ConfigError, match="neither a host"),
        demo.begun(restart=True, crawl__seeds=web.start_urls, crawl__scope=("a b",)),
    ):
        pass
    names = sorted(path.name for path in demo.topic.path.glob("crawl-*"))
    assert names == ["crawl-1", "crawl-2"], "a mistake moves nothing"
    assert "crawl-1" in demo.notices[0]


def test_a_crawl_stopped_from_outside_deals_with_what_is_in_flight(
    demo: Site, web: DemoWeb
) -> None:
    with demo.begun(crawl__seeds=web.start_urls, crawl__max_requests=500) as crawl:
        events = []
        for event in crawl.run():
            events.append(event)
            if len(events) == 20:
                crawl.stop()
        assert crawl.stop_reason is StopReason.INTERRUPTED
        assert crawl.stats().leased == 0
    assert 20 <= len(events) <= 40
    assert crawl.folder.read().ended == StopReason.INTERRUPTED.value


def test_a_crawl_that_has_nothing_left_says_so(topic: TopicFolder) -> None:
    with TinySite({"/": page("/a"), "/a": page("/", "http://far.test/")}) as server:
        site = tiny(topic, server)
        with site.begun(crawl__seeds=["http://tiny.test/"], crawl__same_domain=True) as crawl:
            assert [event.url for event in run(crawl)] == [
                "http://tiny.test/",
                "http://tiny.test/a",
            ]
            assert crawl.stop_reason is StopReason.FRONTIER_EMPTY
        server.resources["/more"] = page()
        with site.resumed(crawl__seeds=("http://tiny.test/more",)) as crawl:
            (event,) = run(crawl)
            assert (event.url, event.number) == ("http://tiny.test/more", 3)


def test_where_a_seed_leads_is_not_called_a_seed(topic: TopicFolder) -> None:
    resources = {"/": Resource(b"", 302, {"Location": "/home"}), "/home": page()}
    with TinySite(resources) as server:
        with tiny(topic, server).begun(crawl__seeds=["http://tiny.test/"]) as crawl:
            run(crawl)
        with Results(crawl.folder.results) as results:
            tell = Explainer(crawl.folder, results, lambda _: {})
            assert "It is a seed." in tell.explain("http://tiny.test/").details
            home = tell.explain("http://tiny.test/home").details
    assert "http://tiny.test/ redirects to it." in home
    assert "http://tiny.test/ is a seed." in home


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("max_requests", [2, 3, 6])
def test_redirects_never_cost_more_than_the_budget(
    topic: TopicFolder, concurrency: int, max_requests: int
) -> None:
    resources = {"/": page("/a0", "/b0", "/c0")}
    for name in "abc":  # two redirects in a row lead to each page
        resources |= {
            f"/{name}{n}": Resource(b"", 302, {"Location": f"{name}{n + 1}"}) for n in (0, 1)
        }
        resources[f"/{name}2"] = page()
    with TinySite(resources) as server:
        site = tiny(topic, server)
        with site.begun(
            crawl__seeds=["http://tiny.test/"],
            crawl__max_requests=max_requests,
            crawl__concurrency=concurrency,
        ) as crawl:
            run(crawl)
            assert crawl.stop_reason is StopReason.REQUESTS_SPENT
            assert crawl.progress.requests == len(server.paths()) == max_requests
        with site.resumed(crawl__max_requests=100) as crawl:
            run(crawl)
        assert sorted(server.paths()) == sorted(resources), "each once: it goes on where it was"


def test_a_crawl_gives_up_when_told_to_and_nothing_is_relevant(topic: TopicFolder) -> None:
    chain = {f"/{number}": page(f"/{number + 1}") for number in range(60)}
    with TinySite(chain) as server:
        site = tiny(topic, server)
        with site.begun(crawl__seeds=["http://tiny.test/0"], crawl__give_up_after=10) as crawl:
            assert len(run(crawl)) in (10, 11), "one may have been in flight"
            assert crawl.stop_reason is StopReason.BARREN


def test_a_crawl_does_not_idle_when_all_hosts_want_to_be_left_alone(topic: TopicFolder) -> None:
    busy = Resource(b"busy", 503, {"Retry-After": "3600"})
    with TinySite({"/": page("/a", "/b"), "/a": busy, "/b": busy}) as server:
        site = tiny(topic, server)
        with site.begun(crawl__seeds=["http://tiny.test/"]) as crawl:
            run(crawl)
            assert crawl.stop_reason is StopReason.HOSTS_ASLEEP
            assert crawl.stats().waiting == 2
        asked = next(path for path, status in server.asked if status == 503)
        with Results(crawl.folder.results) as results:
            story = Explainer(crawl.folder, results, lambda _: {}).explain(
                f"http://tiny.test{asked}"
            )
        assert story.verdict == "waiting"
        assert "It waits for another attempt: HTTP 503" in story.because


def test_a_refresh_asks_relevant_pages_for_news(topic: TopicFolder, bodies: list[bytes]) -> None:
    relevant = {
        f"/{number}": Resource(body, headers={"ETag": f'"{number}"'})
        for number, body in enumerate(bodies[:3])
    }
    with TinySite({"/": page("/0", "/1", "/2"), **relevant}) as server:
        site = tiny(topic, server)
        with site.begun(
            crawl__seeds=["http://tiny.test/"], crawl__scope=("tiny.test",), crawl__max_requests=4
        ) as crawl:
            run(crawl)
            assert crawl.progress.relevant == 3
        server.asked.clear()
        before = time.time()
        server.resources["/1"] = Resource(bodies[3], headers={"ETag": '"new"'})
        del server.resources["/2"]
        with site.resumed(refresh=True) as crawl:
            run(crawl)
            assert crawl.progress.outcomes == {"not-modified": 1, "fetched": 1, "not-found": 1}
        assert sorted(server.asked)[:3] == [("/0", 304), ("/1", 200), ("/2", 404)]
        with Results(crawl.folder.results) as results:
            left = {each.address: each.etag for each in results.ranked()}
        assert left == {"http://tiny.test/0": '"0"', "http://tiny.test/1": '"new"'}
        (changed,) = news(crawl.folder, since=before).pages
        assert (changed.page.address, changed.is_new) == ("http://tiny.test/1", False)


def test_what_a_new_crawl_finds_again_is_no_news(topic: TopicFolder, bodies: list[bytes]) -> None:
    relevant = {f"/{number}": Resource(body) for number, body in enumerate(bodies[:3])}
    links = {"/": page("/0", "/1"), "/more": page("/2")}
    with TinySite({**links, **relevant}) as server:
        site = tiny(topic, server)
        limits: dict[str, Any] = {
            "crawl__scope": ("tiny.test",),
            "crawl__seeds": ["http://tiny.test/"],
        }
        with site.begun(**limits) as crawl:
            run(crawl)
        now = time.time()
        assert news(crawl.folder, since=0.0).new == 2
        limits["crawl__seeds"] = ["http://tiny.test/", "http://tiny.test/more"]
        with site.begun(restart=True, **limits) as crawl:
            run(crawl)
        (new,) = news(crawl.folder, since=now).pages
        assert new.page.address == "http://tiny.test/2"
        assert news(crawl.folder, since=0.0).new == 3


def test_only_pages_that_are_due_are_asked_for_news(
    topic: TopicFolder, bodies: list[bytes]
) -> None:
    relevant = {f"/{number}": Resource(body) for number, body in enumerate(bodies[:3])}
    with TinySite({"/": page("/0", "/1", "/2"), **relevant}) as server:
        site = tiny(topic, server)
        with site.begun(crawl__seeds=["http://tiny.test/"], crawl__scope=("tiny.test",)) as crawl:
            run(crawl)
            assert crawl.progress.relevant == 3
        with site.resumed(refresh=True, only_due=True) as crawl:
            assert run(crawl) == []
        with closing(RESULTS.open(crawl.folder.results)) as results:
            results.execute("UPDATE visit SET seen_at = seen_at - 100000 WHERE address LIKE '%/1'")
        server.asked.clear()
        with site.resumed(refresh=True, only_due=True) as crawl:
            (event,) = run(crawl)
        assert event.final_url == "http://tiny.test/1"
        assert server.paths() == ["/1"]
        assert news(crawl.folder, since=event.at - 1e-6).pages == [], "it says what it said"


def test_copies_do_not_count_twice_even_after_a_restart(
    topic: TopicFolder, bodies: list[bytes]
) -> None:
    body = max(bodies, key=len).replace(b"<a href", b"<a name")
    resources = {"/": page("/a", "/b"), "/a": Resource(body), "/b": Resource(body)}
    with TinySite(resources) as server:
        site = tiny(topic, server)
        with site.begun(crawl__seeds=["http://tiny.test/"], crawl__max_requests=2) as crawl:
            run(crawl)
            assert crawl.progress.relevant == 1
        with site.resumed(crawl__max_requests=3) as crawl:
            (event,) = run(crawl)
            assert event.duplicate_of == "http://tiny.test/a"
            assert (crawl.progress.relevant, crawl.progress.duplicates) == (0, 1)


def test_sitemaps_and_feeds_are_further_seeds(topic: TopicFolder) -> None:
    robots = Resource(b"Sitemap: http://tiny.test/maps.xml", headers={"Content-Type": "text/plain"})
    index = b"<sitemapindex><sitemap><loc>http://tiny.test/map.xml</loc></sitemap></sitemapindex>"
    urls = "".join(f"<url><loc>http://tiny.test/{name}</loc></url>" for name in "ab")
    xml = {"Content-Type": "application/xml"}
    resources = {
        "/robots.txt": robots,
        "/maps.xml": Resource(index, headers=xml),
        "/map.xml": Resource(f"<urlset>{urls}</urlset>".encode(), headers=xml),
        "/": page(),
        "/a": page(),
        "/b": page(),
    }
    with TinySite(resources) as server:
        site = tiny(topic, server)
        with site.begun(
            crawl__seeds=["http://tiny.test/"], crawl__sitemaps=True, crawl__concurrency=1
        ) as crawl:
            events = run(crawl)
        assert server.paths()[:3] == ["/maps.xml", "/map.xml", "/"]
        assert sorted(server.paths()[3:]) == ["/a", "/b"], "as promising as each other"
        assert events[0].requests_total == 3, "every request counts"
        assert "list 2 pages" in site.notices[0]


def test_no_sitemap_is_asked_of_an_excluded_host(topic: TopicFolder) -> None:
    announced = ("bank.test/statement.xml", "cdn.test/map.xml", "tiny.test/private/map.xml")
    robots = "".join(f"Sitemap: http://{each}\n" for each in announced).encode()
    resources = {
        "/robots.txt": Resource(robots, headers={"Content-Type": "text/plain"}),
        "/map.xml": Resource(b"<urlset><url><loc>http://tiny.test/a</loc></url></urlset>"),
        "/": page(),
        "/a": page(),
    }
    with TinySite(resources) as server:
        with Site(topic, server.port, "*.test").begun(
            crawl__seeds=["http://tiny.test/", "http://bank.test/seed"],
            crawl__sitemaps=True,
            crawl__scope=["tiny.test"],
            crawl__exclude=["bank.test", "http://tiny.test/private/"],
        ) as crawl:
            ends = {event.url: str(event.outcome) for event in run(crawl)}
        assert sorted(server.paths()) == ["/", "/a", "/map.xml"], "files may be elsewhere"
        assert server.asked.count(("/robots.txt", 200)) == 2, "of tiny.test and cdn.test"
    assert ends["http://bank.test/seed"] == "out-of-scope"


def test_large_sitemaps_are_read_and_unread_ones_told(
    topic: TopicFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trailhound.fetching.http.MAX_SITEMAP_BYTES", 400_000)
    xml = {"Content-Type": "application/xml"}
    names = ("broken", "large", "larger")
    robots = "".join(f"Sitemap: http://tiny.test/{name}.xml\n" for name in names).encode()

    def listing(name: str, pages: int) -> Resource:
        entries = (f"<url><loc>http://tiny.test/{name}{n}</loc></url>" for n in range(pages))
        return Resource(f"<urlset>{''.join(entries)}</urlset>".encode(), headers=xml)

    resources = {
        "/robots.txt": Resource(robots, headers={"Content-Type": "text/plain"}),
        "/broken.xml": Resource(b"<html><p>No.", headers=xml),
        "/large.xml": listing("a", 4_000),
        "/larger.xml": listing("b", 20_000),
    }
    with TinySite(resources) as server:
        site = tiny(topic, server)
        with site.begun(
            crawl__seeds=["http://tiny.test/"],
            crawl__sitemaps=True,
            crawl__max_requests=4,
            fetch__max_bytes=100_000,
        ) as crawl:
            run(crawl)
    told = re.search(r"list ([0-9,]+) pages; queued: 500\. (.*)", site.notices[0])
    assert told is not None
    assert 8_000 < int(told[1].replace(",", "")) < 20_000
    assert told[2].startswith("Not read as a whole: http://tiny.test/broken.xml (its XML is ")
    assert told[2].endswith(", and 1 more.")


def site_of_sitemaps() -> dict[str, Resource]:
    """An index of five sitemaps, the first of which has moved, with a page in each."""
    xml = {"Content-Type": "application/xml"}
    maps = "".join(f"<sitemap><loc>http://tiny.test/{n}.xml</loc></sitemap>" for n in range(5))
    resources = {
        "/": page(),
        "/sitemap.xml": Resource(f"<sitemapindex>{maps}</sitemapindex>".encode(), headers=xml),
        "/0.xml": Resource(b"", 301, {"Location": "moved.xml"}),
    }
    for name in ("moved", *"1234"):
        url = f"<url><loc>http://tiny.test/{name}</loc></url>"
        resources[f"/{name}.xml"] = Resource(f"<urlset>{url}</urlset>".encode(), headers=xml)
        resources[f"/{name}"] = page()
    return resources


@pytest.mark.parametrize("max_requests", [1, 2, 3, 5, 9])
def test_sitemaps_never_cost_more_than_the_budget(topic: TopicFolder, max_requests: int) -> None:
    with TinySite(site_of_sitemaps()) as server:
        site = tiny(topic, server)
        seeds = ["http://tiny.test/"]
        with site.begun(
            crawl__seeds=seeds, crawl__sitemaps=True, crawl__max_requests=max_requests
        ) as crawl:
            run(crawl)
            assert crawl.stop_reason is StopReason.REQUESTS_SPENT
            assert crawl.progress.requests == len(server.paths()) == max_requests
        with pytest.raises(UsageError, match=f"--max-requests {2 * max_requests}"), site.resumed():
            pass


def test_a_crawl_that_is_stopped_reads_no_further_sitemap(topic: TopicFolder) -> None:
    with TinySite(site_of_sitemaps()) as server:
        site = tiny(topic, server)
        with site.begun(crawl__seeds=["http://tiny.test/"], crawl__sitemaps=True) as crawl:
            crawl.stop()
            assert run(crawl) == []
            assert crawl.stop_reason is StopReason.INTERRUPTED
        assert server.asked == []
        assert "reads them when it goes on" in site.notices[-1]
        with site.resumed() as crawl:
            assert len(run(crawl)) == 6, "now they are read"
        server.asked.clear()
        with site.resumed(crawl__seeds=["http://tiny.test/1"]) as crawl:
            assert run(crawl) == []
        assert server.paths()[:2] == ["/sitemap.xml", "/0.xml"], "those of a new seed"
        server.asked.clear()
        with site.resumed() as crawl:
            assert run(crawl) == []
        assert server.paths() == []


@pytest.mark.parametrize("max_requests", [1, 3, 6])
def test_sitemaps_that_the_budget_cuts_short_are_read_by_the_next_run(
    topic: TopicFolder, max_requests: int
) -> None:
    with TinySite(site_of_sitemaps()) as server:
        site = tiny(topic, server)
        with site.begun(
            crawl__seeds=["http://tiny.test/"],
            crawl__sitemaps=True,
            crawl__max_requests=max_requests,
        ) as crawl:
            run(crawl)
        assert "reads them when it goes on" in site.notices[-1]
        with site.resumed(crawl__max_requests=100) as crawl:
            run(crawl)
        names = {"/", "/moved", "/1", "/2", "/3", "/4"}
        assert names <= set(server.paths())


def test_sitemaps_that_a_killed_crawl_was_reading_are_read_by_the_next_run(
    topic: TopicFolder,
) -> None:
    with TinySite(site_of_sitemaps()) as server:
        site = tiny(topic, server)
        with site.begun(crawl__seeds=["http://tiny.test/"], crawl__sitemaps=True) as crawl:
            ask = crawl._may_ask
            assert crawl.sitemaps is not None
            crawl.sitemaps._may_ask = lambda made: ask(made) if made < 3 else 1 / 0 > 0
            with pytest.raises(ZeroDivisionError):
                run(crawl)
        with site.resumed() as crawl:
            assert len({event.url for event in run(crawl)}) == 6


def test_what_sitemaps_have_listed_is_known_when_they_are_cut_short() -> None:
    found: list[Candidate] = []

    async def room(made: int) -> None:
        if made == 3:
            raise asyncio.CancelledError

    async def read(port: int) -> None:
        fetcher = HttpFetcher(
            "bot (+http://tiny.test/)",
            politeness=Politeness(polite_delay(0.0)),
            allow_impolite=True,
            allow_addresses=["tiny.test"],
            resolver=mapped_resolver([f"tiny.test=127.0.0.1:{port}"]),
        )
        seeds, notices = ["http://tiny.test/"], list[str]()
        try:
            with pytest.raises(asyncio.CancelledError):
                await sitemap_candidates(
                    fetcher, seeds, None, notices.append, room=room, candidates=found
                )
        finally:
            await fetcher.close()

    with TinySite(site_of_sitemaps()) as server:
        asyncio.run(read(server.port))
    assert [candidate.url for candidate in found] == ["http://tiny.test/moved"]


@pytest.mark.parametrize(
    ("delay", "requests", "pages", "told"), [(8.0, 7, 5, ""), (90.0, 3, 1, "no time")]
)
def test_sitemaps_of_a_slow_host_are_waited_for(
    delay: float, requests: int, pages: int, told: str
) -> None:
    now, notices = 0.0, list[str]()

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    polite = replace(polite_delay(delay), address_delay_seconds=0.5)
    politeness = Politeness(polite, clock=lambda: now, wall_clock=lambda: now, sleep=sleep)

    async def listed(port: int) -> list[Candidate]:
        fetcher = HttpFetcher(
            "bot (+http://tiny.test/)",
            politeness=politeness,
            allow_addresses=["tiny.test"],
            resolver=mapped_resolver([f"tiny.test=127.0.0.1:{port}"]),
        )
        try:
            seeds = ["http://tiny.test/"]
            listed = await sitemap_candidates(fetcher, seeds, None, notices.append, sleep=sleep)
            return listed.candidates
        finally:
            await fetcher.close()

    with TinySite(site_of_sitemaps()) as server:
        found = asyncio.run(listed(server.port))
        assert len(server.paths()) == requests
    assert len(found) == pages
    assert now >= delay * requests
    assert told in notices[-1]


def test_attempts_count_in_the_next_run_as_well(topic: TopicFolder) -> None:
    busy = Resource(b"busy", 503, {"Retry-After": "3600"})
    with TinySite({"/": busy}) as server:
        site = tiny(topic, server)
        with site.begun(crawl__seeds=["http://tiny.test/"], crawl__max_requests=2) as crawl:
            assert run(crawl) == [], "no page has come of it yet"
            assert crawl.progress.requests == len(server.paths()) == 1
        with site.resumed() as crawl:
            assert crawl.progress.requests == 1


def metrics_of(crawl: TopicCrawl) -> CrawlMetrics:
    return CrawlMetrics(crawl.folder.topic.name, crawl.progress, crawl.stats)


def test_metrics_are_served_on_this_machine(demo: Site, web: DemoWeb) -> None:
    with (
        demo.begun(crawl__seeds=web.start_urls, crawl__max_requests=10) as crawl,
        metrics_served(0, metrics_of(crawl)) as address,
    ):
        run(crawl)
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=10) as answer:
            text = answer.read().decode()
        assert "trailhound_requests_total" in text
        port = int(address.split(":")[2].partition("/")[0])
        with (
            pytest.raises(ConfigError, match="another port"),
            metrics_served(port, metrics_of(crawl)),
        ):
            pass


def test_a_running_crawl_can_be_watched(demo: Site, web: DemoWeb) -> None:
    with demo.begun(crawl__seeds=web.start_urls, crawl__max_requests=40) as crawl:
        display = CrawlDisplay(crawl)
        with display.shown():
            for _ in crawl.run():
                display.update()
        assert re.search(r"4\d requests, \d+ relevant .* waiting on \d+ hosts", display.line())
        console = Console(file=io.StringIO(), width=100)
        crawl.is_stopping = True
        console.print(display.picture())
        text = console.file.getvalue() if isinstance(console.file, io.StringIO) else ""
    for words in ("requests", "of 40", "relevant", "frontier", "fetched", "Ctrl-C again"):
        assert words in text


def test_explanations(demo: Site, web: DemoWeb, port: int) -> None:
    with demo.begun(
        crawl__seeds=web.start_urls, crawl__max_requests=200, crawl__scope=("*.demo.test",)
    ) as crawl:
        events = {event.url: event for event in run(crawl)}
        waiting = crawl._stores.frontier.lease(1, 1e12)[0]
    with Results(crawl.folder.results) as results:
        tell = Explainer(crawl.folder, results, lambda memory: {"figure": float(len(memory))})
        seed = tell.explain(web.start_urls[0])
        assert (seed.verdict, seed.path) == ("fetched", [web.start_urls[0]])
        assert "It is a seed." in seed.details
        found = max(events.values(), key=lambda event: event.depth)
        story = tell.explain(found.url)
        assert story.number == found.number
        assert story.priority == found.priority
        assert len(story.path) >= 3
        assert story.path[0] in web.start_urls
        refused = next(e for e in events.values() if e.outcome is Outcome.ROBOTS)
        assert "robots.txt" in tell.explain(refused.url).because
        queued = tell.explain(waiting.url)
        assert (queued.verdict, queued.ahead) == ("waiting", 0)
        assert "budget is spent" in queued.because
        assert tell.explain("http://elsewhere.example/").verdict == "out-of-scope"
        assert tell.explain("http://www.demo.test/unheard-of").verdict == "never-seen"
        trap = "http://www.demo.test" + "/a/b" * 15
        assert (trap_story := tell.explain(trap)).verdict == "refused"
        assert "trap" in trap_story.because
        tracked = tell.explain(f"{found.url}{'&' if '?' in found.url else '?'}utm_source=x")
        assert tracked.number == found.number
        with pytest.raises(UsageError, match="no web address"):
            tell.explain("mailto:somebody@example.org")


def test_hidden_markov_beliefs_can_be_put_into_words(demo: Site, web: DemoWeb) -> None:
    with demo.begun(
        crawl__seeds=web.start_urls, crawl__max_requests=15, crawl__strategy="hidden-markov"
    ) as crawl:
        events = run(crawl)
    with Results(crawl.folder.results) as results:
        explainer = Explainer(crawl.folder, results, Opinions(crawl.folder, results).belief)
        told = explainer.explain(events[-1].url).belief
        assert explainer.explain(web.start_urls[0]).belief == {}
    assert list(told) == ["a target", "1 hop", "2 hops", "3 hops or more"]
    assert sum(told.values()) == pytest.approx(1.0, abs=1e-5)


def test_settings_that_cannot_work_are_found_before_anything_is_written(
    demo: Site, web: DemoWeb
) -> None:
    seeds = web.start_urls
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"fetch__user_agent": ""}, ConfigError, "who it is"),
        ({"fetch__user_agent": "bot"}, ConfigError, "whom to contact"),
        ({"fetch__delay_seconds": 0.1}, ConfigError, "impolite"),
        ({"fetch__resolve": ("nonsense",)}, ConfigError, "HOST=ADDRESS"),
        ({"crawl__scope": ("a b",)}, ConfigError, "neither a host"),
        ({"crawl__strategy": "best-frist"}, UsageError, "Did you mean best-first"),
        ({"crawl__seeds": (), "crawl__scope": ("else.test",)}, UsageError, "--seed URL"),
        ({"crawl__seeds": ("mailto:x",)}, UsageError, "no web address"),
    ]
    for changed, kind, words in wrong:
        settings: dict[str, Any] = {"crawl__seeds": seeds, **changed}
        with pytest.raises(kind, match=words), demo.begun(**settings):
            pass
    with pytest.raises(UsageError, match="has not been crawled yet"), demo.resumed():
        pass
    assert not (demo.topic.path / "crawl").exists()


def test_a_host_without_dns_costs_two_requests_whatever_leads_there(
    topic: TopicFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_off_shortly(monkeypatch, 0.01)
    dead = [f"http://dead.test/{number}" for number in range(30)]
    with TinySite({"/": page(*dead, "/a"), "/a": page()}) as server:
        flags = tiny(topic, server).flags(crawl__seeds=["http://tiny.test/"])
        flags["fetch.resolve"] = ()
        nowhere_else = MappedResolver({"tiny.test": f"127.0.0.1:{server.port}"}, use_dns=False)
        request = CrawlRequest(configure(flags).settings, flags)
        with open_crawl(topic, request, own=OwnParts(resolver=nowhere_else)) as crawl:
            events = run(crawl)
            assert crawl.stop_reason is StopReason.HOSTS_ASLEEP
            assert crawl.progress.outcomes == {"fetched": 2, "unknown-host": 2}
            assert crawl.progress.requests == 4
            assert crawl.stats().waiting == 28, "DNS may know it tomorrow"
        assert len(events) == 4


def test_a_crawl_that_reaches_nobody_ends_at_once_and_says_why(topic: TopicFolder) -> None:
    with TinySite({"/": page()}) as server:
        site = tiny(topic, server)
    with site.begun(crawl__seeds=["http://tiny.test/"]) as crawl:
        assert not run(crawl)
        assert crawl.stop_reason is StopReason.HOSTS_ASLEEP
        assert "no connection" in crawl.put_off["tiny.test"]
    with site.begun(crawl__seeds=["http://tiny.test/"], restart=True) as crawl:
        assert not run(crawl)
        assert crawl.stop_reason is StopReason.HOSTS_ASLEEP
        assert crawl.put_off["tiny.test"], "the host is left alone after a restart, too"
