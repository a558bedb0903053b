"""What would swallow a crawl: hosts without end, and URLs that lead nowhere, recognised in time.

A host may have so many pages, by what it gave, and all hosts under one registered name a few times
that.

Some sites make addresses without end: calendars that know every month to come, filters that
combine in every way, relative links that grow by a folder with each click. Most rules look at one
URL. The two that must compare (dates, filters) remember a bounded number of forms, and a URL that
was let through once is always let through.

URLs are canonical, and without tracking and session parameters where those can be removed (see
:func:`trailhound.urls.strip_tracking`): what reaches this module with a session id has it in a
place from which it cannot be taken.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from hashlib import blake2b

import msgspec

from trailhound.counting import counted
from trailhound.errors import UNREADABLE, StorageError
from trailhound.urls import registered_domain, without_port


class HostCaps(msgspec.Struct, frozen=True, kw_only=True):
    """The limits, in fetched pages per host."""

    base_pages: int = 1000
    """For a host that has given a relevant page."""
    barren_pages: int = 300
    """For one that has not."""
    pages_per_relevant: int = 50
    """What each relevant page adds to ``base_pages``: a host goes on while one page in fifty is
    relevant."""
    max_pages: int | None = None
    """For any host, whatever it gives; ``None``: no such limit."""


MAX_COUNTED = 20_000
"""Hosts whose pages are counted at a time."""
DOMAIN_TIMES = 2
"""All hosts under one registered name may have so many times what one host may: a server can answer
to any number of names."""
ALL_OF = "*."
"""Before a registered name: all hosts under it."""


class _Tally(msgspec.Struct, array_like=True):
    pages: int = 0
    relevant: int = 0


class HostBudget:
    """Counts what each host gave, and all hosts under one name, and says when they had their share.

    Ask before queueing and again before fetching: what was queued early may have become too much.
    :meth:`to_bytes` and :meth:`restore` carry the counts over a restart. At most ``max_hosts`` are
    counted. When they are more, those that gave least are forgotten, half of them: they get the
    few pages that they had once more, at worst.
    """

    def __init__(self, caps: HostCaps | None = None, *, max_hosts: int = MAX_COUNTED) -> None:
        self._caps = caps or HostCaps()
        self._max_hosts = max_hosts
        self._tallies: dict[str, _Tally] = {}

    def __len__(self) -> int:
        return len(self._tallies)

    def allows(self, host: str) -> bool:
        """Whether another page of ``host`` may be fetched."""
        return self._spent(host) is None

    def _spent(self, host: str) -> str | None:
        """What has had its share: the host, or all under its name."""
        for counted_as in _names(host):
            tally = self._tallies.get(counted_as)
            if tally is not None and tally.pages >= self._cap(counted_as, tally.relevant):
                return counted_as
        return None

    def record(self, host: str, relevant: bool) -> None:
        """Count a fetched page. Near duplicates of relevant pages are not relevant."""
        for counted_as in _names(host):
            tally = self._tally(counted_as)
            tally.pages += 1
            tally.relevant += relevant

    def credit(self, host: str) -> None:
        """A link of ``host`` led to a relevant page elsewhere: hubs earn their share this way."""
        for counted_as in _names(host):
            self._tally(counted_as).relevant += 1

    def _tally(self, host: str) -> _Tally:
        if host not in self._tallies and len(self._tallies) >= self._max_hosts:
            by_pages = sorted(self._tallies.items(), key=lambda item: item[1].pages)
            self._tallies = dict(by_pages[-(self._max_hosts // 2) :])  # among equals, the newest
        return self._tallies.setdefault(host, _Tally())

    def reason_against(self, host: str) -> str | None:
        """Why no more of ``host`` is fetched, in words; ``None`` when more may be."""
        spent = self._spent(host)
        if spent is None:
            return None
        tally = self._tallies[spent]
        return (
            f"host-budget: {counted(tally.pages, 'page')} of {spent} fetched, of which "
            f"{tally.relevant} counted as relevant; that allows {self._cap(spent, tally.relevant)}"
        )

    def to_bytes(self) -> bytes:
        """The counts, as JSON."""
        return msgspec.json.encode(self._tallies)

    def restore(self, data: bytes) -> None:
        """Take over the counts that :meth:`to_bytes` gave."""
        try:
            self._tallies = msgspec.json.decode(data, type=dict[str, _Tally])
        except UNREADABLE as error:
            raise StorageError(
                f"The counts of pages per host cannot be read: {error}. Go on without them; hosts "
                "are then counted anew."
            ) from error

    def _cap(self, counted_as: str, relevant: int) -> int:
        caps = self._caps
        is_domain = counted_as.startswith(ALL_OF)
        cap = caps.base_pages if relevant else caps.barren_pages
        cap = (DOMAIN_TIMES if is_domain else 1) * cap + caps.pages_per_relevant * relevant
        return cap if caps.max_pages is None or is_domain else min(cap, caps.max_pages)


@lru_cache(maxsize=8192)
def _names(host: str) -> tuple[str, ...]:
    """What a page of a host is counted as."""
    domain = registered_domain(f"http://{host}/")
    return (host,) if domain == without_port(host) else (host, ALL_OF + domain)


class TrapLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How far URLs may go. ``None`` switches a rule off."""

    max_chars: int | None = 2000
    max_path_depth: int | None = 20
    max_segment_repeats: int | None = 4
    """How often one path segment may occur: ``/a/b/a/c/a`` has three times ``a``."""
    max_consecutive_repeats: int | None = 2
    """How often a run of path segments may follow itself: ``/a/b/a/b`` is two."""
    max_parameters: int | None = 15
    max_parameter_combinations: int | None = 40
    """Different sets of parameter names on one path: filters that can be combined."""
    max_dates: int | None = 100
    """Different dates in URLs that are otherwise the same: three months of days, eight years of
    months."""
    refuse_session_ids: bool = True
    max_forms: int = 20_000
    """Dated or parametrised paths remembered at a time, some 200 bytes each."""


