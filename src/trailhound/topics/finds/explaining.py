"""Why a page was fetched when it was, or why it was not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property

import msgspec

from trailhound.counting import counted
from trailhound.crawling.engine import SEED_PRIORITY
from trailhound.crawling.scope import Scope, scope_of
from trailhound.crawling.traps import TrapGuard
from trailhound.errors import ModelError, UsageError
from trailhound.frontier.base import UrlState, UrlStatus
from trailhound.frontier.reading import look_up, queue_place
from trailhound.frontier.tables import is_blanked
from trailhound.records import Candidate, Outcome
from trailhound.storage.event_log import last_put_off
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.strategies.base import Reason
from trailhound.topics.crawls.folder import CrawlFolder, CrawlRecord
from trailhound.topics.crawls.marking import mark_in_words
from trailhound.topics.crawls.notices import ENDS
from trailhound.urls import crawled_urls, strip_tracking

FORGOTTEN = "(forgotten)"
"""What is shown in place of a page that was forgotten."""

Beliefs = Callable[[bytes], Mapping[str, float]]
"""From the memory of a candidate to named figures; see ``strategies.base.Explaining``."""

Reasons = Callable[[Candidate | StoredPage], Sequence[Reason]]
"""From a URL, as it was queued, to what moved its priority."""

Words = Callable[[str], tuple[list[str], list[str]]]
"""From the address of a page to its words that speak for it, and against it."""


class Explanation(msgspec.Struct, kw_only=True):
    """The story of one URL."""

    url: str
    verdict: str
    """``fetched``, ``waiting``, ``refused``, ``out-of-scope``, ``never-seen``, or the outcome."""
    because: str
    """The answer in one sentence."""
    details: list[str] = msgspec.field(default_factory=list)
    path: list[str] = msgspec.field(default_factory=list)
    """To the URL: from a seed, or from the page by whose link the strategy knew where to begin."""
    number: int | None = None
    """Its position in the crawl."""
    priority: float | None = None
    belief: Mapping[str, float] = msgspec.field(default_factory=dict)
    """What the strategy expected behind the link that led here."""
    reasons: Sequence[Reason] = ()
    """What moved the link's priority, the strongest first, where the strategy can say so."""
    words_for: list[str] = msgspec.field(default_factory=list)
    """Words of the page that speak for it, the strongest first, where the judge can say so."""
    words_against: list[str] = msgspec.field(default_factory=list)
    ahead: int | None = None
    """URLs that come before it in the queue."""
    shard: str = ""
    """Which shard of a cluster's crawl has its host; empty for a crawl on one machine."""


