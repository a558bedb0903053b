"""What a run of a crawl is to do, and what it knows beforehand.

Settings come from flags and files, or from the run before; the topic was learned, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

from trailhound.config.settings import DEFAULT_MAX_REQUESTS, Settings, SourceSettings
from trailhound.counting import counted
from trailhound.crawling.budget import Budget
from trailhound.crawling.build import Knowledge, OwnParts
from trailhound.crawling.choosing import check_parts
from trailhound.crawling.scope import scope_of
from trailhound.errors import ConfigError, SessionError, UsageError
from trailhound.judges.choosing import check_judge, make_judge
from trailhound.plugins import FETCHER, FRONTIER, JUDGE, SINK, STRATEGY, absolute
from trailhound.strategies.base import Briefing
from trailhound.strategies.choosing import check_live_spec, declares
from trailhound.topics.access import with_access
from trailhound.topics.crawls.folder import CrawlFolder, CrawlRecord
from trailhound.topics.learned import LearnedTopic
from trailhound.topics.model_folder import fingerprint_of, saved_fingerprint
from trailhound.topics.runs.starts import USUAL_SEEDS, seeds_of
from trailhound.topics.workspace import TopicFolder
from trailhound.urls import typed_url, without_login

TYPED_ADDRESSES = frozenset({"crawl.seeds", "crawl.scope", "crawl.exclude"})
"""Settings in which a person may write an address with her name and password."""
SESSIONS = "sessions"
"""Names the topic's own sessions as a trace."""


@dataclass(frozen=True)
class CrawlRequest:
    """What was asked for."""

    settings: Settings = field(default_factory=Settings)
    """For a new crawl: from flags, environment, file and defaults."""
    flags: Mapping[str, Any] = field(default_factory=dict)
    """What was said in so many words, by ``section.name``; a resumed crawl takes only these."""
    resume: bool = False
    restart: bool = False
    """Set an earlier crawl aside."""
    refresh: bool = False
    """Resume, and ask first whether the relevant pages have changed."""
    only_due: bool = False
    """Only those that have not been looked at for their interval."""
    seconds: float | None = None
    """The most that this run may take, whatever is set for all."""
    may_be_spent: bool = False
    """Whether a crawl without a request left is opened, and ends at once: no error then."""
    mends_all: bool = False
    """Whether all pages of the stores are held against each other, not only the last."""
    fresh: bool = False
    """Begin without what earlier crawls have taught the strategy."""
    started_by: str = "program"
    """Who wants it, and after a colon what the run is to be called."""
    asked_elsewhere: frozenset[str] = frozenset()
    """Sources that whoever wants the crawl asks: nothing is amiss if its strategy does not."""


