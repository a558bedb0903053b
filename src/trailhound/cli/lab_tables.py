"""The lab's tables for the terminal. What finds no room beside the rest follows below."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from trailhound.cli.terminal import output, show_matrix, show_table
from trailhound.counting import counted
from trailhound.lab.report.tables import cautions, format_p
from trailhound.lab.results import Estimate, ExperimentResults
from trailhound.lab.topics import TopicOverview

INTERVAL_COLUMNS = (("nauc", "nAUC"), ("harvest", "harvest"), ("recall", "recall"))
MEAN_COLUMNS = (("found", "found", 1), ("hosts", "hosts", 1), ("cpu_ms_per_fetch", "CPU ms", 2))


def show_summary(results: ExperimentResults) -> None:
    """One row per strategy, best nAUC first; then what the figures mean, and what is odd."""
    names = results.ranked()
    columns = [heading for _, heading in INTERVAL_COLUMNS]
    columns += [heading for _, heading, _ in MEAN_COLUMNS]
    # Intervals are over topics: of a single one they would have no width.
    several = len(results.parameters.topics) > 1
    cells = [_figures(results.summary[name], intervals=several) for name in names]
    p_values = {c.strategy: c.p_holm for c in results.comparisons if c.metric == "nauc"}
    if p_values:
        columns.insert(1, "p")
        for name, row in zip(names, cells, strict=True):
            row.insert(1, format_p(p_values[name]) if name in p_values else "–")
    title = (
        f"{results.corpus.name}: {counted(len(results.parameters.topics), 'topic')}, "
        f"{counted(len(results.runs), 'run')} of at most "
        f"{counted(results.parameters.max_requests, 'request')}"
    )
    show_matrix(title, cells, names, columns)
    over = "topics, with 95 % intervals" if several else "the runs of one topic"
    meaning = f"Means over {over}; CPU ms per request."
    if results.baseline is not None:
        meaning += f" p: nAUC against {results.baseline}, sign-flip test, Holm."
    for note in (meaning, *_queries(results)):
        output.print(Text(note, style="dim"))
    for warning in cautions(results):
        output.print(Text(f"Check this: {warning}", style="bold"))


def _figures(means: dict[str, Estimate], *, intervals: bool) -> list[str]:
    main = [_estimate(means[metric], intervals=intervals) for metric, _ in INTERVAL_COLUMNS]
    return main + [f"{means[m].mean:,.{digits}f}" for m, _, digits in MEAN_COLUMNS]


def _estimate(estimate: Estimate, *, intervals: bool) -> str:
    # Without leading zeros: they would cost other columns their room.
    mean, low, high = (
        f"{value:.3f}".removeprefix("0") for value in (estimate.mean, estimate.low, estimate.high)
    )
    return f"{mean} [{low}–{high}]" if intervals else mean


def _queries(results: ExperimentResults) -> list[str]:
    """What strategies asked besides the web; empty when none did."""
    told = []
    for name, means in results.summary.items():
        before, pages, during = (
            means[metric].mean if metric in means else 0.0
            for metric in ("learning_queries", "learning_pages", "queries")
        )
        if before or pages or during:
            free = means.get("nauc_learning_free") if before or pages else None
            told.append(
                f"{name} asked its sources {before:,.1f} times and read {pages:,.1f} pages before "
                f"a crawl, and asked {during:,.1f} times during it (all counted as requests)."
                + (f" If learning were free: nAUC {free.mean:.3f}." if free else "")
            )
    return told


def show_topics(topics: Sequence[TopicOverview]) -> None:
    """One row per topic, and what the columns mean."""
    figures = ("session", "targets", "relevant", "findable")
    rows = []
    for topic in topics:
        cells = ["–"] * 4
        if not topic.problem:
            least, most = min(topic.findable), max(topic.findable)
            findable = str(least) if least == most else f"{least}–{most}"
            counts = (topic.session_pages, topic.targets, topic.relevant, findable)
            cells = list(map(str, counts))
        rows.append([topic.topic, *cells])
    show_table(["topic", *figures], rows, figures)
    notes = [topic.problem for topic in topics if topic.problem]
    notes.append(
        "session: distinct pages browsed; targets: marked useful among them; relevant: pages that "
        "count as found; findable: those in reach of the start pages, least to most over seed sets."
    )
    output.print(Text("\n".join(notes), style="dim"))
