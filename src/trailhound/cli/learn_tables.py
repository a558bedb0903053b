"""What ``trailhound learn`` prints: a summary, and what would make the model better."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trailhound.cli.terminal import messages, say, show_pairs

if TYPE_CHECKING:
    from trailhound.models.advice import Advice
    from trailhound.models.judge_figures import JudgeFigures
    from trailhound.topics.learned import LearnedTopic

    Learned = Sequence[tuple[LearnedTopic, Path]]


def learned_json(learned: Learned) -> str:
    """One object for each topic, in a list."""
    import msgspec

    return msgspec.json.encode([_summary(each, path) for each, path in learned]).decode()


def _summary(learned: LearnedTopic, path: Path) -> dict[str, object]:
    from trailhound.models.advice import lacks_content
    from trailhound.models.diagnosis import level_sizes

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
    }


def show_learned(learned: Learned) -> None:
    """A table for each topic on stdout, its warnings on stderr."""
    for each, path in learned:
        _show_figures(each)
        show_warnings(each.warnings)
        say(f"Saved in {path}")
    name = learned[-1][0].origin.topic
    shown = f"'{name}'" if " " in name else name
    say(f"Look at it with: trailhound inspect {shown}")


def show_warnings(warnings: Sequence[Advice]) -> None:
    """One line each, with the next step."""
    from rich.text import Text

    for warning in warnings:
        line = Text.assemble(("Warning: ", "yellow"), warning.problem, " ", warning.next_step)
        messages.print(line, soft_wrap=True)


def _show_figures(learned: LearnedTopic) -> None:
    from trailhound.models.diagnosis import level_sizes
    from trailhound.reports.names import distance_line, sessions_line

    model, origin = learned.model, learned.origin
    graph = model.graph
    show_pairs(
        {
            "topic": origin.topic + (f" (label {origin.label})" if origin.label else ""),
            "learned from": sessions_line(origin),
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
    return (
        f"γ {judge.threshold:.3f} ({judge.method}), precision {precision}, "
        f"recall {judge.recall:.2f}, F1 {judge.f1:.2f}"
    )