@dataclass(frozen=True)
class CrawlPlan:
    """What this run will do."""

    settings: Settings
    seeds: tuple[str, ...]
    """Canonical; those that a resumed crawl is to add."""
    record: CrawlRecord | None
    """Of the crawl that is resumed; ``None`` for a new one."""
    refresh: bool = False
    only_due: bool = False
    """Whether only pages are asked for news that are due."""
    fresh: bool = False
    seconds: float | None = None
    """The most that this run may take."""
    limit_was_said: bool = False
    """Whether the budget of requests is this run's, not an earlier one's."""
    may_be_spent: bool = False
    mends_all: bool = False
    asked_elsewhere: frozenset[str] = frozenset()
    """Sources that not the strategy asks."""
    access_file: str = ""
    """Where cookies are, as it was said: the workspace's own file is found again wherever it is."""
    newly_as_me: frozenset[str] = frozenset()
    """Hosts that this run, in so many words, is to read as the person."""
    own_parts: Mapping[str, str] = field(default_factory=dict)
    """Names of parts that only the program has, by kind."""

    @property
    def told_of_sinks(self) -> str:
        """What a person should know when this run has not the program's own sinks of the last."""
        before = self.record.own_parts.get("sinks") if self.record is not None else ""
        if not before or self.own_parts.get("sinks"):
            return ""
        return (
            f"The last run had sinks of your own ({before}), and this one has none: to have its "
            "pages kept there as well, give them again, as sinks=…"
        )

    @property
    def all_seeds(self) -> tuple[str, ...]:
        """Those of earlier runs, too."""
        before = self.record.settings.crawl.seeds if self.record is not None else ()
        return tuple(dict.fromkeys((*before, *self.seeds)))

    def budget(self, requests: int, to_refresh: int = 0) -> Budget:
        """Limits of all runs together, ``requests`` of which have been made.

        A crawl without any limit has a default one. A refresh gets what it needs beyond the limit
        of an earlier run, not beyond its own.
        """
        max_requests, max_time = self.settings.crawl.max_requests, self.settings.crawl.max_time
        if self.seconds is not None:
            max_time = min(self.seconds, max_time or self.seconds)
        if max_requests is None and max_time is None:
            max_requests = DEFAULT_MAX_REQUESTS
        if max_requests is None:
            return Budget(None, max_time)
        if to_refresh and not self.limit_was_said:
            return Budget(max(max_requests, requests + to_refresh), max_time)
        if requests >= max_requests and not self.may_be_spent:
            raise UsageError(
                f"The crawl has made {counted(requests, 'request')}, and its budget is "
                f"{max_requests:,}. Allow more with --max-requests {2 * requests}."
            )
        return Budget(max_requests, max_time)

    @property
    def told_of_seeds(self) -> str:
        """What to say of where a new crawl starts, if it is not what somebody may think."""
        if self.record is not None or not self.seeds:
            return ""
        if self.settings.crawl.seeds:
            in_scope = scope_of(self.settings, self.seeds) or (lambda _url: True)
            outside = next((seed for seed in self.seeds if not in_scope(seed)), None)
            if outside is None:
                return ""
            return (
                f"{outside} is not in scope. As a seed it is fetched, but of its links only those "
                "in scope are followed: change --scope, --exclude or the seed if you meant more."
            )
        pages = counted(len(self.seeds), "page")
        return (
            f"No seed was named. It starts from {pages} of your sessions, or of sites in them; the "
            f"first is {self.seeds[0]}"
        )

    def record_of(self, topic: str, states: int, model: str, now: float) -> CrawlRecord:
        """What is written down when the run begins."""
        return CrawlRecord(
            topic=topic,
            settings=self.settings.changed(
                {"crawl.seeds": self.all_seeds, "fetch.access_file": self.access_file}
            ),
            created_at=self.record.created_at if self.record is not None else now,
            states=states,
            model=model,
            own_parts=dict(self.own_parts),
        )


def make_plan(
    request: CrawlRequest, folder: CrawlFolder, known: Knowledge, own: OwnParts
) -> CrawlPlan:
    """Check everything that can be checked before a file is written or a page is fetched.

    Parts of the program's ``own`` are named in the settings for the record alone.
    """
    record = None
    if request.resume or request.refresh:
        record = folder.require().read()
        settings = record.settings.changed(_values(request.flags))
        seeds = request.flags.get("crawl.seeds") or ()
        _check_own_parts(record, request, own)
    else:
        _check_new(request, folder)
        settings, seeds = request.settings, request.settings.crawl.seeds
    settings, said = without_typed_logins(for_every_folder(settings)), settings.fetch
    settings = _with_access(settings, folder)
    if own.strategy is None:
        check_live_spec(settings.crawl.strategy)
    if record is None and settings.crawl.seeds_from:
        check_search(settings)
    if own.fetcher is None and settings.fetch.is_over_http:
        _check_user_agent(settings)
    if own.judge is None:
        check_judge(settings.judge.kind)
    check_parts(settings)
    if known.model is None and own.judge is None and not needs_no_session(settings):
        _check_learned(folder, settings)
    if record is None and not (seeds or settings.crawl.seeds_from):
        seeds = _seeds_of_sessions(settings, known)
    if record is not None:
        _check_same_kind(record, settings, known, own)
    _check_sources(settings, folder)
    return CrawlPlan(
        settings,
        tuple(map(typed_url, seeds)),
        record,
        request.refresh,
        request.only_due,
        request.fresh,
        request.seconds,
        request.flags.get("crawl.max_requests") is not None,
        request.may_be_spent,
        request.mends_all,
        request.asked_elsewhere | ({"search"} if settings.crawl.seeds_from else set()),
        said.access_file,
        frozenset(settings.fetch.as_me if request.flags.get("fetch.as_me") else ()),
        own.names,
    )


