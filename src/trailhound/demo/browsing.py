"""A person looks for each topic in a part of the web: the recorded sessions.

She starts at the web directory, follows links that lead to pages she finds useful (she knows what
to look for), takes wrong turns, goes back, and marks what she wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from trailhound.demo.pages import PageDraft
from trailhound.demo.words import TOPIC_KEYS, DemoWebParameters
from trailhound.demo.workshop import WebPlan
from trailhound.sessions.events import Event, Mark, Reached, Session, Submit, Visit

FIRST_SESSION = 1_709_542_800.0  # 4 March 2024, 09:00 UTC
_DAY_SECONDS = 86_400.0
# She remembers so many pages back before she rather looks for a new way.
_REMEMBERED = 6
_MOST_REDIRECTS = 5
_REJECTION_RATE = 0.4
# After a wrong turn she follows another link with this probability before she goes back.
_STRAY_FURTHER = 0.4
# What she hopes to find behind a page of each kind.
_LEADS_ON = {
    "department": "listing",
    "listing": "person",
    "person": "publications",
    "publications": "paper",
}


def record_sessions(
    plan: WebPlan, starts: Sequence[str], seed: int, parameters: DemoWebParameters
) -> dict[str, Session]:
    """One session per topic; the plan's pages must have been rendered."""
    sessions = {}
    directory = plan.pages[starts[0]].site
    for number, topic in enumerate(TOPIC_KEYS):
        random = Random(f"trailhound demo web/{seed}/session {topic}")
        begin = FIRST_SESSION + number * _DAY_SECONDS + random.randrange(3600)
        known = _known_places(plan, topic, parameters, random, with_club=number % 2 == 0)
        wanted = _wanted(plan.members(topic), known, parameters, random)
        walk = Walk(plan, random, begin)
        seeker = _Seeker(walk, topic, wanted, parameters, random)
        for place in known or [directory.name]:
            hosts = {site.host for site in plan.sites.values() if site.name == place}
            seeker.look_around(starts[0], WalkableWeb(plan, hosts | {directory.host}))
        seeker.linger()
        user = f"demo-{number + 1}"
        sessions[topic] = Session(topic, walk.finish(), user=user, recorder="demo")
    return sessions


