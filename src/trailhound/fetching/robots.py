"""What robots.txt allows, per RFC 9309, asked once per site.

2xx: its rules hold. 4xx, or more than five redirects: there are none, all is allowed. 5xx, and 429
which means the same here: all is refused for a while. A site that cannot be reached at all is
refused too, with the network's own reason, so that a dead host does not look like a forbidding one.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from protego import Protego

from trailhound.fetching.client import Answer
from trailhound.records import Outcome
from trailhound.urls import host_key, origin_of

_MAX_REDIRECTS = 5
_MAX_BYTES = 500 * 1024  # the RFC's least: rules beyond it need not be read
_MAX_AGE_SECONDS = 24 * 3600.0
_RETRY_SECONDS = 600.0  # a site whose robots.txt failed is asked again after this time
_MAX_KEPT_BYTES = 16_000_000  # of all files, packed
_MAX_PARSED_CHARS = (
    1_000_000  # of those that are parsed at a time; their rules take many times as much
)
_LEAST_CHARS = 1_000  # that a file counts for: even an empty one has a parser
_MAX_WILDCARDS = 2_000  # rules with an asterisk, each of which is looked for in each address

_log = logging.getLogger(__name__)
# Also "user<TAB>agent name", which the parser understands.
_USER_AGENT_LINE = re.compile(r"(\s*+user(?:-|\s*+)agent\b\s*+:?\s*+)([^#]*)", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9_-]+")
_RULE_LINE = re.compile(r"\s*+(?:dis)?allow\s*+:", re.IGNORECASE)
_OTHERS = ":other:"


class Client(Protocol):
    """Who asks for robots.txt files."""

    async def get(self, url: str, *, max_bytes: int) -> Answer:
        """Ask once for ``url``, without following redirects."""
        ...


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a URL may not be asked for."""

    outcome: Outcome
    detail: str
    retry_after_seconds: float | None = None
    """When it may be different; ``None`` when the rules themselves forbid it."""