_SESSION_ID = re.compile(
    r"""
    [;/?&](?:jsessionid|phpsessid|aspsessionid\w*|session_?id|sessid|sid|cftoken|oscsid|zenid)
        =[0-9a-z.!-]{16,}
    | /\((?:[a-z]\([0-9a-z]{20,}\))+\)(?=/|$)          # ASP.NET: /(S(lit3py55t21z5v55vlm25s55))/
    """,
    re.IGNORECASE | re.VERBOSE,
)

# Year and month, with or without a day: 2031-07, 2031/07/05, 20310705, 5.7.2031, 2031-W27. A bare
# number is none: most numbers in URLs count articles.
_YEAR = r"(?:1[5-9]|[2-9][0-9])[0-9][0-9]"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_DAY = r"(?:0?[1-9]|[12][0-9]|3[01])"
_DATE = re.compile(
    rf"""
    (?<![0-9a-z])
    (?:
        {_YEAR} (?P<sign>[-/_.]) (?: {_MONTH} (?:(?P=sign){_DAY})? | w(?:eek)?-?[0-5]?[0-9] )
        | (?:1[89]|2[0-9])[0-9][0-9] (?:0[1-9]|1[0-2]) (?:0[1-9]|[12][0-9]|3[01])
        | {_DAY} (?P<mark>[-/_.]) {_MONTH} (?P=mark) (?:1[5-9]|2[0-9])[0-9][0-9]
    )
    (?![0-9a-z])
    """,
    re.IGNORECASE | re.VERBOSE,
)
# ?month=3&year=2031: parts of dates that their names tell.
_DATE_PARAMETER = re.compile(
    r"(?<=[?&])((?:[a-z]*[_.-])?(?:year|month|week|day|date)=)[0-9][^&]*", re.IGNORECASE
)


class _Forms(msgspec.Struct):
    """For each form of address, the different values it was seen with; all as hashes."""

    seen: dict[int, list[int]] = msgspec.field(default_factory=dict)

    def admits(self, form: str, value: str, limit: int, max_forms: int) -> bool:
        """Whether ``value`` is known for this form or is within the limit, and now known."""
        values = self.seen.setdefault(_hash(form, 8), [])
        short = _hash(value, 4)
        if short in values:
            return True
        if len(values) >= limit:
            return False
        values.append(short)
        if len(self.seen) > max_forms:
            # The oldest form goes. At worst a trap gets its limit once more.
            del self.seen[next(iter(self.seen))]
        return True