def _known_places(
    plan: WebPlan, topic: str, parameters: DemoWebParameters, random: Random, *, with_club: bool
) -> list[str]:
    """Names of the institutions where a person looks for ``topic``."""
    members = plan.members(topic)
    papers = Counter(page.site.name for page in members if page.kind == "paper")
    ranked = sorted(papers, key=lambda name: (-papers[name], name))
    known = ranked[: max(parameters.session_universities, len(ranked) // 2)]
    places = random.sample(known, min(parameters.session_universities, len(known)))
    if with_club:
        clubs = {page.site.name for page in plan.pages.values() if page.kind == "club"}
        places += _largest([page for page in members if page.site.name in clubs])
    # In a small web there may be no paper about it.
    return places or _largest(members)


def _wanted(
    members: Sequence[PageDraft],
    known: Sequence[str],
    parameters: DemoWebParameters,
    random: Random,
) -> list[str]:
    """What she will find useful; most members must remain to be found elsewhere."""
    inside = [page.url for page in members if page.site.name in known]
    most = min(parameters.session_targets, len(members) // 2)
    return random.sample(inside, min(most, len(inside)))


def _largest(pages: Sequence[PageDraft]) -> list[str]:
    """The name of the institution that has most of the pages, if there are any."""
    counts = Counter(page.site.name for page in pages)
    return [max(counts, key=lambda name: (counts[name], name))] if counts else []


class _Seeker:
    """The person's decisions."""

    def __init__(
        self,
        walk: Walk,
        topic: str,
        wanted: Sequence[str],
        parameters: DemoWebParameters,
        random: Random,
    ) -> None:
        self._walk = walk
        self._topic = topic
        self._wanted = dict.fromkeys(wanted)
        self._parameters = parameters
        self._random = random

    def look_around(self, start: str, web: WalkableWeb) -> None:
        """Browse from ``start`` until nothing wanted is left there or she has had enough."""
        self._web = web
        self._walk.type_address(start)
        while self._wanted and self._walk.n_visits < self._parameters.session_visits:
            way = self._way_from_memory() or self._new_way()
            if not way:
                break
            for step in way:
                if self._random.random() < self._parameters.wrong_turn_rate:
                    # Try what looks like the right link, find that it is not, and come back.
                    self._stray(self._web.kind(step.url), avoid=step.url)
                self._follow(step)

    def linger(self) -> None:
        """Look at a few more pages before handing in, until there are enough."""
        enough, most = self._parameters.session_pages, self._parameters.session_visits
        while len(self._walk.seen) < enough and self._walk.n_visits < most:
            here = self._walk.history[-1]
            if self._tempting_link("", avoid=""):
                self._stray(_LEADS_ON.get(self._web.kind(here), ""))
            elif len(self._walk.history) > 1:
                self._walk.back(1)
            else:
                break

    def _way_from_memory(self) -> list[Exit]:
        """Go back to a page seen lately that has a link to something wanted."""
        for n_back, url in enumerate(reversed(self._walk.history[-_REMEMBERED:])):
            for step in self._web.exits(url):
                if step.url in self._wanted:
                    self._walk.back(n_back)
                    return [step]
        return []

    def _new_way(self) -> list[Exit]:
        """The shortest way from here to anything wanted."""
        here = self._walk.history[-1]
        ways: dict[str, list[Exit]] = {here: []}
        queue = [here]
        for url in queue:  # grows while pages are reached
            for step in self._web.exits(url):
                if step.url in ways:
                    continue
                ways[step.url] = [*ways[url], step]
                if step.url in self._wanted:
                    return ways[step.url]
                queue.append(step.url)
        return []

    def _stray(self, kind: str, avoid: str = "") -> None:
        """Follow one or more links to pages not seen yet, first of all of ``kind``; go back."""
        n_steps = 0
        while n_steps == 0 or self._random.random() < _STRAY_FURTHER:
            step = self._tempting_link(kind, avoid)
            if step is None:
                break
            self._follow(step)
            other = self._web.is_other_text(step.url, self._topic)
            if other and self._random.random() < _REJECTION_RATE:
                self._walk.mark(useful=False)
            n_steps += 1
            kind = _LEADS_ON.get(self._web.kind(step.url), "")
        self._walk.back(n_steps)

    def _tempting_link(self, kind: str, avoid: str) -> Exit | None:
        """A link to a page not seen yet, of the kind she hopes for if there is one."""
        known = self._walk.seen | {avoid}
        exits = [step for step in self._web.exits(self._walk.history[-1]) if step.url not in known]
        hopeful = [step for step in exits if self._web.kind(step.url) == kind]
        return self._random.choice(hopeful or exits) if exits else None

    def _follow(self, step: Exit) -> None:
        self._walk.follow(step)
        if step.url in self._wanted:
            del self._wanted[step.url]
            self._walk.mark(useful=True)


class Exit(NamedTuple):
    """A link that can be followed from a page."""

    page: str
    """The page she looks at: what the address bar shows."""
    holder: str
    """The document that holds the link: the page itself, or a frame of it."""
    requested: str
    url: str
    """Where redirects end."""


class WalkableWeb:
    """The part of the web in which a person moves, as links between whole pages."""

    def __init__(self, plan: WebPlan, hosts: set[str]) -> None:
        self._plan = plan
        self._hosts = hosts
        self._exits: dict[str, list[Exit]] = {}

    def kind(self, url: str) -> str:
        """The kind of page, as its site planned it."""
        return self._plan.pages[url].kind

    def exits(self, url: str) -> list[Exit]:
        """Links of the page and its frames that lead to pages of the area."""
        if url not in self._exits:
            found = [
                Exit(url, holder, requested, self._final(requested))
                for holder in self._plan.pages[url].frames or (url,)
                for requested in dict.fromkeys(self._plan.pages[holder].links)
            ]
            self._exits[url] = [step for step in found if self._attracts(step)]
        return self._exits[url]

    def is_other_text(self, url: str, topic: str) -> bool:
        """Whether the page is an article about something other than ``topic``."""
        page = self._plan.pages[url]
        readable = page.kind in ("paper", "article", "thread", "guide", "course", "product")
        return readable and page.subject is not None and page.subject.key != topic

    def _final(self, url: str) -> str:
        for _ in range(_MOST_REDIRECTS):
            url = self._plan.redirects.get(url, (0, url))[1]
        return url

    def _attracts(self, step: Exit) -> bool:
        """Whether she would follow the link: to a page of the area, and for a reason."""
        page = self._plan.pages.get(step.url)
        return (
            page is not None
            and step.url != step.page
            and page.kind not in ("frame", "hub")
            and page.site.host in self._hosts
            and "/private/" not in step.url
            and self._has_reason(self._plan.pages[step.holder], page)
        )

    def _has_reason(self, here: PageDraft, there: PageDraft) -> bool:
        """She leaves an institution only from a directory, or for more on the same subject."""
        if here.site.name == there.site.name or here.kind in ("directory", "listing"):
            return True
        return here.subject is not None and here.subject is there.subject


class Walk:
    """Records what the person does."""

    def __init__(self, plan: WebPlan, random: Random, time: float) -> None:
        self._plan = plan
        self._random = random
        self._time = time
        self._events: list[Event] = []
        self.history: list[str] = []
        """Pages that the back button leads through; the last one is on the screen."""
        self.seen: set[str] = set()
        self.n_visits = 0

    def type_address(self, url: str) -> None:
        """Open a page from the address bar."""
        self._read()
        self._show(url, Reached.TYPED, self.history[-1] if self.history else None)
        self.history.append(url)

    def follow(self, step: Exit) -> None:
        """Follow a link of the page on the screen."""
        self._read()
        requested = step.requested if step.requested != step.url else None
        self._show(step.url, Reached.LINK, step.holder, requested)
        self.history.append(step.url)

    def back(self, count: int) -> None:
        """Press the back button ``count`` times."""
        for _ in range(count):
            self._time += self._random.randint(1, 4)
            left = self.history.pop()
            self._show(self.history[-1], Reached.BACK, left)

    def mark(self, *, useful: bool) -> None:
        """Judge the page on the screen."""
        self._read()
        self._events.append(Mark(self._time, self.history[-1], useful))

    def finish(self) -> tuple[Event, ...]:
        """Hand the session in."""
        self._read()
        self._events.append(Submit(self._time))
        return tuple(self._events)

    def _title(self, url: str) -> str:
        """What the browser's title bar shows."""
        page = self._plan.pages[url]
        return f"{page.title} | {page.site.name}"

    def _read(self) -> None:
        self._time += self._random.randint(3, 45)

    def _show(
        self, url: str, reached: Reached, from_url: str | None, requested: str | None = None
    ) -> None:
        """A visit, and one for each frame that the page brings with it."""
        time = self._time
        self._events.append(Visit(time, url, self._title(url), reached, from_url, requested))
        self.n_visits += 1
        self.seen.add(url)
        if reached is not Reached.BACK:
            for frame in self._plan.pages[url].frames:
                title = self._title(frame)
                self._events.append(Visit(time, frame, title, Reached.LINK, url, frame_of=url))
