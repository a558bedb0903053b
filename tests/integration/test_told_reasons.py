"""What is said when that which a crawl was given cannot lead anywhere, over loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from live_webs import Resource, Site, TinySite

from command_line import Command
from trailhound.cli.crawl_view import found_so_far, next_steps
from trailhound.config.layers import configure
from trailhound.crawling.build import OwnParts
from trailhound.demo import DemoWeb
from trailhound.errors import UsageError
from trailhound.fetching.resolver import MappedResolver
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.runs.turns import SearchTurns, TurnsRequest
from trailhound.topics.workspace import Workspace

HURRIED: dict[str, Any] = {"fetch__delay_seconds": 0.0, "fetch__allow_impolite": True}
"""It is our own server."""


def starved(demo: Site, **settings: Any) -> str:
    with demo.begun(**HURRIED, **settings) as crawl:
        list(crawl.run())
        return " ".join(next_steps(crawl))


def test_a_trace_whose_people_know_nothing_of_the_topic_is_noticed(
    demo: Site, tmp_path: Path
) -> None:
    log = tmp_path / "access.log"
    log.write_text(
        "".join(
            f"{1772366400 + n}.000 90 10.0.0.{n % 3} TCP_MISS/200 4000 GET http://far.test/{n} - "
            "HIER_DIRECT/192.0.2.1 text/html\n"
            for n in range(30)
        )
    )
    with demo.begun(crawl__strategy="collaborative", sources__trace=str(log), **HURRIED):
        pass
    assert any(f"Nobody in the trace {log} (of far.test)" in notice for notice in demo.notices)


def test_a_trace_of_nothing_but_the_session_is_noticed(demo: Site) -> None:
    for options, told in (("", 1), (":session=false", 0)):
        demo.notices.clear()
        strategy = f"collaborative{options}"
        with demo.begun(
            restart=not told, crawl__strategy=strategy, sources__trace="sessions", **HURRIED
        ):
            pass
        assert sum("hardly anything new" in notice for notice in demo.notices) == told


def test_a_judge_that_always_fails_is_not_taken_for_a_lack_of_links(
    demo: Site, web: DemoWeb, tmp_path: Path
) -> None:
    judge = tmp_path / "failing.py"
    judge.write_text("def judge(page):\n    raise RuntimeError('no database')\n")
    said = starved(demo, crawl__seeds=web.start_urls[:1], judge__kind=str(judge))
    assert "Mend the cause" in said
    assert "starved" not in said


def test_a_strategy_that_gave_up_says_what_lets_it_go_further(demo: Site, web: DemoWeb) -> None:
    said = starved(
        demo, crawl__seeds=web.start_urls[:1], crawl__strategy="fish-search:width=1,depth=0"
    )
    assert "a larger depth or width goes further" in said


def test_seeds_that_are_out_of_scope_are_named(demo: Site, web: DemoWeb) -> None:
    seed = web.start_urls[0]
    settings = {"crawl__seeds": [seed], "crawl__max_requests": 1, **HURRIED}
    for scope, told in (("elsewhere.test", 1), ("*.demo.test", 0)):
        demo.notices.clear()
        with demo.begun(restart=not told, crawl__scope=[scope], **settings):
            pass
        assert sum(f"{seed} is not in scope" in notice for notice in demo.notices) == told


def test_hosts_without_dns_are_no_reason_to_wait(demo: Site) -> None:
    dead = [f"http://dead.test/{number}" for number in range(5)]
    flags = demo.flags(crawl__seeds=dead, **HURRIED)
    request = CrawlRequest(configure(flags).settings, flags)
    own = OwnParts(resolver=MappedResolver({}, use_dns=False))
    with open_crawl(demo.topic, request, own=own) as crawl:
        list(crawl.run())
        assert set(crawl.progress.outcomes) == {"unknown-host"}
        assert "check your connection" in " ".join(next_steps(crawl))


def test_a_resumed_crawl_tells_what_was_found_before(demo: Site, web: DemoWeb) -> None:
    settings = {"crawl__strategy": "trail", "crawl__max_requests": 60, **HURRIED}
    with demo.begun(crawl__seeds=web.start_urls, **settings) as crawl:
        list(crawl.run())
        found = crawl.progress.relevant
        assert found
        assert "in all" not in found_so_far(crawl)
    with demo.resumed(crawl__max_requests=100) as crawl:
        assert found_so_far(crawl).endswith(f" in this run, {found:,} in all")
        assert "trailhound results" in " ".join(next_steps(crawl))


def test_a_budget_that_is_too_small_is_answered_with_one_that_is_not(
    demo: Site, web: DemoWeb
) -> None:
    with demo.begun(crawl__seeds=web.start_urls[:1], crawl__max_requests=8, **HURRIED) as crawl:
        list(crawl.run())
    with (
        pytest.raises(UsageError, match=r"its budget is 2\. Allow more with --max-requests 16"),
        demo.resumed(crawl__max_requests=2),
    ):
        pass


def test_turns_refuse_another_strategy_before_they_ask(demo: Site, web: DemoWeb) -> None:
    with demo.begun(crawl__seeds=web.start_urls[:1], crawl__max_requests=1, **HURRIED) as crawl:
        list(crawl.run())
    flags = demo.flags(crawl__strategy="content-link", sources__search="crawl")
    request = TurnsRequest(configure(flags).settings, flags)
    workspace = Workspace(demo.topic.path.parent.parent)
    with pytest.raises(UsageError, match="turns go on with it"):
        SearchTurns(workspace, demo.topic, request)
    assert not (demo.topic.path / "turns.json").exists()


def test_a_crawl_whose_host_rests_says_which_why_and_how_long(
    crawl: Command, site: TinySite
) -> None:
    busy = Resource(b"busy", 503, {"Retry-After": "86400"})
    site.resources = {"/0": Resource(b'<p>bees <a href="/1">one</a>'), "/1": busy}
    done = crawl()
    host, rest = f"127.0.0.1:{site.port}: HTTP 503", "; it may be asked again in 24 h 0 min (20"
    assert host in done.out
    assert rest in done.out
    site.asked.clear()
    again = crawl("--resume")
    assert not site.paths()
    assert again.code == 1
    assert host in again.out
    assert rest in again.out
    assert again.out.count(host) == 1