_NAMED_BY = {
    "strategy": "crawl.strategy",
    "judge": "judge.kind",
    "fetcher": "fetch.fetcher",
    "resolver": "fetch.resolve",
}
"""Settings that name a part, or say the same, by its kind."""


def _check_own_parts(record: CrawlRecord, request: CrawlRequest, own: OwnParts) -> None:
    """Nobody else has the objects of a program, and what the settings name is not the same."""
    for part, setting in _NAMED_BY.items():
        name = record.own_parts.get(part)
        if name and getattr(own, part) is None and not request.flags.get(setting):
            raise UsageError(
                f"It was crawled with a {part} of your own ({name}): give it again, as {part}=…, "
                "or begin anew in another folder."
            )


def _check_learned(folder: CrawlFolder, settings: Settings) -> None:
    if folder.is_the_topics_own:
        folder.topic.load()  # says that there is nothing
        return
    raise UsageError(
        f"The crawl has no topic, and the judge '{settings.judge.kind}' goes by what was learned "
        "for one. Say what is relevant with judge=: a function of a page, or a judge that needs no "
        "topic, such as judge='keywords:words=hive'; or name a topic."
    )


def _with_access(settings: Settings, folder: CrawlFolder) -> Settings:
    """Settings without logins of proxies, that say where those and cookies are kept."""
    if not folder.is_kept:
        if settings.fetch.as_me and not settings.fetch.access_file:
            raise UsageError(
                "Cookies and headers for hosts are kept on disk, and this crawl keeps everything "
                "in memory. Name a folder for it, or the file with access_file=…."
            )
        return settings
    fetch = with_access(settings.fetch, folder.secrets_home)
    return settings.changed(
        {f"fetch.{key}": getattr(fetch, key) for key in ("as_me", "access_file", "proxies")}
    )


def for_every_folder(settings: Settings) -> Settings:
    """With absolute paths of plug-ins and of the trace: a crawl is resumed from anywhere."""
    return settings.changed(
        {
            "crawl.strategy": absolute(settings.crawl.strategy, STRATEGY),
            "crawl.frontier": absolute(settings.crawl.frontier, FRONTIER),
            "judge.kind": absolute(settings.judge.kind, JUDGE),
            "fetch.fetcher": absolute(settings.fetch.fetcher, FETCHER),
            "output.sinks": tuple(absolute(spec, SINK) for spec in settings.output.sinks),
            "sources.trace": _absolute_trace(settings.sources.trace),
        }
    )


def without_typed_logins(settings: Settings) -> Settings:
    """Without names and passwords in addresses as they were typed: they are written nowhere."""
    typed = {key: tuple(map(without_login, settings.value(key))) for key in TYPED_ADDRESSES}
    seeds = tuple(map(typed_url, settings.crawl.seeds))
    return settings.changed({**typed, "crawl.seeds": seeds})


def _absolute_trace(name: str) -> str:
    if name in ("", SESSIONS):
        return name
    site, file = site_and_file(name)
    with suppress(RuntimeError):  # nobody's home; whoever opens it will say so
        file = str(Path(file).expanduser().absolute())
    return f"{site}={file}" if site else file


def site_and_file(name: str) -> tuple[str, str]:
    """Of a trace ``SITE=FILE``; no site for ``FILE``."""
    site, equals, file = name.rpartition("=")
    return (site, file) if equals and site.startswith(("http://", "https://")) else ("", name)


