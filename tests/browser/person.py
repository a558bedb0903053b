"""A person who browses: a planned walk, followed with mouse and address bar."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urldefrag

from playwright.sync_api import Page
from recording_browser import RecordingBrowser, wait_for

from trailhound.sessions.events import Event, Mark, Reached, Visit

LINK_TO = "url => [...document.links].find(link => link.href.split('#')[0] === url)"


class Person:
    """Walks in a tab of her own; what she does is recorded before she goes on."""

    def __init__(self, browser: RecordingBrowser) -> None:
        self._browser = browser
        self.page = browser.context.new_page()

    def browse(self, plan: Sequence[Event]) -> None:
        """Visit pages as planned, and press Useful where the plan does."""
        for event in plan:
            if isinstance(event, Visit) and event.frame_of is None:
                self._go(event)
                wait_for(lambda: self._is_recorded(), f"{self.page.url} to be recorded")
            elif isinstance(event, Mark) and event.useful:
                self._browser.press(self.page, "useful")
                wait_for(lambda: self._browser.pressed(self.page), "the mark")

    def submit(self) -> None:
        """Press Submit on the bar."""
        self._browser.press(self.page, "submit")

    def _go(self, visit: Visit) -> None:
        if visit.reached is Reached.BACK:
            self.page.go_back(wait_until="domcontentloaded")
        elif visit.reached is Reached.LINK and click_link(
            self.page, visit.requested_url or visit.url
        ):
            self.page.wait_for_url(visit.url, wait_until="domcontentloaded")
        else:
            self.page.goto(visit.url, wait_until="domcontentloaded")

    def _is_recorded(self) -> bool:
        """Whether the page and its frames are written down."""
        shown: bool = self._browser.worker.evaluate(
            "async url => Object.values(await chrome.storage.session.get(null)).some("
            "tab => tab.current === url && !Object.keys(tab.waiting).length)",
            self.page.url,
        )
        return shown


def click_link(page: Page, url: str) -> bool:
    """Click a link to ``url`` in the page or one of its frames, if there is one."""
    for frame in page.frames:
        link = frame.evaluate_handle(LINK_TO, urldefrag(url).url).as_element()
        if link is not None:
            link.evaluate(
                "link => { link.target = '_top'; link.scrollIntoView({block: 'center'}) }"
            )
            link.click()
            return True
    return False


def beginning(events: Sequence[Event], n_visits: int) -> list[Event]:
    """The first part of a session: so many visits, and the marks of the last."""
    plan: list[Event] = []
    for event in events:
        made = sum(isinstance(each, Visit) and not each.frame_of for each in plan)
        if made >= n_visits and isinstance(event, Visit):
            break
        plan.append(event)
    return plan