@dataclass(slots=True)
class _Site:
    """What is known of one site. The lock lets one request ask for all who wait."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    packed: bytes | None = None
    """Its rules; ``None`` while not asked, or after a failure (see ``refusal``)."""
    refusal: Refusal | None = None
    goes_on_at: tuple[str, int] | None = None
    """Where its file is to be looked for next, and behind how many redirects: a host on the way
    wanted to be left alone for a while."""
    delay_seconds: float = 0.0
    """What its Crawl-delay or Request-rate asks for."""
    expires: float = float("-inf")


class RobotsRules:
    """The robots.txt files of the sites a crawl meets; the latest ``max_sites`` are remembered.

    Files are kept packed, and parsed rules of the latest few: they may be large, and many.
    A site is scheme, host and port, as in the RFC: http and https may have different rules.
    ``asking`` is called before each request. A file may redirect within its own host, and elsewhere
    only where ``in_scope`` permits: otherwise nothing of the site may be fetched.
    """

    def __init__(
        self,
        client: Client,
        user_agent: str,
        *,
        asking: Callable[[], None] = lambda: None,
        in_scope: Callable[[str], bool] | None = None,
        max_sites: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._product = product_token(user_agent)
        self._asking = asking
        self._in_scope = in_scope
        self._max_sites = max_sites
        self._clock = clock
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._kept_bytes = 0
        self._parsed = _ParsedFiles()
        self.requests = 0
        """GETs for robots.txt files so far, their redirects included."""

    async def refusal(self, url: str) -> Refusal | None:
        """Why ``url`` (canonical) may not be fetched; ``None`` when it may."""
        site = await self._site(url)
        if site.refusal is not None:
            return self._with_time_left(site, site.refusal)
        rules = self._parsed.rules(origin_of(url), site.packed)
        if rules is None or rules.can_fetch(url, self._product):
            return None
        detail = f"robots.txt of {host_key(url)} forbids this address to {self._product}"
        return Refusal(Outcome.ROBOTS, detail)

    async def sitemaps(self, url: str) -> tuple[str, ...]:
        """The sitemaps that the site's robots.txt lists, as it spells them."""
        rules = self._parsed.rules(origin_of(url), (await self._site(url)).packed)
        return tuple(rules.sitemaps) if rules is not None else ()

    def _with_time_left(self, site: _Site, refusal: Refusal) -> Refusal:
        if refusal.retry_after_seconds is None or refusal.outcome is Outcome.POSTPONED:
            return refusal
        return replace(refusal, retry_after_seconds=max(0.0, site.expires - self._clock()))

    def delay_seconds(self, url: str) -> float:
        """The time between requests that the host of ``url`` is known to wish for.

        It is one host over http and https: the longer wish of its two files counts.
        """
        place = origin_of(url).partition("://")[2]
        sites = (self._sites.get(f"{scheme}://{place}") for scheme in ("http", "https"))
        return max((site.delay_seconds for site in sites if site is not None), default=0.0)

    async def _site(self, url: str) -> _Site:
        origin = origin_of(url)
        site = self._sites.setdefault(origin, _Site())
        self._sites.move_to_end(origin)
        while len(self._sites) > 1 and self._is_full:
            oldest = self._sites.popitem(last=False)[1]
            self._kept_bytes -= len(oldest.packed or b"")
        if self._clock() >= site.expires:
            async with site.lock:
                if self._clock() >= site.expires:  # the one before us may have asked
                    await self._ask(origin, site)
        return site

    @property
    def _is_full(self) -> bool:
        return len(self._sites) > self._max_sites or self._kept_bytes > _MAX_KEPT_BYTES

    async def _ask(self, origin: str, site: _Site) -> None:
        answer = await self._download(origin, site)
        site.refusal = _refusal_of_all(answer, origin)
        self._keep(origin, site, None)
        self._parsed.forget(origin)
        site.delay_seconds = 0.0
        if answer.succeeded and site.refusal is None:
            self._read(answer, origin, site)
        age = _MAX_AGE_SECONDS
        if site.refusal is not None:
            # Nothing was asked of the site: the next who comes asks.
            unasked = site.refusal.outcome in (Outcome.POSTPONED, Outcome.UNKNOWN_HOST)
            age = 0.0 if unasked else site.refusal.retry_after_seconds or _RETRY_SECONDS
        site.expires = self._clock() + age

    def _read(self, answer: Answer, origin: str, site: _Site) -> None:
        """Take in the rules; a file that breaks the parser is one that cannot be read."""
        try:
            packed = zlib.compress(_text(answer, self._product).encode("utf-8", "replace"), 1)
            rules = self._parsed.rules(origin, packed)
            if rules is not None:
                rules.can_fetch(f"{origin}/", self._product)
                site.delay_seconds = _wished_delay(rules, self._product)
            self._keep(origin, site, packed)
        except Exception as error:
            _log.exception("robots.txt of %s breaks the parser", origin)
            detail = f"robots.txt of {host_key(origin)} could not be read: {type(error).__name__}"
            site.refusal = Refusal(Outcome.ROBOTS, detail, _RETRY_SECONDS)

    def _keep(self, origin: str, site: _Site, packed: bytes | None) -> None:
        if self._sites.get(origin) is site:  # it may have been forgotten while it was asked
            self._kept_bytes += len(packed or b"") - len(site.packed or b"")
        site.packed = packed

    async def _download(self, origin: str, site: _Site) -> Answer:
        """The file, behind its redirects; it goes on where a host had to be left alone."""
        url, redirects = site.goes_on_at or (f"{origin}/robots.txt", 0)
        site.goes_on_at = None
        while True:
            answer = await self._get(url)
            if answer.failure is Outcome.POSTPONED:
                site.goes_on_at = url, redirects
                return answer
            if redirects and answer.failure is Outcome.UNKNOWN_HOST:  # which is not the site's own
                return replace(answer, failure=Outcome.UNREACHABLE)
            target = answer.redirect_target(url)
            if target is None or redirects == _MAX_REDIRECTS:
                return answer
            if not self._may_visit(target, url):
                detail = f"it redirects to {target}, which the crawl may not visit"
                return Answer(failure=Outcome.OUT_OF_SCOPE, detail=detail)
            url, redirects = target, redirects + 1

    def _may_visit(self, target: str, url: str) -> bool:
        elsewhere = host_key(target) != host_key(url)
        return not elsewhere or self._in_scope is None or self._in_scope(target)

    async def _get(self, url: str) -> Answer:
        self._count()
        answer = await self._client.get(url, max_bytes=_MAX_BYTES)
        if answer.was_repeated:
            self._count()
        return answer

    def _count(self) -> None:
        """One more request, which no budget limits."""
        self._asking()
        self.requests += 1