def _values(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Flags that change settings; new seeds are added to the old ones."""
    return {
        key: value for key, value in flags.items() if value is not None and key != "crawl.seeds"
    }


def _check_new(request: CrawlRequest, folder: CrawlFolder) -> None:
    if folder.exists() and not request.restart:
        name = folder.topic.name
        raise UsageError(
            f"The topic '{name}' has a crawl already. Go on with: trailhound crawl "
            f"{quote(name)} --resume (with more --seed URLs if you like), or begin anew with "
            "--restart, which keeps the old one beside it."
        )


def _seeds_of_sessions(settings: Settings, known: Knowledge) -> tuple[str, ...]:
    """Where a crawl starts for which no seed was named; nowhere if a trace has its pages."""
    goes_by_trace = settings.sources.trace and declares(settings.crawl.strategy, "needs_trace")
    if goes_by_trace and settings.crawl.same_domain:
        raise UsageError(
            "--same-domain stays on the domains of the seeds, and there are none. Name seeds with "
            "--seed URL, or say where to stay with --scope HOST."
        )
    if goes_by_trace:
        return ()
    in_scope = scope_of(settings, ()) or (lambda _url: True)
    found = seeds_of(known.graph, USUAL_SEEDS, in_scope)
    if not found and seeds_of(known.graph, 1):
        raise UsageError(
            "None of the pages that your sessions suggest to start from is in scope. Name others "
            "with --seed URL, or change --scope and --exclude."
        )
    if not found:
        raise UsageError("A crawl needs a page to start from. Name one or more: --seed URL")
    return tuple(seed.url for seed in found)


def _check_sources(settings: Settings, folder: CrawlFolder) -> None:
    if settings.sources != SourceSettings() and not folder.is_kept:
        raise UsageError(
            "What sources answer is kept on disk, and this crawl keeps everything in memory. Name "
            "a folder for it."
        )


def check_search(settings: Settings) -> None:
    """UsageError unless there is something to ask for pages to start from."""
    if not settings.sources.search:
        raise UsageError(
            "--seeds-from search needs something to ask. Name it: an address with {query} in it "
            "(--search 'http://localhost:8888/search?q={query}&format=json'), a WARC or WACZ file, "
            "or a folder of them."
        )


def _check_same_kind(
    record: CrawlRecord, settings: Settings, known: Knowledge, own: OwnParts
) -> None:
    """What waits in the frontier was ranked by one strategy and one kind of model."""
    earlier = for_every_folder(record.settings)
    before, now = earlier.crawl.strategy, settings.crawl.strategy
    if before != now:
        raise UsageError(
            f"The crawl was begun with the strategy '{before}', and what waits was ranked by it. "
            f"Resume without --strategy, or begin anew with '{now}' and --restart."
        )
    if earlier.crawl.frontier != settings.crawl.frontier:
        raise UsageError(
            f"What waits is kept by the frontier '{earlier.crawl.frontier}', and another "
            "cannot read it. Resume without [crawl] frontier, or begin anew with --restart."
        )
    if settings.crawl.frontier == "memory":
        raise UsageError(
            "What waited was kept in memory, so that nothing of it is left to go on with. Begin "
            "anew with --restart, and leave out [crawl] frontier to be able to resume."
        )
    states = known.states
    if own.strategy is None and states != record.states and declares(now, "remembers_states"):
        raise UsageError(
            f"The topic was learned again with {states} states, and the crawl remembers paths in "
            f"{record.states}. Begin it anew with --restart, or learn with --states "
            f"{record.states}."
        )


def _check_user_agent(settings: Settings) -> None:
    if not settings.fetch.user_agent.strip():
        raise ConfigError(
            "A live crawl must say who it is, so that sites can reach you. Give a name and a "
            "contact with --user-agent 'bees-bot (+https://example.org/bot)', in the variable "
            "TRAILHOUND_USER_AGENT, as user_agent under [fetch] in trailhound.toml, or as "
            "user_agent=… in a program."
        )


def knowledge_of(topic: TopicFolder) -> Knowledge:
    """What was learned, if anything, with thresholds that were chosen instead of learned ones.

    ModelError when that cannot be read.
    """
    if not topic.is_learned():
        return Knowledge()
    known = knowledge_from(topic.load(), saved_fingerprint(topic.model_path))
    return replace(known, thresholds={**known.thresholds, **topic.record().thresholds})


def knowledge_from(learned: LearnedTopic, fingerprint: str | None = None) -> Knowledge:
    """The same of a topic in memory; its fingerprint is computed unless it is known."""
    return Knowledge(
        learned.model.graph,
        learned.model,
        {name: each.threshold for name, each in learned.judges.items()},
        fingerprint or fingerprint_of(learned),
    )


def needs_no_session(settings: Settings) -> bool:
    """Whether the judge knows relevant pages without having been shown any."""
    judge = settings.judge
    try:
        make_judge(judge.kind, Briefing(Knowledge().graph), threshold=judge.threshold)
    except SessionError:
        return False
    return True
