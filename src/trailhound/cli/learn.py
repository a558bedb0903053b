"""``trailhound learn``: from recorded browsing to a topic model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trailhound.cli.options import (
    INTERRUPTED_EXIT_CODE,
    JsonOption,
    TopicArgument,
    WorkspaceOption,
    open_workspace,
)
from trailhound.cli.terminal import messages, patiently, print_json, say, show_pairs
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.models.diagnosis import Advice
    from trailhound.models.judge_figures import JudgeFigures
    from trailhound.models.topic_model import TopicParameters
    from trailhound.sessions.events import Session
    from trailhound.sessions.shown_pages import Content
    from trailhound.topics.finds.rejudging import Rejudged
    from trailhound.topics.learned import LearnedTopic
    from trailhound.topics.workspace import TopicFolder, Workspace

RejudgeOption = Annotated[
    bool,
    typer.Option(
        "--rejudge/--no-rejudge",
        help="With what was learned, judge the pages that the topic's crawl has archived again.",
    ),
]
MAX_TOPICS_NAMED = 5


def learn(
    topic: TopicArgument,
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Further session files.")
    ] = None,
    session: Annotated[
        list[Path] | None,
        typer.Option(
            "--session",
            "-s",
            metavar="FILE",
            help="Recorded session, a folder of them, or - for stdin; repeatable. "
            "They join those the topic has.",
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    content: Annotated[
        Path | None,
        typer.Option(
            metavar="CORPUS",
            help="Corpus, WARC or WACZ that holds pages whose source was not recorded.",
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Learn from marks with this label only.")
    ] = None,
    each_label: Annotated[
        bool, typer.Option("--each-label", help="One model per label, named TOPIC-label.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Forget the sessions that the topic has.")
    ] = False,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Skip damaged lines of sessions.")
    ] = False,
    states: Annotated[
        int | None, typer.Option(min=2, max=6, help="Distances to tell apart, in hops.")
    ] = None,
    clusters: Annotated[
        int | None, typer.Option(min=1, max=50, help="Most clusters of pages.")
    ] = None,
    rank: Annotated[
        int | None, typer.Option(min=1, help="Most dimensions of the latent space.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="The judge's γ. Default: calibrated on the session."),
    ] = None,
    rejudge: RejudgeOption = True,
    as_json: JsonOption = False,
) -> None:
    """Learn from browsing what leads to the pages you marked useful.

    Examples:

      trailhound learn bees --session monday.jsonl --session tuesday.jsonl

      trailhound learn bees --session recordings/ --replace

      trailhound learn bees --states 5        (again, from the same sessions)
    """
    from trailhound.errors import UsageError

    if each_label and label is not None:
        raise UsageError("--label chooses one label and --each-label takes all. Give one of them.")
    sources = [*(session or ()), *(more or ())]
    if each_label and not sources:
        raise UsageError("--each-label needs the sessions to look for labels in: --session FILE")
    place = open_workspace(workspace)
    if not sources:
        place.folder_for(topic).require_sessions()  # before what takes seconds to load
    from trailhound.topics.learning import LearningRequest, learn_each_label, learn_into

    parameters = _parameters(n_states=states, max_clusters=clusters, max_rank=rank)
    opened: AbstractContextManager[Content | None] = nullcontext()
    if content is not None:
        from trailhound.lab.recorded_sources import open_content

        opened = open_content(content)
    with _naming_lenient(), patiently("Reading sessions") as report, opened as look_up:
        recorded = _read(sources, strict=not lenient)
        if lenient and not replace:  # what is skipped there is told, too
            own = place.folder_for(topic)
            _read([own.sessions_path / name for name in sorted(own.session_names())], strict=False)
        if label is None and not each_label:
            _tell_topics(recorded, topic)
        request = LearningRequest(
            topic=topic,
            sessions=[*recorded.values()],
            label=label,
            parameters=parameters,
            threshold=threshold,
            replace=replace,
            lenient=lenient,
            content=look_up,
        )
        if each_label:
            learned = learn_each_label(place, request, report)
        else:
            learned = [learn_into(place, request, report)]
    tell_learned(learned, place, rejudge=rejudge, as_json=as_json)


def _parameters(**chosen: Any) -> TopicParameters:
    from trailhound.models.topic_model import TopicParameters

    given = {name: value for name, value in chosen.items() if value is not None}
    if "max_clusters" in given:
        given["min_clusters"] = min(TopicParameters().min_clusters, given["max_clusters"])
    return TopicParameters(**given)


@contextmanager
def _naming_lenient() -> Iterator[None]:
    """Whoever meets a damaged line hears of the option that skips it."""
    from trailhound.sessions.events import DamagedLineError

    try:
        yield
    except DamagedLineError as error:
        raise DamagedLineError(f"{error} Or skip such lines with --lenient.") from error


def _read(sources: Sequence[Path], *, strict: bool) -> dict[str, Session]:
    """All sessions by file; what was wrong with their files goes to stderr."""
    from trailhound.sessions.events import problem_summary
    from trailhound.sessions.files import read_with_problems, session_paths

    sessions = {}
    for path in [path for source in sources for path in session_paths(source)]:
        reading = read_with_problems(path, strict=strict)
        summary = problem_summary(str(path), reading.problems)
        if summary:
            say(f"Note: {summary}.")
        sessions[str(path)] = reading.session
    return sessions


def _tell_topics(recorded: Mapping[str, Session], name: str) -> None:
    """Say so when what was recorded for several topics is about to become one."""
    from trailhound.topics.learning import useful_labels

    files = {session.topic: path for path, session in recorded.items() if session.topic}
    if len(files) < 2:
        return
    topics = sorted(files)
    shown = ", ".join(topics[:MAX_TOPICS_NAMED]) + (", …" if len(topics) > MAX_TOPICS_NAMED else "")
    labels = [label for label in useful_labels([*recorded.values()]) if label]
    chosen = f", or marks of one label with --label {quote(labels[0])}" if len(labels) > 1 else ""
    say(
        f"Note: these sessions were recorded for {counted(len(topics), 'topic')} ({shown}), and "
        f"'{name}' learns from all of them at once. For one alone, name its file: "
        f"trailhound learn {name} --replace --session {quote(files[topics[0]])}{chosen}."
    )


def _summary(learned: LearnedTopic, path: Path) -> dict[str, object]:
    from trailhound.models.diagnosis import lacks_content, level_sizes

    graph, judge, origin = learned.model.graph, learned.judge_figures, learned.origin
    return {
        "topic": origin.topic,
        "label": origin.label,
        "labels": origin.labels,
        "model": str(path),
        "sessions": origin.sessions,
        "people": origin.people,
        "pages": len(graph.pages),
        "targets": len(graph.targets),
        "links": len(graph.edges),
        "without_content": sum(map(lacks_content, graph.pages)),
        "level_sizes": level_sizes(learned.model),
        "clusters": learned.model.n_clusters,
        "judge": learned.judge_name,
        **_figures(judge),
        "judges": {name: _figures(each) for name, each in learned.figures_by_judge.items()},
        "warnings": learned.warnings,
    }


def _figures(judge: JudgeFigures) -> dict[str, object]:
    return {
        "threshold": judge.threshold,
        "threshold_method": judge.method,
        "precision": judge.precision,
        "recall": judge.recall,
        "f1": judge.f1,
        "f1_range": judge.f1_range,
    }


def tell_learned(
    learned: Sequence[LearnedTopic], place: Workspace, *, rejudge: bool, as_json: bool
) -> None:
    """A table for each topic, or one JSON object, on stdout; warnings on stderr.

    Then, if that is wanted, pages of their crawls are judged again, and it is told what changed.
    """
    folders = [place.folder_for(each.origin.topic) for each in learned]
    if not as_json:
        for each, folder in zip(learned, folders, strict=True):
            _show_figures(each)
            show_warnings(each.warnings)
            say(f"Saved in {folder.model_path}")
        say(f"Look at it with: trailhound inspect {quote(learned[-1].origin.topic)}")
    again = [_judged_again(folder) if rejudge else None for folder in folders]
    if as_json:
        print_json(
            [
                _summary(each, folder.model_path) | {"rejudged": done}
                for each, folder, done in zip(learned, folders, again, strict=True)
            ]
        )
    if any(done is not None and not done.is_complete for done in again):
        raise typer.Exit(INTERRUPTED_EXIT_CODE)


def _judged_again(topic: TopicFolder) -> Rejudged | None:
    """What came of it; ``None`` for a topic without a crawl, or whose pages cannot be judged."""
    from trailhound.cli.rejudge import rejudge_shown
    from trailhound.errors import TrailhoundError
    from trailhound.topics.crawls.folder import CrawlFolder

    folder = CrawlFolder(topic)
    if not (folder.exists() and folder.results.is_file()):
        return None
    try:
        done = rejudge_shown(folder)
    except TrailhoundError as error:
        say(f"Note: the pages found so far were not judged again. {error}")
        return None
    say(f"Pages of its crawl were judged again: {done.in_words()}")
    return done


def show_warnings(warnings: Sequence[Advice]) -> None:
    """One line each, with the next step."""
    from rich.text import Text

    for warning in warnings:
        line = Text.assemble(("Warning: ", "yellow"), warning.problem, " ", warning.next_step)
        messages.print(line, soft_wrap=True)


def _show_figures(learned: LearnedTopic) -> None:
    from trailhound.models.diagnosis import distance_line, level_sizes

    model, origin = learned.model, learned.origin
    graph = model.graph
    show_pairs(
        {
            "topic": origin.topic + (f" (label {origin.label})" if origin.label else ""),
            "learned from": origin.who_browsed,
            "pages": f"{len(graph.pages):,}, {len(graph.targets):,} of them useful",
            "links": f"{len(graph.edges):,}",
            "by distance": distance_line(level_sizes(model)),
            "clusters": f"{model.n_clusters}, and the targets",
            "judges": judge_lines(learned),
        }.items()
    )


def judge_lines(learned: LearnedTopic) -> str:
    """One line for each judge; first the one that a crawl takes unless told otherwise."""
    figures = learned.figures_by_judge
    names = sorted(figures, key=lambda name: (name != learned.judge_name, name))
    return "\n".join(f"{name}: {_judge_line(figures[name])}" for name in names)


def _judge_line(judge: JudgeFigures) -> str:
    """γ, where it came from, and how well it separates."""
    if judge.f1 is None:
        return f"γ {judge.threshold:.3f} ({judge.method})"
    precision = "–" if judge.precision is None else f"{judge.precision:.2f}"
    low, high = judge.f1_range or (0.0, 1.0)
    return (
        f"γ {judge.threshold:.3f} ({judge.method}), precision {precision}, "
        f"recall {judge.recall:.2f}, F1 {judge.f1:.2f} ({low:.2f} to {high:.2f})"
    )
