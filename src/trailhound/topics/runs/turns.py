"""Turns with a search engine on the live web: ask, crawl from what it names, learn, repeat.

Each turn resumes the topic's crawl with new start pages, or begins it. What was planned is on disk
before anything is fetched, so that an interrupted turn goes on where it was.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from trailhound.config.settings import Settings
from trailhound.counting import counted
from trailhound.crawling.budget import StopReason
from trailhound.crawling.driving import run_alone
from trailhound.crawling.scope import scope_of
from trailhound.errors import StorageError, UsageError
from trailhound.judges.calibration import OwnVerdicts
from trailhound.models.topic_model import learn_topic
from trailhound.plugins import STRATEGY, absolute
from trailhound.sessions.events import Mark, Session
from trailhound.sessions.page_graph import build_page_graph
from trailhound.sessions.path_sessions import SEARCH_TURNS
from trailhound.sessions.shown_pages import page_from_source
from trailhound.sources import Charged
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.strategies.choosing import check_live_spec
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import archived_sources, session_of_crawl
from trailhound.topics.crawls.notices import Notify
from trailhound.topics.learned import LearnedTopic
from trailhound.topics.learning import Report, learn_into, same_request
from trailhound.topics.runs.crawl import TopicCrawl
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.runs.sources import open_search
from trailhound.topics.runs.turn_planning import (
    OpenTurn,
    ScoredFind,
    TurnLimits,
    TurnPlan,
    TurnReport,
    TurnsFile,
    TurnsRecord,
    plan_turn,
    strong_finds,
)
from trailhound.topics.workspace import TopicFolder, Workspace
from trailhound.urls import typed_url

RunCrawl = Callable[[TopicCrawl], None]
"""Runs a crawl to its end, showing it as it likes."""
ASKED = frozenset({"search"})
"""By the turns themselves, not by their crawls."""
MAX_CONSIDERED = 500
"""Finds of a turn that are looked at, the best by the crawl's judge."""


@dataclass(frozen=True)
class TurnsRequest:
    """What was asked for."""

    settings: Settings
    """For a crawl that has not begun; it also holds the search."""
    flags: Mapping[str, Any] = field(default_factory=dict)
    """What was said in so many words, by ``section.name``: a begun crawl takes only these."""
    rounds: int = 3
    requests_per_round: int = 500
    seeds: tuple[str, ...] = ()
    """For the first round, beside what the search names."""
    limits: TurnLimits = field(default_factory=TurnLimits)


