"""The records that pass between the stages of a crawl.

They are frozen ``msgspec`` structs: cheap to make, safe to share, and writable to disk or to a
worker process exactly as they are. Those that hold nothing but texts and numbers are not watched
by the garbage collector (``gc=False``): they can be part of no circle. Every URL in a record is
canonical (see :mod:`trailhound.urls`).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec


class Outcome(StrEnum):
    """How one attempt to fetch a URL ended. Failures on the web are outcomes, not exceptions."""

    FETCHED = "fetched"
    NOT_FOUND = "not-found"
    CLIENT_ERROR = "client-error"
    SERVER_ERROR = "server-error"
    NOT_HTML = "not-html"
    TOO_LARGE = "too-large"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    UNKNOWN_HOST = "unknown-host"
    """DNS knows no such host."""
    ROBOTS = "robots"
    TOO_MANY_REDIRECTS = "too-many-redirects"
    OUT_OF_SCOPE = "out-of-scope"
    """A redirect led to a URL that the crawl may not visit."""
    DUPLICATE = "duplicate"
    """A redirect led to a page that had been fetched before."""
    NOT_MODIFIED = "not-modified"
    """Asked for news of a known page; there are none."""
    ADDRESS_REFUSED = "address-refused"
    """The host, or one that a redirect led to, is at an address that the crawl may not use."""
    LOGIN_WANTED = "login-wanted"
    """The page asks to log in: there is nothing to read without that."""
    BUSY = "busy"
    """The server asked to be left alone for a while (429, 503); may be asked again."""
    POSTPONED = "postponed"
    """The host may not be asked so soon; the URL should wait and be asked again. Or it redirects,
    and the budget has no request left for where to; that is what waits then."""
    BROKEN = "broken"
    """Our own code, or a plug-in, failed on this page; the event's ``why`` carries the error."""
    UNREADABLE = "unreadable"
    """A document came that cannot be read: damaged, or locked by a password."""
    TOO_COSTLY = "too-costly"
    """Analysing the page took longer, or more memory, than one page may take."""
    SKIPPED = "skipped"
    """The crawl's own rules kept it from being fetched: its host had had its share, or is
    unknown to DNS."""

    @classmethod
    def of_status(cls, status: int) -> Outcome:
        """What a server's last answer comes to, by its number alone."""
        if 200 <= status < 300:
            return cls.FETCHED
        if status in (404, 410):
            return cls.NOT_FOUND
        # Above: 5xx. Below: answers to questions that were never asked.
        return cls.CLIENT_ERROR if 400 <= status < 500 else cls.SERVER_ERROR


class LinkKind(StrEnum):
    """Which element a link came from."""

    ANCHOR = "a"
    AREA = "area"
    FRAME = "frame"
    IFRAME = "iframe"


