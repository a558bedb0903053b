"""The second half of a turn: which finds are strong enough, and learning from the ways to them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trailhound.counting import counted
from trailhound.judges.calibration import OwnVerdicts
from trailhound.live.crawl_sessions import archived_sources, session_of_crawl
from trailhound.live.folder import CrawlFolder
from trailhound.models.search_turns import ScoredFind, strong_finds
from trailhound.models.topic_model import learn_topic
from trailhound.sessions.events import Mark, Session
from trailhound.sessions.page_graph import build_page_graph
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.text.extract import extract_page
from trailhound.workspace.learned import LearnedTopic
from trailhound.workspace.learning import Report, learn_into, same_request
from trailhound.workspace.topics import Workspace

RECORDER = "search turns"
"""Who recorded a session that no person did."""
MAX_CONSIDERED = 500
"""Finds of a turn that are looked at, the best by the crawl's judge."""


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
        own = [session for session in sessions if session.recorder != RECORDER]
        if not new or not own:
            return TurnFinds(len(found), ())
        self._report(f"Judging {counted(len(new), 'find')}")
        content, label = self._folder.topic.known_content(), learned.origin.label
        graph = build_page_graph(own, content, label)
        verdicts = OwnVerdicts(learn_topic(graph, learned.model.parameters))
        sources = archived_sources(self._folder.archive, {page.address for page in new})
        scored = [
            ScoredFind(verdicts.score(extract_page(_bytes(source), address)), address)
            for address, source in sources.items()
        ]
        adopted = _marked([each for each in sessions if each.recorder == RECORDER])
        strong = strong_finds(scored, adopted=adopted, own_scores=verdicts.own_scores)
        return TurnFinds(len(found), tuple(page for page in new if page.address in strong))

    def _session(self, results: Results, finds: TurnFinds, learned: LearnedTopic) -> Session | None:
        return session_of_crawl(
            self._folder.topic.name,
            results,
            finds.strong,
            self._folder.archive,
            recorder=RECORDER,
            label=learned.origin.label or "",
        )


def _marked(sessions: list[Session]) -> set[str]:
    events = (event for session in sessions for event in session.events)
    return {event.url for event in events if isinstance(event, Mark) and event.useful}


def _bytes(source: str) -> bytes:
    return source.encode("utf-8", "replace")
