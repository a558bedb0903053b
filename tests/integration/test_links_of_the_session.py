"""Links that pages of the session have shown, where crawls meet the web of today."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from live_webs import Resource, Site, TinySite

from trailhound.records import Outcome
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.strategies.trail.entrances import MOST_UNTRIED
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.workspace import Workspace

INSIDE, OPEN = "http://intranet.test", "http://open.test"
BEES = "Bees make honey in their hives and dance about nectar and pollen in summer. " * 5
TAXES = "Tax returns, football scores, the weather of the day and a lottery. " * 5
NUMBERS = range(60)


def page(words: str, *links: str) -> str:
    return f"<html lang=en><title>{words[:20]}</title><p>{words}</p>{' '.join(links)}</html>"


def learned(workspace: Path, host: str, *links: str) -> Any:
    """From a front page with these links to a page that was useful."""
    front, hive = f"{host}/", f"{host}/hive"
    events = (
        Visit(1.0, front, html=page(TAXES, "<a href=/hive>honey</a>", *links)),
        Visit(2.0, hive, from_url=front, html=page(BEES)),
        Mark(3.0, hive),
        Visit(4.0, f"{host}/tax", from_url=front, html=page(TAXES)),
    )
    learn_into(Workspace(workspace), LearningRequest("bees", [Session("bees", events)]))
    return Workspace(workspace).topic("bees")


def test_a_host_that_is_closed_to_crawls_costs_few_requests(workspace_folder: Path) -> None:
    links = (f"<a href=/bees/{number}>honey {number}</a>" for number in NUMBERS)
    topic = learned(workspace_folder, INSIDE, *links)
    web = {
        f"/{number}": Resource(
            page(f"{number} {TAXES}", *(f"<a href=/{each}>{each}</a>" for each in NUMBERS)).encode()
        )
        for number in NUMBERS
    }
    with TinySite(web) as served:
        site = Site(topic, served.port, "*.test")
        with site.begun(
            crawl__strategy="trail",
            crawl__seeds=(f"{OPEN}/0",),
            crawl__max_requests=60,
            fetch__allow_addresses=("open.test",),
            fetch__delay_seconds=0.0,
            fetch__allow_impolite=True,
        ) as crawl:
            outcomes = [event.outcome for event in crawl.run()]
    assert 0 < outcomes.count(Outcome.ADDRESS_REFUSED) <= MOST_UNTRIED + 5
    assert outcomes.count(Outcome.FETCHED) >= 30


def test_where_a_person_was_logged_in_nothing_is_logged_out_or_deleted(
    workspace_folder: Path,
) -> None:
    links = ("<a href=/x?7>Log out</a>", "<a href=/y?8>Delete</a>", "<a href=/new>honey</a>")
    topic = learned(workspace_folder, OPEN, *links)
    paths = ("/", "/hive", "/tax", "/x?7", "/y?8", "/new")
    with TinySite({path: Resource(page(f"{path} {BEES}").encode()) for path in paths}) as web:
        site = Site(topic, web.port, "*.test")
        with site.begun(crawl__strategy="trail", crawl__seeds=(f"{OPEN}/tax",)) as crawl:
            list(crawl.run())
        assert {"/tax", "/new", "/"} <= set(web.paths())
        assert not {"/x?7", "/y?8"} & set(web.paths())
