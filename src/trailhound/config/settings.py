"""Everything that can be set for a crawl, with its default, its limits and one sentence on it.

Each class is a section of ``trailhound.toml``. The descriptions are shown by ``config show``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

PREFIX = "TRAILHOUND_"
DEFAULT_MAX_REQUESTS = 1000
"""The budget of a crawl that was given none at all, neither requests nor time."""
OLD_NAMES = {"crawl.max_pages": "crawl.max_requests"}
"""Settings that had another name once. Files, variables and kept crawls may still use it."""

Duration = Annotated[float, Meta(gt=0, extra={"duration": True})]
"""Seconds; written as a number or as ``90s``, ``10m``, ``2h``, ``1h30m``, ``1d``."""
Pause = Annotated[float, Meta(ge=0, extra={"duration": True})]
"""The same, and 0 for none."""
Size = Annotated[int, Meta(ge=0, le=2**63 - 1, extra={"size": True})]
"""Bytes; written as a number or as ``500MB``, ``2GB``."""
Count = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Names = tuple[str, ...]
Lines = Annotated[Names, Meta(extra={"lines": True})]
"""Texts with blanks and commas in them: one in each line."""


class CrawlSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[crawl]``: where it goes, and when it ends."""

    seeds: Annotated[
        Names, Meta(description="Pages to start from; without any, pages of the sessions.")
    ] = ()
    seeds_from: Annotated[
        str,
        Meta(
            pattern="^(search)?$",
            description="'search': also start from the first results for the topic's words.",
        ),
    ] = ""
    strategy: Annotated[
        str, Meta(description="Which link next: a name of 'trailhound strategies', with options.")
    ] = "trail"
    max_requests: Annotated[
        Count | None,
        Meta(description="Requests in all, earlier runs of the crawl included."),
    ] = None
    max_time: Annotated[Duration | None, Meta(description="Length of one run.")] = None
    scope: Annotated[
        Names,
        Meta(description="Hosts (*.example.org) or beginnings of URLs to stay in; empty: the web."),
    ] = ()
    same_domain: Annotated[
        bool, Meta(description="Stay on the registered domains of the seeds.")
    ] = False
    exclude: Annotated[Names, Meta(description="Hosts or beginnings of URLs never to visit.")] = ()
    sitemaps: Annotated[
        bool, Meta(description="Also start from the sitemaps and feeds of the seeds' sites.")
    ] = False
    obey_nofollow: Annotated[
        bool, Meta(description="Leave links alone that their pages mark as nofollow.")
    ] = False
    give_up_after: Annotated[
        Count | None, Meta(description="End after so many pages without a relevant one.")
    ] = None
    max_idle: Annotated[
        Duration,
        Meta(description="End when all hosts that are left want to be left alone for longer."),
    ] = 300.0
    wait_for_better: Annotated[
        Pause,
        Meta(
            description="Wait so long at most for a host with something much better, by the "
            "strategy's own measure, while it is asked and again while it rests; 0: never. Nor "
            "when --max-time alone limits the crawl."
        ),
    ] = 5.0
    min_free: Annotated[
        Size,
        Meta(description="Wait while less is free on the disk that keeps the crawl; 0: never."),
    ] = 500_000_000
    concurrency: Annotated[
        Annotated[int, Meta(ge=1, le=500)], Meta(description="Fetches in flight, on as many hosts.")
    ] = 4
    workers: Annotated[Count, Meta(description="Processes that read and score pages.")] = 1
    page_seconds: Annotated[
        Duration, Meta(description="The most that analysing one page may take in its process.")
    ] = 10.0
    page_memory: Annotated[
        Annotated[int, Meta(ge=100_000_000)],
        Meta(description="Bytes of memory that analysing one page may take in its process."),
    ] = 320_000_000
    plugin_seconds: Annotated[
        Duration,
        Meta(description="The most that a plug-in may take to fetch or keep a page, or to close."),
    ] = 120.0
    avoid_traps: Annotated[
        bool, Meta(description="Refuse addresses without end: calendars, filters, growing paths.")
    ] = True
    host_budgets: Annotated[
        bool, Meta(description="Give hosts that yield nothing relevant fewer pages.")
    ] = True
    near_duplicates: Annotated[
        bool, Meta(description="Count a relevant page that repeats an earlier one as its copy.")
    ] = True
    frontier: Annotated[
        str,
        Meta(description="What keeps the URLs that wait: a name of 'trailhound plugins', a file."),
    ] = "sqlite"
    charge_sources: Annotated[bool, Meta(description="Count questions to sources as requests.")] = (
        True
    )

    @property
    def seconds_for_better(self) -> float:
        """None to wait when time alone limits the crawl: a request costs nothing then."""
        is_short_of_time = self.max_time is not None and self.max_requests is None
        return 0.0 if is_short_of_time else self.wait_for_better


class JudgeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[judge]``: is this page on topic?"""

    kind: Annotated[
        str,
        Meta(description="Who decides: a name of 'trailhound judges' with options, or a file.py."),
    ] = "auto"
    threshold: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(description="Score from which a page is relevant; as learned when it is not set."),
    ] = None


class SourceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[sources]``: what may be asked besides the web itself."""

    backlinks: Annotated[
        str,
        Meta(description="Who links to a page: 'crawl', a file of edges, or an HTTP endpoint."),
    ] = ""
    trace: Annotated[
        str, Meta(description="What people visited: an access log, or 'sessions'.")
    ] = ""
    search: Annotated[
        str, Meta(description="A search: an HTTP endpoint, or 'crawl' for the pages kept so far.")
    ] = ""


class FetchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[fetch]``: how the web is asked."""

    user_agent: Annotated[
        str, Meta(description="Who we are, with a contact; the fetcher http needs it.")
    ] = ""
    fetcher: Annotated[
        str,
        Meta(description="Who gets pages: a name of 'trailhound plugins' with options, a file.py."),
    ] = "http"
    render: Annotated[
        str,
        Meta(
            pattern="^(never|auto|always)$",
            description="Which pages a browser renders: never, auto (where it pays), always.",
        ),
    ] = "never"
    delay_seconds: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(
            description="From a host's answer to the next request to it; by default one second, "
            "and none for hosts of this machine that are named ….test."
        ),
    ] = None
    address_delay_seconds: Annotated[
        float, Meta(ge=0, description="Between requests to one IP address.")
    ] = 0.5
    max_crawl_delay_seconds: Annotated[
        float, Meta(ge=0, description="The most that a site's Crawl-delay gets.")
    ] = 60.0
    timeout_seconds: Annotated[float, Meta(gt=0, description="For one request as a whole.")] = 10.0
    max_bytes: Annotated[Count, Meta(description="Size of one page, unpacked.")] = 5_000_000
    documents: Annotated[
        str,
        Meta(
            description="What is read besides HTML: 'none', or some of text, feeds, pdf, office; "
            "'auto': text and feeds, and all with the extra trailhound[documents]."
        ),
    ] = "auto"
    max_document_bytes: Annotated[
        Annotated[int, Meta(ge=1, le=30_000_000)],
        Meta(description="Size of one PDF or office document, unpacked."),
    ] = 20_000_000
    max_redirects: Annotated[int, Meta(ge=0, description="Redirects that one fetch follows.")] = 10
    obey_robots: Annotated[bool, Meta(description="Obey robots.txt.")] = True
    allow_impolite: Annotated[
        bool, Meta(description="Accept settings that are rude to the sites visited.")
    ] = False
    allow_addresses: Annotated[
        Names,
        Meta(description="Hosts, addresses or networks beyond the public web that may be visited."),
    ] = ()
    resolve: Annotated[
        Names, Meta(description="HOST=ADDRESS[:PORT]: where a host is, whatever DNS says.")
    ] = ()
    headers: Annotated[
        Lines, Meta(description="'Name: value' for every request; nothing secret may be in it.")
    ] = ()
    from_mail: Annotated[str, Meta(description="Your mail address, for the header From.")] = ""
    as_me: Annotated[
        Names,
        Meta(description="Hosts that are read with the cookies and headers kept for them."),
    ] = ()
    access_file: Annotated[
        str, Meta(description="Where these are kept; by default access.json of the workspace.")
    ] = ""
    proxies: Annotated[
        Names,
        Meta(
            description="URL, http=URL, https=URL, host:NAME=URL (http, https, socks5), or 'env'; "
            "'direct' for none."
        ),
    ] = ()
    proxy_resolves: Annotated[
        bool,
        Meta(description="Let proxies look up names unseen: private ones are not refused then."),
    ] = False

    @property
    def is_over_http(self) -> bool:
        """Whether pages come from the web by our own HTTP, rendered or not."""
        return self.fetcher.partition(":")[0] in ("http", "browser")


class OutputSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[output]``: what a crawl leaves behind, besides its results."""

    archive: Annotated[bool, Meta(description="Keep everything fetched as WARC files.")] = True
    archive_file_bytes: Annotated[
        Annotated[int, Meta(ge=1_000_000)], Meta(description="Size at which a WARC file is full.")
    ] = 1_000_000_000
    log: Annotated[bool, Meta(description="Write each event to log.jsonl.")] = True
    sinks: Annotated[
        Names,
        Meta(description="Who else gets each page: names of 'trailhound plugins', or files.py."),
    ] = ()
    metrics_port: Annotated[
        Annotated[int, Meta(ge=1, le=65535)] | None,
        Meta(description="Port on this machine for Prometheus; none when it is not set."),
    ] = None


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All sections."""

    crawl: CrawlSettings = msgspec.field(default_factory=CrawlSettings)
    judge: JudgeSettings = msgspec.field(default_factory=JudgeSettings)
    sources: SourceSettings = msgspec.field(default_factory=SourceSettings)
    fetch: FetchSettings = msgspec.field(default_factory=FetchSettings)
    output: OutputSettings = msgspec.field(default_factory=OutputSettings)

    def value(self, key: str) -> Any:
        """The value under ``section.name``."""
        section, _, name = key.partition(".")
        return getattr(getattr(self, section), name)

    def changed(self, values: dict[str, Any]) -> Settings:
        """A copy with other values, by ``section.name``."""
        sections = msgspec.structs.asdict(self)
        for key, value in values.items():
            section, _, name = key.partition(".")
            sections[section] = msgspec.structs.replace(sections[section], **{name: value})
        return Settings(**sections)


class Setting(NamedTuple):
    """One thing that can be set."""

    key: str
    """``section.name``, as in the file."""
    variable: str
    """Of the environment."""
    type: Any
    description: str


@cache
def all_settings() -> tuple[Setting, ...]:
    """In the order of the file."""
    return tuple(_read_settings())


def _read_settings() -> Iterator[Setting]:
    for section in msgspec.structs.fields(Settings):
        for field in msgspec.structs.fields(section.type):
            key = f"{section.name}.{field.name}"
            notes = getattr(field.type, "__metadata__", ())
            description = next((note.description for note in notes if note.description), "")
            yield Setting(key, variable_of(key), field.type, description)


def variable_of(key: str) -> str:
    """The variable of the environment for ``section.name``."""
    return PREFIX + key.partition(".")[2].upper()


def with_new_names(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Sections as somebody wrote them, with old names of settings replaced by today's."""
    renamed = dict(sections)
    for old, new in OLD_NAMES.items():
        section, _, name = old.partition(".")
        content = renamed.get(section)
        if isinstance(content, dict) and name in content:
            rest = {key: value for key, value in content.items() if key != name}
            renamed[section] = {new.partition(".")[2]: content[name], **rest}
    return renamed
