"""The report of an experiment: one HTML file that needs nothing else to be read."""

from __future__ import annotations

from pathlib import Path

from trailhound.lab.report import curves, tables
from trailhound.lab.results import ExperimentResults
from trailhound.lab.results_files import REPORT_NAME
from trailhound.reports.html import template_environment
from trailhound.storage.files import write_whole

PANELS: tuple[tuple[str, str, curves.RunCurve], ...] = (
    ("Relevant pages found", "relevant pages found", curves.found),
    ("Recall", "share of findable pages found", curves.recall),
    ("Harvest rate", "relevant pages per fetch", curves.harvest),
    ("Harvest of late", "relevant among the last 200 fetches", curves.recent_harvest),
    ("Similarity to the targets", "mean cosine to the nearest target", curves.similarity),
)


def write_report(results: ExperimentResults, folder: Path) -> Path:
    """Write ``report.html`` into ``folder``; an existing one is replaced in one step."""
    path = folder / REPORT_NAME
    write_whole(path, render_report(results).encode())
    return path


def render_report(results: ExperimentResults) -> str:
    """The whole page as HTML text."""
    environment = template_environment("trailhound.lab.report")
    styles = {
        strategy: curves.LineStyle(number)
        for number, strategy in enumerate(results.parameters.strategies)
    }
    return environment.get_template("report.html.j2").render(
        results=results,
        styles=styles,
        scope={
            "strategies": len(results.parameters.strategies),
            "topics": len(results.parameters.topics),
            "seed_sets": results.parameters.seed_sets,
            "budget": results.parameters.max_requests,
            "runs": len(results.runs),
        },
        panels=_panels(results, styles),
        small_multiples=_small_multiples(results, styles),
        summary=tables.summary_table(results),
        details=tables.detail_table(results),
        comparisons=tables.comparison_table(results),
        per_topic=tables.topic_table(results),
        outcomes=tables.outcome_table(results),
        union_recall=tables.union_recall_table(results),
        sweep=tables.threshold_table(results),
        warnings=tables.cautions(results),
        command=tables.command_line(results),
    )


def _panels(
    results: ExperimentResults, styles: dict[str, curves.LineStyle]
) -> list[tuple[str, str]]:
    lift = ("Lift", "times the harvest of pages at random", curves.lift(results.corpus.pages))
    pictures = []
    for title, label, quantity in (*PANELS, lift):
        lines = {each: curves.strategy_curve(results, each, quantity) for each in styles}
        description = f"{label} over fetches"
        svg = curves.draw_curves(lines, styles, y_label=label, description=description)
        pictures.append((title, svg))
    return pictures


def _small_multiples(
    results: ExperimentResults, styles: dict[str, curves.LineStyle]
) -> list[tuple[str, str]]:
    pictures = []
    for topic in results.parameters.topics:
        lines = {strategy: curves.topic_curve(results, strategy, topic) for strategy in styles}
        description = f"relevant pages found over fetches, topic {topic}"
        svg = curves.draw_curves(lines, styles, description=description, is_small=True)
        pictures.append((topic, svg))
    return pictures