class _ParsedFiles:
    """The rules of the sites that were asked about last."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, tuple[Protego, int]] = OrderedDict()
        self._chars = 0

    def rules(self, origin: str, packed: bytes | None) -> Protego | None:
        """Those in the file of ``origin``; ``None`` without one."""
        if packed is None:
            return None
        if origin not in self._files:
            text = zlib.decompress(packed).decode()
            self._files[origin] = Protego.parse(text), max(len(text), _LEAST_CHARS)
            self._chars += self._files[origin][1]
            while self._chars > _MAX_PARSED_CHARS and len(self._files) > 1:
                self._chars -= self._files.popitem(last=False)[1][1]
        self._files.move_to_end(origin)
        return self._files[origin][0]

    def forget(self, origin: str) -> None:
        """Its file is another one now."""
        self._chars -= self._files.pop(origin, (None, 0))[1]


def product_token(user_agent: str) -> str:
    """The name by which robots.txt files address us: ``bees-bot`` of ``bees-bot/1.0 (+https…)``."""
    compatible = re.search(r"compatible;\s*([A-Za-z0-9_-]+)", user_agent)
    found = compatible or re.search(r"([A-Za-z0-9_-]+)", user_agent)
    return found[1] if found else user_agent


def _refusal_of_all(answer: Answer, origin: str) -> Refusal | None:
    """Why nothing of the site may be fetched, when its robots.txt could not be read."""
    about = f"robots.txt of {host_key(origin)}"
    if answer.failure is Outcome.POSTPONED:
        return Refusal(Outcome.POSTPONED, answer.detail, answer.retry_after_seconds)
    retry_after = max(_RETRY_SECONDS, answer.retry_after_seconds or 0.0)
    if answer.status is None:
        outcome = answer.failure or Outcome.UNREACHABLE
        lasting = answer.retry_after_seconds is None  # no such host, or a refused address
        return Refusal(outcome, f"{about}: {answer.detail}", None if lasting else retry_after)
    if answer.status >= 500 or answer.status == 429:
        detail = f"{about} could not be read: HTTP {answer.status}"
        return Refusal(Outcome.ROBOTS, detail, retry_after)
    if answer.failure in (Outcome.SERVER_ERROR, Outcome.TIMEOUT):
        detail = f"{about} could not be read: {answer.detail}"
        return Refusal(Outcome.ROBOTS, detail, retry_after)
    return None


def _text(answer: Answer, product: str) -> str:
    # A longer file is cut at the limit; its last line may be half a rule and is left out.
    body = answer.body
    if answer.failure is Outcome.TOO_LARGE:
        body = body[: body.rfind(b"\n") + 1]
    return _only_for(product, body.decode("utf-8-sig", errors="replace"))


def _only_for(product: str, text: str) -> str:
    """The file with all robots whose rules are not ours under one name.

    The parser keeps every rule once for each robot of its group: 500 KB of names and rules could
    otherwise fill the memory. Ours are those of the longest name that our own begins with.
    """
    own = product.lower()
    lines = text.splitlines()
    found = {number: match for number, line in enumerate(lines) if (match := _named(line))}
    names = {number: _plain_name(match[2]) for number, match in found.items()}
    fitting = max(filter(own.startswith, names.values()), key=len, default="")
    kept = {
        number: name if name in ("*", fitting) and name else _OTHERS
        for number, name in names.items()
    }
    for number, name in kept.items():
        lines[number] = f"{found[number][1]}{name}"
    _limit_wildcards(lines, kept)
    return "\n".join(lines)


def _limit_wildcards(lines: list[str], names: Mapping[int, str]) -> None:
    """Shorten our rules with asterisks beyond the first two thousand: no honest file has so many.

    Thousands of them would take the parser seconds for one long address. Where the end of a group
    is in doubt, rules count as ours.
    """
    is_ours, has_rules, wildcards = False, False, 0
    for number, line in enumerate(lines):
        if number in names:
            is_ours = (is_ours and not has_rules) or names[number] != _OTHERS
            has_rules = False
            continue
        is_rule = _RULE_LINE.match(line) is not None
        has_rules = has_rules or is_rule
        if is_ours and is_rule and "*" in line.partition("#")[0]:
            wildcards += 1
            if wildcards > _MAX_WILDCARDS:
                lines[number] = _without_wildcard(line)


def _without_wildcard(line: str) -> str:
    """A rule that forbids all that it may have meant, and permits nothing of it."""
    rule = line.partition("#")[0]
    if rule.lstrip().lower().startswith("allow"):
        return "Allow:"
    start, asterisk, _ = rule.partition("*")
    return f"{start}/" if asterisk and "/" not in start else start


def _named(line: str) -> re.Match[str] | None:
    match = _USER_AGENT_LINE.match(line)
    return match if match is not None and match[2].strip() else None


def _plain_name(name: str) -> str:
    """What counts of it: no version or remark behind it, no asterisks within."""
    plain = name.strip().lower()
    if plain == "*":
        return plain
    found = _NAME.match(plain.replace("*", ""))
    return found[0] if found is not None else ""


def _wished_delay(rules: Protego, product: str) -> float:
    """Crawl-delay or Request-rate, up to a day: their numbers may have hundreds of digits."""
    wishes = [0.0, rules.crawl_delay(product) or 0.0]
    if (rate := rules.request_rate(product)) is not None:
        wishes.append(min(rate.seconds, _MAX_AGE_SECONDS) / min(rate.requests, 10**9))
    return min(max(wishes), _MAX_AGE_SECONDS)
