"""From sessions to a model in the workspace: what ``trailhound learn`` does.

A session that was recorded without page sources is completed from a corpus or a web archive; the
topic remembers what was found there, so that learning again does without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from trailhound.counting import counted
from trailhound.errors import (
    UNREADABLE,
    ModelError,
    SessionError,
    TrailhoundError,
    UsageError,
    unknown_name,
)
from trailhound.judges.calibration import calibrate_judges
from trailhound.models.judge_figures import CalibrationMethod
from trailhound.models.topic_model import TopicParameters, learn_topic
from trailhound.records import Page
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.sessions.files import read_session
from trailhound.sessions.page_graph import build_page_graph, session_labels
from trailhound.sessions.shown_pages import Content
from trailhound.storage.files import explaining, write_whole
from trailhound.text.extract import EXTRACTION_VERSION
from trailhound.topics.learned import LearnedTopic, Origin
from trailhound.topics.workspace import MADE_BY, TopicFolder, Workspace, session_file_name

_MAX_ATTEMPTS = 4

Report = Callable[[str], None]
"""Told what is being done, in a few words."""


@dataclass(frozen=True)
class LearningRequest:
    """What to learn, and from what."""

    topic: str
    sessions: Sequence[Session] = ()
    """New ones; they join those the topic already has. Without any, it is learned again."""
    label: str | None = None
    """Only marks with this label count. ``None``: the topic's earlier choice, else all marks."""
    parameters: TopicParameters = field(default_factory=TopicParameters)
    threshold: float | None = None
    """The judge's γ; ``None``: calibrated on the sessions."""
    replace: bool = False
    """Forget the sessions that the topic already has."""
    lenient: bool = False
    """Skip damaged lines of the sessions that the topic already has."""
    content: Content | None = None
    """Where to look up pages whose source the sessions do not hold."""


def learn_into(
    workspace: Workspace, request: LearningRequest, report: Report = lambda _: None
) -> LearnedTopic:
    """Learn a topic and save it. Nothing is written unless all of it succeeds.

    What is forgotten while it learns stays forgotten: it is learned again without. ModelError when
    the whole topic has gone meanwhile.
    """
    folder = workspace.folder_for(request.topic)
    folder.check_if_new()  # before what takes long
    for _ in range(_MAX_ATTEMPTS):
        existed, present = folder.exists(), folder.session_names()
        stamps = _stamps(folder)
        known, content, label = _known(folder, request)
        sessions = _joined(known, request.sessions)
        if not sessions:
            raise folder.no_sessions()
        whole = replace(
            request, topic=folder.name, sessions=[*sessions.values()], label=label, content=content
        )
        learned = learn_alone(whole, report)
        if existed and not folder.exists():
            raise ModelError(
                f"The topic '{folder.name}' was deleted or renamed while it was being learned. "
                "Nothing was saved."
            )
        if not _is_something_gone(folder, known, stamps, strict=not request.lenient):
            report("Saving")
            folder.save(learned, sessions, content, present)
            return learned
        report("Pages were forgotten meanwhile: learning again without them")
    raise ModelError(
        f"Sessions of the topic '{folder.name}' kept changing while it was being learned. Nothing "
        "was saved; learn it again later."
    )


def _stamps(folder: TopicFolder) -> dict[str, tuple[int, int]]:
    """When files that are learned from were written, and how long they are, by their names."""
    paths = [folder.sessions_path / name for name in folder.session_names()]
    stamps = {}
    for path in (*paths, folder.content_path):
        with suppress(OSError):  # it is gone, or not there yet
            status = path.stat()
            stamps[path.name] = status.st_mtime_ns, status.st_size
    return stamps


def _is_something_gone(
    folder: TopicFolder,
    known: Mapping[str, Session],
    before: Mapping[str, tuple[int, int]],
    *,
    strict: bool,
) -> bool:
    """Whether a session that was read has gone, or was changed other than by recording on."""
    now = _stamps(folder)
    changed = [name for name in known if now.get(name) != before.get(name)]
    paths = {name: folder.sessions_path / name for name in changed if name in now}
    later = {name: read_session(path, strict=strict) for name, path in paths.items()}
    goes_on = all(name in later and _continues(known[name], later[name]) for name in changed)
    content = folder.content_path.name
    return not goes_on or (bool(known) and now.get(content) != before.get(content))


def learn_alone(request: LearningRequest, report: Report = lambda _: None) -> LearnedTopic:
    """Learn from the sessions of the request and nothing else; nothing is written."""
    labels = _checked_labels(request.sessions, request.label)
    report("Building the page graph")
    graph = build_page_graph(request.sessions, request.content, request.label)
    report(f"Learning from {counted(len(graph.pages), 'page')}")
    model = learn_topic(graph, request.parameters)
    judges = calibrate_judges(model, request.threshold)
    # Sessions without a name, marks of results among them, are no further person.
    people = {session.user for session in request.sessions if session.user}
    origin = Origin(
        request.topic, request.label, labels, len(request.sessions), max(1, len(people)), MADE_BY
    )
    return LearnedTopic(model, judges["cosine"], origin, judges)