class TrapGuard:
    """Refuses URLs that look like the inside of a trap.

    Ask once for each link that would be queued, before it is. Its memory is small and bounded;
    :meth:`to_bytes` and :meth:`restore` carry it over a restart.
    """

    def __init__(self, limits: TrapLimits | None = None) -> None:
        self._limits = limits or TrapLimits()
        self._forms = _Forms()

    def reason_against(self, url: str) -> str | None:
        """Why ``url`` should not be queued, named and in words; ``None`` when nothing speaks
        against it.
        """
        limits = self._limits
        if limits.max_chars is not None and len(url) > limits.max_chars:
            return f"long-url: {len(url)} characters, more than {limits.max_chars}"
        address, _, query = url.partition("?")
        path = address[address.find("/", 8) :]
        return (
            self._against_session(url)
            or self._against_path(path)
            or self._against_query(address, query)
            or self._against_dates(url)
        )

    def to_bytes(self) -> bytes:
        """What the guard remembers."""
        return msgspec.msgpack.encode(self._forms)

    def restore(self, data: bytes) -> None:
        """Remember what :meth:`to_bytes` gave."""
        try:
            self._forms = msgspec.msgpack.decode(data, type=_Forms)
        except UNREADABLE as error:
            raise StorageError(
                f"The trap guard's memory cannot be read: {error}. Go on without it; dates and "
                "parameters are then counted anew."
            ) from error

    def _against_session(self, url: str) -> str | None:
        if not self._limits.refuse_session_ids:
            return None
        found = _SESSION_ID.search(url)
        return f"session-id: {found[0][1:]}" if found else None

    def _against_path(self, path: str) -> str | None:
        limits = self._limits
        segments = [segment for segment in path.split("/") if segment]
        if limits.max_path_depth is not None and len(segments) > limits.max_path_depth:
            return f"path-depth: {len(segments)} folders, more than {limits.max_path_depth}"
        if len(set(segments)) == len(segments):
            return None
        if limits.max_segment_repeats is not None:
            segment, times = Counter(segments).most_common(1)[0]
            if times > limits.max_segment_repeats:
                return f"repeated-segments: /{segment} occurs {times} times"
        if limits.max_consecutive_repeats is not None:
            return _against_echo(segments, limits.max_consecutive_repeats)
        return None

    def _against_query(self, address: str, query: str) -> str | None:
        limits = self._limits
        if not query:
            return None
        names = [_parameter_name(item) for item in query.split("&") if item]
        if limits.max_parameters is not None and len(names) > limits.max_parameters:
            return f"query-explosion: {len(names)} parameters, more than {limits.max_parameters}"
        most = limits.max_parameter_combinations
        if most is None:
            return None
        if self._forms.admits(f"?{address}", "&".join(sorted(set(names))), most, limits.max_forms):
            return None
        return f"query-explosion: {address} with more than {most} combinations of parameters"

    def _against_dates(self, url: str) -> str | None:
        limits = self._limits
        if limits.max_dates is None:
            return None
        form, values = _date_form(url)
        if not values or self._forms.admits(form, values, limits.max_dates, limits.max_forms):
            return None
        return f"calendar: more than {limits.max_dates} dates in {form}"


def _parameter_name(item: str) -> str:
    # A part without a name is a value, /titles?The+Birds; values have signs too, ?id=YmVlcw==
    name, sign, _ = item.partition("=")
    return name if sign else ""


def _against_echo(segments: list[str], most: int) -> str | None:
    """A run of segments that follows itself too often."""
    for length in range(1, len(segments) // (most + 1) + 1):
        # Equal to the segment one run earlier, for most whole runs on end.
        in_a_row = 0
        for here, earlier in zip(segments[length:], segments, strict=False):
            in_a_row = in_a_row + 1 if here == earlier else 0
            if in_a_row >= length * most:
                return f"repeated-segments: a run of {length} follows itself more than {most} times"
    return None


def _date_form(url: str) -> tuple[str, str]:
    """``url`` with its dates left out, and the dates."""
    start = url.find("/", 8)
    dates: list[str] = []

    def leave_out(match: re.Match[str]) -> str:
        dates.append(match[0])
        return "DATE"

    def leave_out_value(match: re.Match[str]) -> str:
        dates.append(match[0])
        return f"{match[1]}DATE"

    form = _DATE.sub(leave_out, url[start:])
    if "?" in form:
        form = _DATE_PARAMETER.sub(leave_out_value, form)
    return url[:start] + form, " ".join(dates)


def _hash(text: str, size: int) -> int:
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=size).digest()
    return int.from_bytes(digest, "big")
