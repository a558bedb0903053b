"""Pages from the live web.

One fetch walks a chain of hops. Each hop is a canonical URL that the crawl's scope and the site's
robots.txt must allow before it is asked for; each GET counts, waits its turn, and goes only to an
address that the crawl may use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Self

import msgspec
from aiohttp.abc import AbstractResolver

from trailhound.command_links import COMMANDS_LEFT, LinksToLeave
from trailhound.config.settings import FetchSettings
from trailhound.fetching.base import (
    NO_REQUEST_LEFT,
    REDIRECT_STATUSES,
    MayGoOn,
    Validators,
    always,
    is_excluded,
)
from trailhound.fetching.body import MAX_DOCUMENT_BYTES, Wanted
from trailhound.fetching.client import Answer, HttpClient
from trailhound.fetching.headers import headers_for_all
from trailhound.fetching.hops import (
    Hops,
    has_password_field,
    login_wanted_at,
    status_in_words,
    wants_login,
)
from trailhound.fetching.keyring import Keyring, keyring_of
from trailhound.fetching.polite_client import PoliteClient, Room
from trailhound.fetching.polite_settings import check_politeness, polite_delay, polite_settings
from trailhound.fetching.politeness import Politeness
from trailhound.fetching.proxies import ProxyRules, proxy_rules
from trailhound.fetching.resolver import mapped_resolver
from trailhound.fetching.robots import RobotsRules, product_token
from trailhound.fetching.sitemaps import MAX_BYTES as MAX_SITEMAP_BYTES
from trailhound.media_types import HTML_ONLY, Kinds, wanted_documents
from trailhound.records import FetchResult, Outcome
from trailhound.urls import MAX_ASKED_LENGTH, host_key, origin_of

_PHASE_SECONDS = 10.0
"""For reaching a server, and for each wait for more, at most."""
_MAX_PART_REDIRECTS = 5


class HttpFetcher:
    """Fetches pages over HTTP, politely and within limits: HTML, and ``documents`` of some kinds.

    * ``user_agent`` must hold a contact, such as ``bees-bot (+https://example.org/bot)``.
    * ``timeout_seconds`` is for one GET as a whole; ``connect_timeout_seconds`` and
      ``read_timeout_seconds`` are for reaching the server and for each wait for more.
    * ``max_bytes`` is for one page, on the wire and decompressed; ``max_document_bytes`` for a PDF
      or office document.
    * ``delay_seconds`` is the time between an answer and the next request to its host, 1 by itself;
      ``politeness``, which a crawl shares with its fetcher, holds this and all other delays. Values
      that would be rude, and ``obey_robots=False``, are errors without ``allow_impolite``.
    * ``allow_addresses`` names hosts, suffixes (``*.demo.test``), addresses or networks beyond the
      public web that may be reached.
    * ``in_scope`` is asked about each URL that a redirect leads to.
    * ``resolver`` replaces the system's DNS (see :mod:`trailhound.fetching.resolver`).
    * ``headers`` go along with every request; ``keyring`` has what goes to single hosts, whose
      pages are then read as a person sees them (:mod:`trailhound.fetching.keyring`).
    * ``proxies`` says what is asked through whom (:mod:`trailhound.fetching.proxies`).

    A robots refusal counts as one request, though nothing is asked of the page's server; GETs of
    robots.txt files are counted apart, in ``robots_requests``.
    """

    def __init__(
        self,
        user_agent: str,
        *,
        timeout_seconds: float = 10.0,
        connect_timeout_seconds: float = 10.0,
        read_timeout_seconds: float = 10.0,
        max_redirects: int = 10,
        max_bytes: int = 5_000_000,
        documents: Kinds = HTML_ONLY,
        max_document_bytes: int = MAX_DOCUMENT_BYTES,
        delay_seconds: float | None = None,
        politeness: Politeness | None = None,
        obey_robots: bool = True,
        allow_impolite: bool = False,
        allow_addresses: Iterable[str] = (),
        in_scope: Callable[[str], bool] | None = None,
        resolver: AbstractResolver | None = None,
        headers: Mapping[str, str] | None = None,
        keyring: Keyring | None = None,
        proxies: ProxyRules | None = None,
        proxy_resolves: bool = False,
    ) -> None:
        self._politeness = politeness or Politeness(polite_delay(delay_seconds))
        self._settings = check_politeness(
            self._politeness.settings, obey_robots=obey_robots, allow_impolite=allow_impolite
        )
        make_client = partial(
            HttpClient,
            user_agent,
            timeout_seconds=timeout_seconds,
            connect_timeout_seconds=connect_timeout_seconds,
            read_timeout_seconds=read_timeout_seconds,
            allow_addresses=allow_addresses,
            resolver=resolver,
            headers=headers,
            proxies=proxies,
            proxy_resolves=proxy_resolves,
            wanted=Wanted(documents, max_document_bytes),
        )
        self._keyring = keyring
        self._leaving = LinksToLeave(keyring.hosts) if keyring is not None else None
        self._client = PoliteClient(make_client(keyring=keyring), self._politeness)
        self._stranger = PoliteClient(make_client(), self._politeness) if keyring else None
        """Asks as nobody in particular what pages of other hosts want of a host in the keyring."""
        self._robots = RobotsRules(
            self._client,
            user_agent,
            asking=self._politeness.robots_asked,
            in_scope=self._may_visit_for_robots,
        )
        self._product = product_token(user_agent)
        self._max_redirects = max_redirects
        self._max_bytes = max_bytes
        self._obey_robots = obey_robots
        self._in_scope = in_scope
        self.left_to_others: Callable[[str], bool] = lambda _url: False
        """URLs that another crawl asks for: a redirect there ends as one without a request left."""
        self.versions: dict[str, Validators] = {}
        """Known pages that are fetched only if they have changed; each is asked about once."""

    @classmethod
    def from_settings(
        cls,
        settings: FetchSettings,
        politeness: Politeness | None = None,
        in_scope: Callable[[str], bool] | None = None,
        resolver: AbstractResolver | None = None,
    ) -> Self:
        """As ``[fetch]`` says; ConfigError when the settings are impossible or impolite."""
        return cls(
            settings.user_agent,
            timeout_seconds=settings.timeout_seconds,
            connect_timeout_seconds=min(_PHASE_SECONDS, settings.timeout_seconds),
            read_timeout_seconds=min(_PHASE_SECONDS, settings.timeout_seconds),
            max_redirects=settings.max_redirects,
            max_bytes=settings.max_bytes,
            documents=wanted_documents(settings.documents),
            max_document_bytes=settings.max_document_bytes,
            politeness=politeness or Politeness(polite_settings(settings)),
            obey_robots=settings.obey_robots,
            allow_impolite=settings.allow_impolite,
            allow_addresses=settings.allow_addresses,
            in_scope=in_scope,
            resolver=resolver or mapped_resolver(settings.resolve),
            headers=headers_for_all(settings.headers, settings.from_mail),
            keyring=keyring_of(settings),
            proxies=proxy_rules(settings),
            proxy_resolves=settings.proxy_resolves,
        )

    @property
    def robots_requests(self) -> int:
        """GETs of robots.txt files so far."""
        return self._robots.requests

    def free_in(self, url: str) -> float:
        """Seconds until the host of ``url`` may be asked."""
        return self._politeness.free_in(host_key(url))

    async def sitemaps(self, url: str) -> tuple[str, ...]:
        """The sitemaps that robots.txt of the site of ``url`` lists, as it spells them."""
        return await self._robots.sitemaps(url)

    async def fetch(
        self,
        url: str,
        *,
        may_go_on: MayGoOn = always,
        html_only: bool = True,
    ) -> FetchResult:
        """Ask for ``url`` (canonical) and follow its redirects.

        The outcome is ``NOT_MODIFIED`` when a page of :attr:`versions` is still the same. Sitemaps
        and feeds are no HTML: ``html_only=False`` takes any kind of answer, as large as sitemaps
        may be, and gives the first part of one that could not be had as a whole. ``may_go_on`` is
        asked before each redirect is followed.
        """
        result = await self._walk(url, html_only, may_go_on)
        if result.retry_after_seconds is None:
            self.versions.pop(url, None)
        return result

    async def _walk(self, url: str, html_only: bool, may_go_on: MayGoOn) -> FetchResult:
        hops = Hops(url, self._product, keeps_parts=not html_only)
        max_bytes = self._max_bytes if html_only else max(self._max_bytes, MAX_SITEMAP_BYTES)
        never = self._never_asked(url)  # redirects are judged before they are followed
        if never:
            return hops.result(Outcome.OUT_OF_SCOPE, Answer(), never)
        validators = _validators(self.versions.get(url, Validators()))
        while True:
            refused = None if self._leaving is None else self._left(self._leaving, hops)
            refused = refused or await self._refused_by_robots(hops)
            if refused is not None:
                return refused
            hops.shown[hops.last] = self._shown_to(hops.last)
            answer = await self._client.get(
                hops.last,
                max_bytes=max_bytes,
                html_only=html_only,
                headers=validators,
                may_repeat=may_go_on,
            )
            hops.note(answer)
            if answer.status not in REDIRECT_STATUSES:
                outcome = _outcome(answer, bool(validators))
                if self._keyring is not None and self.reads_as_person(hops.last):
                    return self._seen_as_person(hops, answer, outcome)
                return hops.result(outcome, answer)
            target = answer.redirect_target(hops.last)
            if target is None:
                return hops.redirected_nowhere(answer)
            stopped = self._stopped_redirect(hops, answer, target)
            if stopped is not None:
                return stopped
            hops.urls.append(target)
            validators = {}  # they are about the page asked for
            if self.left_to_others(target):
                return hops.unfollowed(answer, "another part of the crawl asks for that")
            if not may_go_on(target):
                return hops.unfollowed(answer, NO_REQUEST_LEFT)

    def reads_as_person(self, url: str) -> bool:
        """Whether pages at ``url`` are read as a person sees them: what comes is for her alone."""
        return self._keyring is not None and self._keyring.opens(url)

    def _shown_to(self, url: str) -> dict[str, str]:
        """What a request for ``url`` would show of the person; not to be kept or told."""
        return self._keyring.headers_for(url) if self._keyring is not None else {}

    async def part(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        page: str = "",
        may_ask: Callable[[str], bool] = lambda _url: True,
        room: Room | None = None,
    ) -> Answer:
        """A part of a page that a browser renders: a script, or data that a script asks for.

        robots.txt, excluded hosts and the address guard hold for it and for each of its
        redirects; the crawl's scope does not, as pages have their scripts from anywhere.
        ``may_ask`` is asked before each request, with its URL, and before robots.txt is fetched
        for it: where that forbids the URL, the failure is ``ROBOTS``. ``page`` is the address of
        the page: a part from a host that is read as a person gets her cookies for pages of that
        host alone. Each request waits for its host, and then for ``room``, which tells how many
        bytes may come, and is not made for none; without it they are as many as those of a page.
        """
        if self.reads_as_person(url) and url.startswith("http:") and page.startswith("https:"):
            headers = {"Accept": headers.get("Accept", "*/*")}  # the rest is not for all to read
        for _ in range(_MAX_PART_REDIRECTS + 1):
            if left := self._left_out(url):
                return Answer(failure=Outcome.SKIPPED, detail=left)
            if not may_ask(url):
                return Answer(failure=Outcome.POSTPONED, detail=NO_REQUEST_LEFT)
            refusal = await self._robots.refusal(url) if self._obey_robots else None
            if refusal is not None:
                return Answer(failure=Outcome.ROBOTS, detail=refusal.detail)
            is_foreign = self._stranger is not None and host_key(url) != host_key(page)
            client = self._stranger if is_foreign and self._stranger else self._client
            answer = await client.get_part(
                url, max_bytes=self._max_bytes, headers=headers, room=room
            )
            target = answer.redirect_target(url)
            if target is None:
                return answer
            if origin_of(target) != origin_of(url):
                headers = {"Accept": headers.get("Accept", "*/*")}  # the rest was for that site
            url = target
        return Answer(failure=Outcome.TOO_MANY_REDIRECTS)

    def _left_out(self, url: str) -> str:
        """Why this part is not even thought of; empty when it may be had."""
        never = self._never_asked(url)
        if never:
            return never
        if self._leaving is not None and self._leaving.is_command(url):
            return COMMANDS_LEFT
        return ""

    def _never_asked(self, url: str) -> str:
        """Why ``url`` may not be asked for, be it a page or a part of one."""
        if len(url) > MAX_ASKED_LENGTH:
            return f"the address has {len(url)} characters, more than {MAX_ASKED_LENGTH}"
        return f"{url} is excluded" if is_excluded(self._in_scope, url) else ""

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()
        if self._stranger is not None:
            await self._stranger.close()

    def unless_it_asks_to_log_in(self, result: FetchResult) -> FetchResult:
        """``result``, if it is a page; one that a browser has made may have a field for a password,
        where its host is read as a person."""
        url = result.final_url
        if not self.reads_as_person(url) or not has_password_field(result.body):
            return result
        why = login_wanted_at(url, "it has a field for a password")
        changes = {"outcome": Outcome.LOGIN_WANTED, "body": b"", "detail": why}
        return msgspec.structs.replace(result, **changes)

    def _left(self, leaving: LinksToLeave, hops: Hops) -> FetchResult | None:
        """The end of a chain that would log the person out, or change something for her."""
        if not leaving.is_command(hops.last):
            return None
        return hops.result(Outcome.SKIPPED, Answer(), COMMANDS_LEFT)

    def _seen_as_person(self, hops: Hops, answer: Answer, outcome: Outcome) -> FetchResult:
        """What came of a page of a host that is read as a person: perhaps it does not know her."""
        why = ""
        if answer.status in (401, 403):
            why = status_in_words(answer.status)
        elif outcome is Outcome.FETCHED and has_password_field(answer.body):
            why = "it has a field for a password"
        return hops.login_wanted(answer, why) if why else hops.result(outcome, answer)

    async def _refused_by_robots(self, hops: Hops) -> FetchResult | None:
        if not self._obey_robots:
            return None
        refusal = await self._robots.refusal(hops.last)
        wished = self._robots.delay_seconds(hops.last)
        self._politeness.wish(host_key(hops.last), wished)
        cap = self._settings.max_crawl_delay_seconds
        if wished > cap:
            hops.remark = f"the site asks for {wished:g} s between requests; it gets {cap:g} s"
        if refusal is None:
            return None
        answer = Answer(retry_after_seconds=refusal.retry_after_seconds)
        return hops.result(refusal.outcome, answer, refusal.detail)

    def _may_visit_for_robots(self, url: str) -> bool:
        """Whether a robots.txt file may be at this URL of another host."""
        return (self._in_scope is None or self._in_scope(url)) and not self.left_to_others(url)

    def _stopped_redirect(self, hops: Hops, answer: Answer, target: str) -> FetchResult | None:
        """The end of a chain that must not go on to ``target``."""
        # A server that sets a cookie first may well send back to the same address.
        if target in hops.urls and hops.shown[target] == self._shown_to(target):
            detail = f"redirects in a circle, back to {target}"
            return hops.result(Outcome.TOO_MANY_REDIRECTS, answer, detail)
        if len(hops.urls) > self._max_redirects:
            detail = f"more than {self._max_redirects} redirects"
            return hops.result(Outcome.TOO_MANY_REDIRECTS, answer, detail)
        if len(target) > MAX_ASKED_LENGTH:
            detail = f"redirects to an address of {len(target)} characters"
            return hops.result(Outcome.OUT_OF_SCOPE, answer, detail)
        if wants_login(target, hops.urls):
            return hops.login_wanted(answer, f"it redirects to {target.partition('?')[0]}")
        if self._in_scope is not None and not self._in_scope(target):
            detail = f"redirects to {target}, which the crawl may not visit"
            return hops.result(Outcome.OUT_OF_SCOPE, answer, detail)
        return None


def _validators(known: Validators) -> dict[str, str]:
    """Conditional headers; values that no header can carry are left out."""
    headers: Mapping[str, str] = {
        "If-None-Match": known.etag,
        "If-Modified-Since": known.last_modified,
    }
    return {
        name: value
        for name, value in headers.items()
        if value and value.isascii() and value.isprintable()
    }


def _outcome(answer: Answer, conditional: bool) -> Outcome:
    status = answer.status
    if answer.failure is not None:
        return answer.failure
    if status == 304 and conditional:
        return Outcome.NOT_MODIFIED
    outcome = Outcome.of_status(status or 0)
    wants_rest = answer.retry_after_seconds is not None
    is_settled = outcome in (Outcome.FETCHED, Outcome.NOT_FOUND)
    return Outcome.BUSY if wants_rest and not is_settled else outcome