class Explainer:
    """Answers for one crawl; ``beliefs`` and ``reasons`` put a strategy's memory into words.

    ``words`` are those by which the judge knows a page.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        results: Results,
        beliefs: Beliefs,
        reasons: Reasons = lambda *_: (),
        words: Words = lambda _: ([], []),
    ) -> None:
        self._folder = folder
        self._results = results
        self._beliefs = beliefs
        self._reasons = reasons
        self._words = words
        self._shards = folder.shards()
        self._record: CrawlRecord = folder.read()

    def explain(self, address: str) -> Explanation:
        """The story of a URL as a person may write it."""
        urls = crawled_urls(address)
        asked_first = sorted(urls, key=lambda url: not self._results.events_of(url))
        found = next(filter(None, map(self._known, asked_first)), None)
        if found is None:
            return self._unknown(urls[0])
        if strip_tracking(urls[0]) == found.url != urls[0]:
            found.details.append(f"Its tracking parameters were taken off: {found.url}")
        return self._with_shard(found)

    def _with_shard(self, found: Explanation) -> Explanation:
        home, _ = self._state_of(found.url)
        if home is not self._folder:
            found.shard = home.path.name
            found.details.append(f"Its host is in shard {found.shard} of {len(self._shards):,}.")
        return found

    def _state_of(self, url: str) -> tuple[CrawlFolder, UrlState | None]:
        """What a queue knows of a URL, and whose: that shard's in which it was queued."""
        homes = self._shards or [self._folder]
        found = [(home, state) for home in homes if (state := look_up(home.frontier, url))]
        queued = (each for each in found if each[1].candidate is not None)
        return next(queued, found[0] if found else (self._folder, None))

    def _refusal_of(self, url: str) -> tuple[str, str | None] | None:
        found = self._results.refusal_of(url)
        for shard in self._shards if found is None else ():
            if shard.results.is_file():
                with Results(shard.results) as results:
                    found = found or results.refusal_of(url)
        return found

    def _known(self, url: str) -> Explanation | None:
        events = self._results.events_of(url)
        if events:
            return self._from_events(url, events)
        home, state = self._state_of(url)
        refusal = self._refusal_of(url)
        if state is not None and state.status is not UrlStatus.FINISHED:
            return self._waiting(url, state, home)
        if refusal is not None:
            reason, parent = refusal
            details = [f"It was found on {parent}."] if parent else []
            because = f"A rule of the crawl's own kept it away: {reason}."
            return Explanation(url=url, verdict="refused", because=because, details=details)
        if state is not None and state.outcome is not None:
            because = f"It ended without being kept: {ENDS.get(state.outcome, state.outcome)}."
            return Explanation(url=url, verdict=state.outcome.value, because=because)
        return None

    def _from_events(self, url: str, events: list[StoredPage]) -> Explanation:
        page = next((page for page in events[::-1] if page.outcome is Outcome.FETCHED), events[-1])
        was_judged = page.outcome is Outcome.FETCHED and page.score is not None
        speak_for, against = self._words(page.address) if was_judged else ([], [])
        explanation = Explanation(
            url=url,
            verdict=page.outcome.value,
            because=_what_came_of_it(page),
            details=[*_what_it_says(speak_for, against), *self._details(url, page)],
            words_for=speak_for,
            words_against=against,
            path=shown_path(self._results, page),
            number=page.number,
            priority=page.priority,
            belief=self._beliefs(page.memory),
            reasons=self._reasons(page),
        )
        if len(events) > 1:
            explanation.details.append(f"It was asked for {counted(len(events), 'time')}.")
        return explanation

    def _details(self, url: str, page: StoredPage) -> Iterator[str]:
        yield f"It was number {page.number:,} of the crawl, at {_moment(page.at)}."
        if page.url != page.address:
            other = page.address if url == page.url else page.url
            yield f"It redirects to {other}." if url == page.url else f"{other} redirects to it."
        asked = "It" if url == page.url else page.url
        yield _how_it_was_queued(page, self._is_of_sessions, asked)
        if page.outcome is Outcome.FETCHED:
            yield from _what_it_gave(page)

    def _waiting(self, url: str, state: UrlState, home: CrawlFolder) -> Explanation:
        place = queue_place(home.frontier, url)
        candidate = state.candidate or Candidate(url, 0.0)
        details = [_how_it_was_queued(candidate, self._is_of_sessions)]
        if place is not None:
            details.append(f"{place.ahead:,} of {place.waiting:,} waiting URLs come before it.")
        return Explanation(
            url=url,
            verdict="waiting",
            because=self._why_it_waits(url, home),
            details=details,
            path=self._path_behind(candidate),
            priority=candidate.priority,
            belief=self._beliefs(candidate.memory),
            reasons=self._reasons(candidate),
            ahead=place.ahead if place is not None else None,
        )

    def _why_it_waits(self, url: str, home: CrawlFolder) -> str:
        put_off, ended = last_put_off(home.log, url), self._record.ended
        if put_off is not None:
            told, again = map(_moment, (put_off.at, put_off.at + put_off.seconds))
            why = f"It waits for another attempt: {put_off.why}, at {told}."
            how = "the crawl has ended, and goes on with --resume" if ended else "the crawl goes on"
            return f"{why} It may be asked for again from {again} on; {how}."
        if ended:
            return f"It waits: the crawl ended before its turn came, as {ended.partition(':')[0]}."
        return "It waits for its turn."

    def _path_behind(self, candidate: Candidate) -> list[str]:
        parent, depth = candidate.parent, candidate.depth
        events = self._results.events_of(parent) if parent and depth > 0 else []
        if events:
            return [*shown_path(self._results, events[0]), candidate.url]
        before = _before(parent, depth)
        if parent and not before:  # a page of the sessions
            before = [parent]
        return [*before, candidate.url]

    def _is_of_sessions(self, url: str) -> bool:
        return url in self._session_pages

    @cached_property
    def _session_pages(self) -> frozenset[str]:
        try:
            pages = self._folder.topic.load().model.graph.pages
        except (ModelError, UsageError):  # nothing was learned, or that cannot be read any more
            return frozenset()
        return frozenset(url for page in pages for url in (page.url, strip_tracking(page.url)))

    def _unknown(self, url: str) -> Explanation:
        if not self._in_scope(url):
            because = "It lies outside the crawl's scope, so links to it were not followed."
            return Explanation(url=url, verdict="out-of-scope", because=because)
        trap = TrapGuard().reason_against(url)
        if trap is not None:
            because = f"It was never queued, and would not be: it looks like a trap ({trap})."
            return Explanation(url=url, verdict="refused", because=because)
        return Explanation(
            url=url,
            verdict="never-seen",
            because="The crawl has never seen it: no page it fetched links there.",
            details=["To have it fetched, give it as a seed: --resume --seed URL"],
        )

    def _in_scope(self, url: str) -> bool:
        settings = self._record.settings
        scope: Scope | None = scope_of(settings, settings.crawl.seeds)
        return scope is None or scope(url)


