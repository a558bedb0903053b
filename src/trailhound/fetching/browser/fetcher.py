"""The plug-in ``browser``: pages over HTTP, and rendered where that is wanted and pays.

A page is always fetched by :class:`~trailhound.fetching.http.HttpFetcher` first: politeness, robots
rules, scope, archive and budget are those of every crawl. Its answer is what the browser shows.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Self

from aiohttp.abc import AbstractResolver
from msgspec.structs import replace

from trailhound.config.settings import FetchSettings
from trailhound.counting import counted
from trailhound.errors import ConfigError
from trailhound.fetching.base import MayGoOn, always
from trailhound.fetching.browser.chromium import (
    BrowserOptions,
    Chromium,
    HostContext,
    find_browser,
)
from trailhound.fetching.browser.parts import Blocklist, KeptParts, PageParts, PartLimits
from trailhound.fetching.browser.visit import Tab, Visit, VisitLimits
from trailhound.fetching.browser.worth import Decision, Gain, Learned, gain_of
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.politeness import Politeness
from trailhound.media_types import document_kind, may_be_html
from trailhound.records import FetchResult, Outcome
from trailhound.urls import host_key

_log = logging.getLogger(__name__)

_OPEN_SECONDS = 20.0
_CLOSE_SECONDS = 5.0
_PARTS_PER_REST = 10
"""A host rests once more after so many parts of a page."""

_LEAST_MEMORY = 100_000_000
"""No browser shows a page with less."""


class BrowserGoneError(Exception):
    """The browser ended while it showed a page."""


class BrowserFetcher:
    """Fetches pages over HTTP, and has a browser render those that need it.

    ``mode`` is ``auto`` or ``always``. ``tabs`` pages are rendered at once at most. A page that
    cannot be rendered, or loses its text by that, stays as it came, with a remark.
    """

    summary: ClassVar[str] = "pages over HTTP, rendered by Chromium where it pays (--render)"

    def __init__(
        self,
        http: HttpFetcher,
        browser: Chromium,
        politeness: Politeness,
        in_scope: Callable[[str], bool] | None = None,
        *,
        mode: str = "auto",
        blocklist: Blocklist | None = None,
        visit_limits: VisitLimits | None = None,
        part_limits: PartLimits | None = None,
        tabs: int = 4,
    ) -> None:
        self.http = http
        """What asks the web."""
        self._browser = browser
        self._politeness = politeness
        self._in_scope = in_scope or (lambda _: True)
        self._mode = mode
        self._blocklist = blocklist or Blocklist()
        self._kept = KeptParts()
        self._visit_limits = visit_limits or VisitLimits()
        self._part_limits = part_limits or PartLimits()
        self._learned = Learned(self._blocklist.holds)
        self._room = asyncio.Semaphore(tabs)
        self._trouble = ""

    @classmethod
    def from_settings(
        cls,
        settings: FetchSettings,
        politeness: Politeness,
        in_scope: Callable[[str], bool] | None,
        resolver: AbstractResolver | None = None,
        *,
        seconds: float = 15.0,
        parts: int = 60,
        tabs: int = 4,
        steps: int = 5,
        clicks: int = 8,
        memory: int = 1_000_000_000,
        blocklist: Path | None = None,
        executable: Path | None = None,
        sandbox: bool | None = None,
    ) -> Self:
        """As ``[fetch]`` says; ``render = "never"`` means ``auto`` to who names this fetcher."""
        _check_least("seconds", seconds, 0.1)
        _check_least("tabs", tabs, 1)
        _check_least("memory", memory, _LEAST_MEMORY)
        for name, value in (("parts", parts), ("steps", steps), ("clicks", clicks)):
            _check_least(name, value, 0)
        is_root = getattr(os, "geteuid", lambda: 1)() == 0  # Chromium has no sandbox as root
        options = BrowserOptions(
            find_browser(executable),
            settings.user_agent,
            sandbox=not is_root if sandbox is None else sandbox,
            max_memory=memory,
            contexts=max(BrowserOptions.contexts, 2 * tabs),
        )
        return cls(
            HttpFetcher.from_settings(settings, politeness, in_scope, resolver),
            Chromium(options),
            politeness,
            in_scope,
            mode="always" if settings.render == "always" else "auto",
            blocklist=Blocklist(blocklist),
            visit_limits=VisitLimits(seconds, steps, clicks, settings.max_bytes),
            part_limits=PartLimits(parts),
            tabs=tabs,
        )

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        """Ask for ``url``, and render what came where that pays.

        Each request for a part of the page counts, and ``may_go_on`` is asked for it; a page whose
        budget ends meanwhile is rendered with what it has.
        """
        result = await self.http.fetch(url, may_go_on=may_go_on)
        if result.outcome is not Outcome.FETCHED or not _is_html(result):
            return result
        decision = self._decision(result)
        if not decision.render:
            return _remarked(result, f"not rendered: {decision.why}")
        return await self._render(result, decision, may_go_on)

    @property
    def trouble(self) -> str:
        """That the browser does not start, if it does not."""
        return self._trouble

    @property
    def is_in_vain(self) -> bool:
        """Whether all pages were to be rendered, and none could be."""
        return self._mode == "always" and bool(self._trouble) and not self._browser.has_started

    async def close(self) -> None:
        """End the browser, and close all connections."""
        await self._browser.close()
        await self.http.close()

    def _decision(self, result: FetchResult) -> Decision:
        if self._mode == "always":
            return Decision(True, "all pages are")
        return self._learned.decide(result.final_url, result.body)

    async def _render(
        self, result: FetchResult, decision: Decision, may_go_on: MayGoOn
    ) -> FetchResult:
        parts = PageParts(
            self.http,
            self._kept,
            self._blocklist,
            may_go_on,
            self._part_limits,
            result.final_url,
        )
        html, failure = b"", ""
        async with self._room:
            try:
                html = await self._shown(result, parts)
            except TimeoutError:
                failure = f"it did not come to rest within {self._visit_limits.seconds:g} s"
            except Exception as error:  # of the browser, or what a page did to it
                failure = str(error).partition("\n")[0][:200] or type(error).__name__
                _log.info("%s could not be rendered: %s", result.final_url, failure)
        if failure and not (self._browser.has_started or self._trouble):
            self._trouble = (
                f"Pages are read as they came, and not rendered: the browser does not start "
                f"({failure}). Name another with --fetcher browser:executable=PATH, or crawl with "
                "--render never."
            )
        self._let_rest(result, parts)
        result = replace(result, requests=result.requests + parts.requests)
        if failure:
            self._learned.note(decision, result.final_url, Gain())
            return _remarked(result, f"rendered in vain ({decision.why}): {failure}")
        return self._better(result, html, decision, parts)

    def _better(
        self, result: FetchResult, html: bytes, decision: Decision, parts: PageParts
    ) -> FetchResult:
        """The rendered page, or the one that came where scripts have made less of it."""
        gain = gain_of(result.body, html, result.final_url, self._in_scope)
        shown = replace(result, body=html, content_type="text/html; charset=utf-8", rendered=True)
        if parts.missing and not gain.is_worth_it:
            return _without_parts(result if gain.is_loss else shown, decision, parts)
        self._learned.note(decision, result.final_url, gain)
        shown = _remarked(shown, _what_it_gave(decision, gain, parts))
        shown = self.http.unless_it_asks_to_log_in(shown)
        if gain.is_loss and shown.outcome is Outcome.FETCHED:
            lost = "it lost most of its text by that, and stays as it came"
            return _remarked(result, f"rendered in vain ({decision.why}): {lost}")
        return shown

    async def _shown(self, result: FetchResult, parts: PageParts) -> bytes:
        """The rendered page; once more if the browser ended meanwhile, for whatever reason."""
        try:
            return await self._visited(result, parts)
        except BrowserGoneError:
            return await self._visited(result, parts)

    async def _visited(self, result: FetchResult, parts: PageParts) -> bytes:
        context = await self._browser.context(host_key(result.final_url))
        async with context.lock:
            with _unless_it_ended(context):
                tab = await self._opened(context)
            visit = Visit(tab, result, parts, self._visit_limits)
            context.show(visit)
            try:
                with _unless_it_ended(context):
                    return await visit.rendered()
            finally:
                visit.end()
                leaving = context.leave(tab, keep=visit.came_to_rest)
                try:
                    await asyncio.wait_for(leaving, _CLOSE_SECONDS)
                except Exception:  # it hangs: no other page shall
                    await self._browser.kill()

    async def _opened(self, context: HostContext) -> Tab:
        try:
            return await asyncio.wait_for(context.open_tab(), _OPEN_SECONDS)
        except TimeoutError:  # it does not listen
            await self._browser.kill()
            raise

    def _let_rest(self, result: FetchResult, parts: PageParts) -> None:
        host = host_key(result.final_url)
        rests = 1 + parts.requests // _PARTS_PER_REST
        self._politeness.hold(host, rests * self._politeness.delay_seconds(host))


def _check_least(name: str, value: float, least: float) -> None:
    if value < least:
        raise ConfigError(
            f"Fetcher 'browser': option {name} is {value:g}, but it should be at least {least:,}."
        )


@contextmanager
def _unless_it_ended(context: HostContext) -> Iterator[None]:
    """Tell what failed from what the end of the browser broke off."""
    try:
        yield
    except Exception as error:
        if context.is_alive:
            raise
        raise BrowserGoneError("the browser ended") from error


def _is_html(result: FetchResult) -> bool:
    content_type = result.content_type
    return may_be_html(content_type) and document_kind(result.body, content_type) is None


def _remarked(result: FetchResult, remark: str) -> FetchResult:
    return replace(result, detail=f"{result.detail}; {remark}" if result.detail else remark)


def _without_parts(shown: FetchResult, decision: Decision, parts: PageParts) -> FetchResult:
    """A page whose host did not give all of it comes again when that has rested."""
    remark = f"rendered ({decision.why}) without parts of it that could not be had: {parts.missing}"
    is_where_asked = host_key(shown.url) == host_key(shown.final_url)
    again = parts.retry_after_seconds if is_where_asked else None
    return replace(_remarked(shown, remark), retry_after_seconds=again)


def _what_it_gave(decision: Decision, gain: Gain, parts: PageParts) -> str:
    gained = f"{counted(gain.links, 'new link')}, {counted(gain.chars, 'more character')} of text"
    cost = counted(parts.requests, "request")
    return f"rendered: {decision.why}. It gained {gained}, for {cost}"
