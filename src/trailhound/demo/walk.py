"""The browser of the person in the recorded sessions: pages, history, clock and event log."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from trailhound.demo.pages import PageDraft, WebPlan
from trailhound.sessions.events import Event, Mark, Reached, Submit, Visit

_MOST_REDIRECTS = 5


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
            holders = self._plan.pages[url].frames or (url,)
            found = [
                Exit(url, holder, requested, self._final(requested))
                for holder in holders
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
            if url not in self._plan.redirects:
                break
            url = self._plan.redirects[url][1]
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
        left = self.history[-1] if self.history else None
        self._read()
        self._show(Visit(self._time, url, self._title(url), Reached.TYPED, from_url=left))
        self.history.append(url)

    def follow(self, step: Exit) -> None:
        """Follow a link of the page on the screen."""
        self._read()
        requested = step.requested if step.requested != step.url else None
        self._show(
            Visit(
                self._time,
                step.url,
                self._title(step.url),
                Reached.LINK,
                from_url=step.holder,
                requested_url=requested,
            )
        )
        self.history.append(step.url)

    def back(self, count: int) -> None:
        """Press the back button ``count`` times."""
        for _ in range(count):
            self._time += self._random.randint(1, 4)
            left = self.history.pop()
            here = self.history[-1]
            self._show(Visit(self._time, here, self._title(here), Reached.BACK, from_url=left))

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

    def _show(self, visit: Visit) -> None:
        """A visit, and one for each frame that the page brings with it."""
        self._events.append(visit)
        self.n_visits += 1
        self.seen.add(visit.url)
        if visit.reached is Reached.BACK:
            return
        for frame in self._plan.pages[visit.url].frames:
            title = self._title(frame)
            self._events.append(
                Visit(
                    visit.time, frame, title, Reached.LINK, from_url=visit.url, frame_of=visit.url
                )
            )