class Link(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One hyperlink of a page, with what a reader sees around it."""

    url: str
    anchor: str = ""
    """Visible words inside the link."""
    image_alt: str = ""
    """``alt`` texts of images inside the link, and its ``title`` attribute."""
    before: str = ""
    """Up to ten words in front of the link."""
    after: str = ""
    """Up to ten words behind it."""
    heading: str = ""
    """The nearest heading above it."""
    tag_path: str = ""
    """Elements from the body to the link, with their first class: ``div.nav/ul/li``."""
    kind: LinkKind = LinkKind.ANCHOR
    nofollow: bool = False


class Page(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page as the extractor understood it."""

    url: str
    title: str = ""
    description: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    """Visible text: white space collapsed, no scripts or styles."""
    language: str = ""
    """Two-letter ISO 639-1 code, or empty when unknown."""
    terms: dict[str, int] = msgspec.field(default_factory=dict)
    """Stemmed terms of title and text with their counts: what models see of a page."""
    links: tuple[Link, ...] = ()
    """In document order; several links may lead to the same URL."""
    canonical_url: str | None = None
    """What the page itself declares by ``rel=canonical``."""
    is_frameset: bool = False
    noindex: bool = False
    nofollow: bool = False
    encoding: str = ""


class Exchange(msgspec.Struct, frozen=True):
    """One request and its answer, as an archive keeps them.

    Header names and values are Latin-1: one character for each byte on the wire. The body is as
    received and still has its ``Content-Encoding``; only chunks are joined, and where they were,
    ``headers`` has a ``Content-Length`` instead of the ``Transfer-Encoding``.
    """

    url: str
    requested_at: float
    """Seconds since 1970."""
    request_headers: tuple[tuple[str, str], ...]
    status: int
    reason: str
    http_version: str
    """``1.1`` or ``1.0``."""
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""
    address: str = ""
    """The IP address that answered."""
    truncated: str = ""
    """Why ``body`` is not whole, in the words of WARC: length, time, disconnect, unspecified."""


def header_value(headers: Iterable[tuple[str, str]], name: str) -> str:
    """The first value of a header (``name`` in lower case); empty without one."""
    return next((value for key, value in headers if key.lower() == name), "")


class FetchResult(msgspec.Struct, frozen=True):
    """What came back for one URL."""

    url: str
    outcome: Outcome
    final_url: str
    """Where the redirects ended; equal to ``url`` without any."""
    requests: int = 1
    """GETs this cost, redirect hops and refusals included: the unit of all accounting."""
    status: int | None = None
    content_type: str = ""
    body: bytes = b""
    page: Page | None = None
    """Set by a recorded web, which keeps pages as they were extracted."""
    detail: str = ""
    """The reason in words when the outcome is not ``FETCHED``, or a remark on a fetched page."""
    headers: tuple[tuple[str, str], ...] = ()
    """Of the last answer: names and values in Latin-1, as received."""
    exchanges: tuple[Exchange, ...] = ()
    """Every answered request, redirects first; without the parts of a page that was rendered."""
    rendered: bool = False
    """Whether ``body`` is what a browser made of the last answer, which is in ``exchanges``."""
    noindex: bool = False
    """``X-Robots-Tag`` asks not to list this page; the page's own wish is in ``Page``."""
    nofollow: bool = False
    """``X-Robots-Tag`` asks not to follow its links."""
    retry_after_seconds: float | None = None
    """Asking for this URL again makes sense after this time; ``None``: the outcome is final."""

    def header(self, name: str) -> str:
        """The first value of a header of the last answer; empty without one."""
        return header_value(self.headers, name.lower())


class Relevance(msgspec.Struct, frozen=True, gc=False):
    """A judge's opinion of a page."""

    score: float
    """0 to 1."""
    relevant: bool


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A URL waiting in the frontier."""

    url: str
    priority: float
    """Higher is fetched sooner; ties in order of arrival."""
    memory: bytes = b""
    """What the strategy wants back when this URL has been fetched; the frontier keeps it."""
    parent: str | None = None
    """The page whose link gave this priority; ``None`` for a seed."""
    depth: int = 0
    """Links from the nearest seed along the path that set the priority."""


class ScoredLink(msgspec.Struct, frozen=True, gc=False):
    """A strategy's verdict on one link of a fetched page."""

    link: Link
    priority: float
    memory: bytes = b""


class CrawledPage(msgspec.Struct, frozen=True):
    """A fetched page as strategies see it."""

    page: Page
    relevance: Relevance
    candidate: Candidate


class PageEvent(msgspec.Struct, frozen=True):
    """One line of a crawl's story: what was asked for, why then, and what came of it."""

    number: int
    """Position in the crawl, from 1."""
    url: str
    final_url: str
    outcome: Outcome
    parent: str | None
    depth: int
    priority: float
    requests: int
    requests_total: int
    """Requests of the crawl so far, these and those to sources included."""
    relevance: Relevance | None = None
    links_found: int = 0
    links_added: int = 0
    """New URLs this page brought into the frontier."""
    links_outside: int = 0
    """Links to URLs that the crawl may not visit."""
    why: str = ""
    title: str = ""
    duplicate_of: str | None = None
    """An earlier page that says the same: this one counts as no further find."""
    noindex: bool = False
    """The page asks not to be listed."""
    at: float = 0.0
    """When it was processed, on the crawl's clock."""
    queries: int = 0
    """Questions to sources that this page made the strategy ask, and pages read through them."""

    @property
    def is_find(self) -> bool:
        """Whether results list it: relevant, no copy, and it does not ask to be left out."""
        is_relevant = self.relevance is not None and self.relevance.relevant
        return is_relevant and self.duplicate_of is None and not self.noindex


class FinishedPage(msgspec.Struct, frozen=True):
    """All that a crawl knows about one candidate when it is done with it: what sinks get."""

    event: PageEvent
    candidate: Candidate
    result: FetchResult
    page: Page | None = None
    """``None`` when there was nothing to extract."""
    fingerprint: int | None = None
    """What near duplicates are told by; ``None`` when the page was not looked at for that."""