def request_as_before(folder: TopicFolder) -> LearningRequest:
    """All sessions of the topic, with the parameters that were chosen last."""
    try:
        if folder.is_learned():
            return same_request(folder, folder.load())
    except TrailhoundError:
        pass  # a model that cannot be read is made anew
    return LearningRequest(folder.name)


def same_request(folder: TopicFolder, learned: LearnedTopic) -> LearningRequest:
    """To learn a topic again from the sessions it has now, as it was learned before."""
    threshold = learned.judge.threshold if learned.judge.method is CalibrationMethod.GIVEN else None
    return LearningRequest(folder.name, parameters=learned.model.parameters, threshold=threshold)


def learn_each_label(
    workspace: Workspace, request: LearningRequest, report: Report = lambda _: None
) -> list[LearnedTopic]:
    """One model for each label, under the name TOPIC-label; marks without a label are TOPIC's."""
    labels = useful_labels(request.sessions)
    if not labels:
        raise SessionError(
            "None of the visited pages is marked useful, so there is nothing to look for. "
            "Mark pages as useful, with a label for each topic, and try again."
        )
    learned = []
    for label in labels:
        name = f"{request.topic}-{label}" if label else request.topic
        report(f"Learning {name}")
        learned.append(learn_into(workspace, replace(request, topic=name, label=label)))
    return learned


def useful_labels(sessions: Sequence[Session]) -> tuple[str, ...]:
    """The labels under which some page is marked useful, sorted."""
    marks = [event for each in sessions for event in each.events if isinstance(event, Mark)]
    return tuple(sorted({mark.label for mark in marks if mark.useful}))


def _known(
    folder: TopicFolder, request: LearningRequest
) -> tuple[dict[str, Session], KnownContent, str | None]:
    """What the topic brings along: sessions, content, label."""
    if request.replace or not (folder.exists() or folder.session_names()):
        return {}, KnownContent(source=request.content), request.label
    label = request.label
    if label is None and folder.exists():
        label = folder.record().label
    known = folder.known_content().extended_by(request.content)
    return folder.sessions(strict=not request.lenient), known, label


def _joined(known: Mapping[str, Session], added: Sequence[Session]) -> dict[str, Session]:
    """All sessions by file name, in its order: learning again must give the same model."""
    joined = dict(known)
    for session in map(_without_references, added):
        # A recording that has grown since replaces its beginning.
        joined = {name: each for name, each in joined.items() if not _continues(each, session)}
        joined[session_file_name(session)] = session
    return dict(sorted(joined.items()))


def _continues(beginning: Session, whole: Session) -> bool:
    return (
        (beginning.topic, beginning.user, beginning.recorder)
        == (whole.topic, whole.user, whole.recorder)
    ) and beginning.events == whole.events[: len(beginning.events)]


def _without_references(session: Session) -> Session:
    """Sources that lay beside the session are inside it by now; their file names mean nothing."""
    events = tuple(
        msgspec.structs.replace(event, html_ref=None) if isinstance(event, Visit) else event
        for event in session.events
    )
    return msgspec.structs.replace(session, events=events)


def _checked_labels(sessions: Sequence[Session], label: str | None) -> tuple[str, ...]:
    labels = session_labels(sessions)
    if label is not None and label not in labels:
        if not any(labels):
            raise UsageError(f"No mark has the label '{label}': none has any. Leave out --label.")
        raise unknown_name("label", label, list(filter(None, labels)))
    return labels


class _StoredContent(msgspec.Struct):
    extraction_version: int
    pages: dict[str, Page]


class KnownContent:
    """Answers from a source when there is one, else from memory; remembers every answer."""

    def __init__(self, pages: dict[str, Page] | None = None, source: Content | None = None) -> None:
        self._pages = dict(pages or {})
        self._source = source

    def extended_by(self, source: Content | None) -> KnownContent:
        """The same memory, with a place to look things up first."""
        return KnownContent(self._pages, source)

    def __len__(self) -> int:
        return len(self._pages)

    def __call__(self, url: str) -> Page | None:
        """The page that a visitor of ``url`` would see."""
        page = self._source(url) if self._source is not None else None
        if page is not None:
            self._pages[url] = page
        return self._pages.get(url)

    def without(self, forgotten: Callable[[str], bool]) -> KnownContent:
        """What is known, but for the pages that are to be forgotten."""
        kept = {
            url: page
            for url, page in self._pages.items()
            if not forgotten(url) and not forgotten(page.url)
        }
        return KnownContent(kept, self._source)

    def write(self, path: Path) -> None:
        """Keep what is known, or nothing at all when there is nothing to keep."""
        if not self._pages:
            with explaining(path):
                path.unlink(missing_ok=True)
            return
        write_whole(path, msgspec.json.encode(_StoredContent(EXTRACTION_VERSION, self._pages)))


def read_known_content(path: Path) -> KnownContent:
    """What :meth:`KnownContent.write` kept.

    Pages that another version of the extractor understood are not used: their terms would not meet
    those of other pages.
    """
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=_StoredContent)
    except FileNotFoundError:
        return KnownContent()
    except (OSError, *UNREADABLE) as error:
        raise ModelError(
            f"{path} cannot be read ({error}). Delete it and learn again with --content."
        ) from error
    return KnownContent(stored.pages if stored.extraction_version == EXTRACTION_VERSION else None)