class SearchTurns:
    """The turns of one topic. Mistakes are found here, before anything is asked."""

    def __init__(
        self,
        workspace: Workspace,
        topic: TopicFolder,
        request: TurnsRequest,
        *,
        notify: Notify = lambda _: None,
        report: Report = lambda _: None,
    ) -> None:
        self.folder = CrawlFolder(topic)
        self._topic = topic
        self._request = request
        self._notify = notify
        self._report = report
        self._settings = self._effective_settings()
        check_live_spec(self._settings.crawl.strategy)
        self._check_same_strategy()
        self._seeds = tuple(map(typed_url, request.seeds))
        _check_search(self._settings)
        self._search = open_search(self.folder, self._settings, notify)
        self._learning = TurnLearning(workspace, self.folder, report)
        self._file = TurnsFile(topic.path / "turns.json")
        self.record = self._begun()
        self.problem = ""
        """Why it ended before its last round; empty when it did not."""
        self.interrupted = False

    def run(self, run_crawl: RunCrawl) -> Iterator[TurnReport]:
        """Each turn when it is finished, until the rounds are over or something stands in the way.

        What was found and learned before stays in any case.
        """
        learned = self._topic.load()
        while self.record.unfinished:
            turn = self.record.open or self._planned(learned)
            if turn is None:
                self._keep(last_turn=len(self.record.turns))
                return
            ended = self._crawl(turn, run_crawl)
            if self.interrupted:
                return
            report, learned = self._learned(turn, ended, learned)
            self._keep(turns=(*self.record.turns, report), open=None)
            yield report

    def _begun(self) -> TurnsRecord:
        """What an interrupted run left, or a new run."""
        record = self._file.read()
        if record.crawl_begun_at not in (None, self._crawl_begun_at()):
            record = TurnsRecord()  # the crawl was begun anew
        if record.unfinished:
            left = record.last_turn - len(record.turns)
            self._notify(f"Going on with what was interrupted: {counted(left, 'more round')}.")
            return record
        last = len(record.turns) + self._request.rounds
        return msgspec.structs.replace(record, last_turn=last)

    def _effective_settings(self) -> Settings:
        if not self.folder.exists():
            return self._request.settings
        flags = {key: value for key, value in self._request.flags.items() if key != "crawl.seeds"}
        settings = self.folder.read().settings
        if not settings.sources.search:
            flags.setdefault("sources.search", self._request.settings.sources.search)
        return settings.changed(flags)

    def _check_same_strategy(self) -> None:
        """Before a search is asked: what waits was ranked by one strategy."""
        if not self.folder.exists():
            return
        before = absolute(self.folder.read().settings.crawl.strategy, STRATEGY)
        now = absolute(self._settings.crawl.strategy, STRATEGY)
        if before != now:
            raise UsageError(
                f"The topic's crawl was begun with the strategy '{before}', and turns go on with "
                "it. Leave out --strategy, or crawl anew first: trailhound crawl "
                f"{shlex.quote(self._topic.name)} --restart --seed URL --strategy "
                f"{shlex.quote(now)}"
            )

    def _planned(self, learned: LearnedTopic) -> OpenTurn | None:
        """Ask the search; ``None``, with the problem told, when that leads nowhere."""
        number = len(self.record.turns) + 1
        asked_before = self._questions
        with _Seen(self.folder) as seen:
            plan = run_alone(self._asked(learned, seen))
            pages, requests = seen.pages, seen.requests
        questions = self._questions - asked_before
        given = self._seeds if number == 1 else ()
        seeds = tuple(dict.fromkeys((*given, *plan.seeds)))
        self._tell_plan(number, len(plan.queries), len(plan.seeds), plan.problem)
        if not seeds:
            self.problem = f"No new start page for round {number}: {plan.problem}"
            return None
        turn = OpenTurn(
            number=number,
            queries=plan.queries,
            n_seeds=len(seeds),
            seeds=seeds,
            questions=questions,
            pages_before=pages,
            requests_before=requests,
            until_requests=requests + max(1, self._request.requests_per_round - questions),
        )
        self._keep(open=turn)
        return turn

    async def _asked(self, learned: LearnedTopic, seen: _Seen) -> TurnPlan:
        self._report("Asking the search")
        known = {page.url for page in learned.model.graph.pages}
        settings = self._effective_settings()
        in_scope = scope_of(settings, (*settings.crawl.seeds, *self._seeds))

        def is_known(url: str) -> bool:
            return url in known or url in seen or (in_scope is not None and not in_scope(url))

        return await plan_turn(
            learned.model, self._search, is_known, self.record.asked, self._request.limits
        )

    @property
    def _questions(self) -> int:
        """Requests that the search has cost so far; files and one's own pages cost none."""
        return self._search.queries if isinstance(self._search, Charged) else 0

    def _tell_plan(self, number: int, queries: int, seeds: int, problem: str) -> None:
        last = self.record.last_turn
        said = f"Round {number} of {last}: {counted(queries, 'query')}, "
        said += f"{counted(seeds, 'new start page')}"
        self._notify(f"{said} ({problem})." if problem else f"{said}.")

    def _crawl(self, turn: OpenTurn, run_crawl: RunCrawl) -> str:
        """Why it ended. A turn whose crawl is done already is not crawled again."""
        with _Seen(self.folder) as seen:
            if seen.requests >= turn.until_requests:
                return ""
        with open_crawl(self._topic, self._crawl_request(turn), self._notify) as crawl:
            crawl.begin()
            # The crawl has its seeds now, and "forget" knows where to look for them.
            begun = msgspec.structs.replace(turn, seeds=())
            self._keep(open=begun, crawl_begun_at=self._crawl_begun_at())
            run_crawl(crawl)
            reason = crawl.stop_reason
        self.interrupted = reason is StopReason.INTERRUPTED
        return reason.value if reason is not None else ""

    def _crawl_request(self, turn: OpenTurn) -> CrawlRequest:
        flags = {
            **self._request.flags,
            "crawl.seeds": turn.seeds,
            "crawl.max_requests": turn.until_requests,
        }
        if self.folder.exists():
            return CrawlRequest(flags=flags, resume=True, asked_elsewhere=ASKED)
        settings = self._settings.changed({key: flags[key] for key in flags})
        return CrawlRequest(settings, flags, asked_elsewhere=ASKED)

    def _learned(
        self, turn: OpenTurn, ended: str, learned: LearnedTopic
    ) -> tuple[TurnReport, LearnedTopic]:
        finds, learned = self._learning.learn(learned, turn.pages_before)
        if finds.relevant and not self.folder.archive.is_dir():
            self._notify(
                "The crawl keeps no archive (archive = false), so there is nothing to learn from "
                "its finds."
            )
        with _Seen(self.folder) as seen:
            requests = seen.requests - turn.requests_before + turn.questions
        report = TurnReport(
            number=turn.number,
            queries=turn.queries,
            seeds=turn.n_seeds,
            requests=requests,
            relevant=finds.relevant,
            adopted=len(finds.strong),
            pages_learned_from=len(learned.model.graph.pages),
            crawl_ended=ended,
        )
        return report, learned

    def _crawl_begun_at(self) -> float | None:
        return self.folder.read().created_at if self.folder.exists() else None

    def _keep(self, **changed: Any) -> None:
        self.record = msgspec.structs.replace(self.record, **changed)
        self._file.write(self.record)