def shown_path(results: Results, page: StoredPage) -> list[str]:
    """The addresses from a seed to ``page``; where one was forgotten, it says so.

    A page that the strategy named by a link that it knew is no seed: the page with that link stands
    before it, and nothing before that one, as the crawl did not come that way.
    """
    path = results.path_to(page)
    begun = path[-1 - page.depth :]
    first = page if len(begun) == 1 else next(iter(results.events_of(begun[0])), None)
    if first is not None and first.depth == 0 and first.parent is not None:
        known = [] if first.parent in begun else [first.parent]
        return _readable([*known, *begun])
    if len(begun) < len(path):
        first = next(iter(results.events_of(path[0])), None)
    before = _before(first.parent, first.depth) if first is not None else []
    return [*before, *_readable(path)]


def _readable(path: Sequence[str]) -> list[str]:
    return [FORGOTTEN if is_blanked(address) else address for address in path]


def _before(parent: str | None, depth: int) -> list[str]:
    """What stood before a page that is no seed although nothing leads to it any more."""
    is_gone = is_blanked(parent) if parent is not None else depth > 0
    return [FORGOTTEN] if is_gone else []


def _moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M:%S}"


def _what_came_of_it(page: StoredPage) -> str:
    if page.outcome is not Outcome.FETCHED:
        end = f"It was asked for, but {ENDS.get(page.outcome, page.outcome.value)}"
        return f"{end}: {page.why}." if page.why else f"{end}."
    verdict = "is relevant" if page.relevant else "is not relevant"
    score = f" (score {page.score:.3f})" if page.score is not None else ""
    if page.marked is not None:
        verdict += f", because it is marked {mark_in_words(page.marked)}"
        score = f"; the judge's score is {page.score:.3f}" if page.score is not None else ""
    return f"It was fetched, and {verdict}{score}."


def _what_it_says(speak_for: list[str], against: list[str]) -> Iterator[str]:
    if speak_for:
        yield f"Words that speak for it: {', '.join(speak_for)}."
    if against:
        yield f"Words that speak against it: {', '.join(against)}."


def _how_it_was_queued(
    place: Candidate | StoredPage, is_of_sessions: Callable[[str], bool], asked: str = "It"
) -> str:
    parent, priority = place.parent, place.priority
    was_asked_for = priority >= SEED_PRIORITY / 100
    if parent is None and place.depth == 0 and not was_asked_for:
        return f"{asked} was named by the strategy, with priority {priority:g}."
    if parent is None and place.depth == 0:
        return f"{asked} is a seed."
    if parent is None or is_blanked(parent):
        parent = "a page that was forgotten"
    if was_asked_for:
        return (
            f"{asked} was queued next to the seeds: from a sitemap of {parent}, or to be refreshed."
        )
    if place.depth == 0 and is_of_sessions(parent):
        return (
            f"{asked} was known beforehand, with priority {priority:g}: {parent}, a page of your "
            "sessions, links there."
        )
    if place.depth == 0:
        return (
            f"{asked} was named by the strategy, with priority {priority:g}: {parent} links there."
        )
    distance = f"{counted(place.depth, 'link')} from where the crawl began"
    return f"{asked} was found on {parent}, {distance}, with priority {priority:g}."


def _what_it_gave(page: StoredPage) -> Iterator[str]:
    links = counted(page.links_found, "link")
    if page.links_added <= page.links_found:
        yield f"It has {links}, {page.links_added} of them new."
    else:
        added = f"{page.links_added} new addresses were queued, by its links or beside them"
        yield f"It has {links}; {added}."
    if page.duplicate_of is not None:
        yield f"It says what {page.duplicate_of} says, so it does not count as a find."
    if page.noindex:
        yield "It asks not to be listed, so results leave it out."
    if page.why:
        yield f"Remark: {page.why}."
