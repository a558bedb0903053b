"""Builds all sites: plans every page, then writes them."""

from __future__ import annotations

from trailhound.demo.pages import WebPlan
from trailhound.demo.parameters import DemoWebParameters
from trailhound.demo.sites.clubs import CLUBS, Club
from trailhound.demo.sites.directories import PATHFINDER_HOST, CampusLinks, Pathfinder
from trailhound.demo.sites.forums import FORUMS, Forum
from trailhound.demo.sites.news import NEWSPAPERS, Newspaper
from trailhound.demo.sites.oddities import ForeignSites, Mirror
from trailhound.demo.sites.regional import CITY_HOST, CityPortal, HomePages, Intranet
from trailhound.demo.sites.shops import SHOPS, Shop
from trailhound.demo.sites.universities import University
from trailhound.demo.sites.workshop import SiteBuilder, Workshop


def start_urls() -> tuple[str, ...]:
    """The web directory, a newspaper and a town: where crawls may begin."""
    hosts = (PATHFINDER_HOST, NEWSPAPERS[0].host, CITY_HOST)
    return tuple(f"http://{host}/" for host in hosts)


def build_plan(seed: int, parameters: DemoWebParameters) -> WebPlan:
    """All pages, written but not yet rendered."""
    plan = WebPlan()
    builders = _builders(Workshop(seed, parameters, plan))
    for builder in builders:
        builder.plan()
    for builder in builders:
        builder.write()
    return plan


def _builders(workshop: Workshop) -> list[SiteBuilder]:
    universities = [University(workshop, n) for n in range(workshop.parameters.universities)]
    return [
        *universities,
        *(Club(workshop, kind) for kind in CLUBS),
        *(Shop(workshop, kind) for kind in SHOPS),
        *(Newspaper(workshop, kind) for kind in NEWSPAPERS),
        *(Forum(workshop, kind) for kind in FORUMS),
        Pathfinder(workshop, universities),
        CampusLinks(workshop, universities),
        CityPortal(workshop),
        HomePages(workshop),
        Intranet(workshop),
        Mirror(workshop),
        ForeignSites(workshop),
    ]