class _Seen:
    """Which pages the crawl has dealt with; none when it has not begun."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._results: Results | None = None
        self.pages = self.requests = 0
        if folder.exists():
            try:
                self._results = Results(folder.results)
            except StorageError:
                return  # killed before its first page
            summary = self._results.summary()
            self.pages, self.requests = summary.pages, summary.requests

    def __contains__(self, url: str) -> bool:
        return self._results is not None and bool(self._results.events_of(url))

    def __enter__(self) -> _Seen:
        return self

    def __exit__(self, *_: object) -> None:
        if self._results is not None:
            self._results.close()


def _check_search(settings: Settings) -> None:
    if not settings.sources.search:
        raise UsageError(
            "There is no search to ask. Name one with --search, or as search under [sources] in "
            "trailhound.toml: an address with {query} in it "
            "('http://localhost:8888/search?q={query}&format=json'), a WARC or WACZ file or a "
            "folder of them, or 'crawl'."
        )


@dataclass(frozen=True)
class TurnFinds:
    """What a turn's crawl brought."""

    relevant: int
    strong: tuple[StoredPage, ...]


class TurnLearning:
    """Learns from the finds of one topic's crawl."""

    def __init__(self, workspace: Workspace, folder: CrawlFolder, report: Report) -> None:
        self._workspace = workspace
        self._folder = folder
        self._report = report

    def learn(self, learned: LearnedTopic, pages_before: int) -> tuple[TurnFinds, LearnedTopic]:
        """Judge the finds since ``pages_before``, and learn the topic again when some are strong.

        The session of their paths joins the topic's own; the topic stays as it was when there is
        nothing strong, or when nothing was archived.
        """
        with Results(self._folder.results) as results:
            found = [page for page in results.iterate() if page.number > pages_before]
            finds = self._judged(found, learned)
            session = self._session(results, finds, learned)
        if session is None:
            return TurnFinds(finds.relevant, ()), learned
        again = replace(same_request(self._folder.topic, learned), sessions=[session])
        return finds, learn_into(self._workspace, again, self._report)

    def _judged(self, found: list[StoredPage], learned: LearnedTopic) -> TurnFinds:
        shown = {page.url for page in learned.model.graph.pages}
        new = [page for page in found if page.address not in shown][:MAX_CONSIDERED]
        sessions = list(self._folder.topic.sessions().values())
        own = [session for session in sessions if session.recorder != SEARCH_TURNS]
        if not new or not own:
            return TurnFinds(len(found), ())
        self._report(f"Judging {counted(len(new), 'find')}")
        content, label = self._folder.topic.known_content(), learned.origin.label
        graph = build_page_graph(own, content, label)
        verdicts = OwnVerdicts(learn_topic(graph, learned.model.parameters))
        sources = archived_sources(self._folder.archive, {page.address for page in new})
        scored = [
            ScoredFind(verdicts.score(page_from_source(source, address)), address)
            for address, source in sources.items()
        ]
        adopted = _marked([each for each in sessions if each.recorder == SEARCH_TURNS])
        strong = strong_finds(scored, adopted=adopted, own_scores=verdicts.own_scores)
        return TurnFinds(len(found), tuple(page for page in new if page.address in strong))

    def _session(self, results: Results, finds: TurnFinds, learned: LearnedTopic) -> Session | None:
        return session_of_crawl(
            self._folder.topic.name,
            results,
            finds.strong,
            self._folder.archive,
            recorder=SEARCH_TURNS,
            label=learned.origin.label or "",
        )


def _marked(sessions: list[Session]) -> set[str]:
    events = (event for session in sessions for event in session.events)
    return {event.url for event in events if isinstance(event, Mark) and event.useful}
