"""Many people read the demo web by what interests them: the log of a proxy that they share.

Nobody looks for anything in particular. A person opens pages on her subject, follows links, is
distracted, and leaves. Of each topic's pages only a share is ever opened by anybody, so that the
log helps a crawl without giving the answer away.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from trailhound.demo.browsing import FIRST_SESSION, WalkableWeb
from trailhound.demo.pages import CLOSED_HOST_PREFIX
from trailhound.demo.words import TOPIC_KEYS, DemoWebParameters
from trailhound.demo.workshop import WebPlan

_DAY_SECONDS = 86_400
_DAYS = 28
"""The log ends the day before the first session is recorded."""
_FROM_MEMORY = 0.25
"""Share of steps to another page on her subject that she knows, whatever links to it."""
_DISTRACTED = 0.15
"""Share of steps to any page of the web."""
_FAITHFUL = 0.7
"""Share of visits that are about a person's first interest; the others about her second."""


class Reading(NamedTuple):
    """One visit of one person to the web."""

    user: str
    """The address of her computer."""
    time: float
    """Unix time of the first page, in seconds."""
    seconds: float
    """From the first page to the last; the pages between follow at even distances."""
    urls: tuple[str, ...]

    def accesses(self) -> list[tuple[float, str]]:
        """Time and URL of each page."""
        pause = self.seconds / max(1, len(self.urls) - 1)
        return [(self.time + pause * number, url) for number, url in enumerate(self.urls)]


def record_readings(plan: WebPlan, seed: int, parameters: DemoWebParameters) -> tuple[Reading, ...]:
    """What everybody read, in order of time; the plan's pages must have been rendered."""
    random = Random(f"trailhound demo web/{seed}/access log")
    library = _Library(plan, random, parameters.read_share)
    readings: list[Reading] = []
    for number in range(parameters.readers):
        user = f"10.0.{number // 250}.{number % 250 + 1}"
        interests = random.sample(library.subjects, 2)
        for _ in range(random.randint(3, 8)):
            subject = interests[random.random() >= _FAITHFUL]
            readings.append(_one_visit(user, subject, library, random))
    return tuple(sorted(readings))


def _one_visit(user: str, subject: str, library: _Library, random: Random) -> Reading:
    urls = [library.known(subject)]
    for _ in range(random.randint(3, 10)):
        url = _next_page(urls[-1], subject, library, random)
        if url not in urls:
            urls.append(url)
    day = random.randrange(1, _DAYS + 1)
    begin = FIRST_SESSION - day * _DAY_SECONDS + random.randrange(10 * 3600)
    return Reading(user, begin, float(sum(random.randint(8, 150) for _ in urls[1:])), tuple(urls))


def _next_page(here: str, subject: str, library: _Library, random: Random) -> str:
    chance = random.random()
    if chance < _DISTRACTED:
        return random.choice(library.all_urls)
    links = library.links(here) if chance >= _DISTRACTED + _FROM_MEMORY else []
    to_the_point = [url for url in links if library.is_about(url, subject)]
    if not links or (not to_the_point and random.random() < 0.5):
        return library.known(subject)
    return random.choice(to_the_point or links)


class _Library:
    """The pages that people read at all."""

    def __init__(self, plan: WebPlan, random: Random, read_share: float) -> None:
        self._random = random
        unread: set[str] = set()
        for topic in TOPIC_KEYS:
            members = plan.members(topic)
            n_unread = len(members) - round(read_share * len(members))
            unread.update(page.url for page in random.sample(members, n_unread))
        hosts = {host for host in plan.sites if not host.startswith(CLOSED_HOST_PREFIX)}
        self._web = WalkableWeb(plan, hosts)
        self._open = {
            url: page
            for url, page in plan.pages.items()
            if url not in unread
            and url not in plan.duplicates
            and page.kind not in ("frame", "print")
            and page.site.host in hosts
            and "/private/" not in url
        }
        self.all_urls = list(self._open)
        self._by_subject: dict[str, list[str]] = {}
        """Pages by subject, the most popular first."""
        for url, page in self._open.items():
            if page.subject is not None:
                self._by_subject.setdefault(page.subject.key, []).append(url)
        for shelf in self._by_subject.values():
            random.shuffle(shelf)
        self.subjects: Sequence[str] = sorted(self._by_subject)

    def known(self, subject: str) -> str:
        """A page on the subject that she has heard of: popular ones more often."""
        shelf = self._by_subject[subject]
        return shelf[int(self._random.random() ** 1.5 * len(shelf))]

    def links(self, url: str) -> list[str]:
        """Pages that a reader of ``url`` may go on to."""
        return [step.url for step in self._web.exits(url) if step.url in self._open]

    def is_about(self, url: str, subject: str) -> bool:
        """Whether the page is about the subject."""
        about = self._open[url].subject
        return about is not None and about.key == subject
