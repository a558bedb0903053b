"""The lab's tables for the terminal. They fit into 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from trailhound.counting import counted
from trailhound.lab.report.tables import format_p
from trailhound.lab.results import Estimate, ExperimentResults
from trailhound.lab.topics import TopicOverview

INTERVAL_COLUMNS = (("nauc", "nAUC"), ("harvest", "harvest"), ("recall", "recall"))
MEAN_COLUMNS = (("found", "found", 1), ("hosts", "hosts", 1), ("cpu_ms_per_fetch", "CPU ms", 2))


def summary_table(results: ExperimentResults) -> Table:
    """One row per strategy, best nAUC first, intervals below the means."""
    headings = [heading for _, heading in INTERVAL_COLUMNS]
    headings += [heading for _, heading, _ in MEAN_COLUMNS]
    table = _table(["strategy", *headings])
    p_values = {c.strategy: c.p_holm for c in results.comparisons if c.metric == "nauc"}
    if p_values:
        table.add_column("p", justify="right")
    for name in sorted(results.summary, key=lambda name: -results.summary[name]["nauc"].mean):
        means = results.summary[name]
        cells = [_estimate(means[metric]) for metric, _ in INTERVAL_COLUMNS]
        cells += [Text(f"{means[m].mean:,.{digits}f}") for m, _, digits in MEAN_COLUMNS]
        cells += [Text(format_p(p_values[name]) if name in p_values else "–")] if p_values else []
        table.add_row(Text(_by_option(name)), *cells)
    table.caption = Text(_caption(results) + _queries(results))
    return table


def _by_option(name: str) -> str:
    """An option in a line: a narrow column would break within words."""
    strategy, colon, options = name.partition(":")
    return f"{strategy}{colon}\n{options.replace(',', f',{chr(10)}')}" if colon else name


def _queries(results: ExperimentResults) -> str:
    """What strategies asked besides the web; empty when none did."""
    told = []
    for name, means in results.summary.items():
        before, pages, during = (
            means[metric].mean if metric in means else 0.0
            for metric in ("learning_queries", "learning_pages", "queries")
        )
        if before or pages or during:
            told.append(
                f"\n{name} asked its sources {before:,.1f} times and read {pages:,.1f} pages "
                f"before a crawl, and asked {during:,.1f} times during it (all counted as fetches)."
            )
            told += _if_free(means) if before or pages else []
    return "".join(told)


def _if_free(means: dict[str, Estimate]) -> list[str]:
    """What the crawl alone was worth; results of an earlier version do not know."""
    metric = "nauc_learning_free"
    return [f" If learning were free: nAUC {means[metric].mean:.3f}."] if metric in means else []


def topics_table(topics: Sequence[TopicOverview]) -> Table:
    """One row per topic."""
    table = _table(["topic", "session", "targets", "relevant", "findable"])
    for topic in topics:
        counts = (topic.session_pages, topic.targets, topic.relevant, _range(topic.findable))
        table.add_row(Text(topic.topic), *(["–"] * 4 if topic.problem else map(str, counts)))
    notes = [topic.problem for topic in topics if topic.problem]
    notes.append(
        "session: distinct pages browsed; targets: marked useful among them; relevant: pages that "
        "count as found; findable: those in reach of the start pages, least to most over seed sets."
    )
    table.caption = Text("\n".join(notes))
    return table


def _range(counts: Sequence[int]) -> str:
    """All counts when they agree, else the least and the most."""
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low}–{high}"


def _caption(results: ExperimentResults) -> str:
    parameters = results.parameters
    text = (
        f"{results.corpus.name}: mean over {counted(len(parameters.topics), 'topic')} "
        f"with 95 % interval; {counted(len(results.runs), 'run')} of at most "
        f"{counted(parameters.max_requests, 'fetch')}; "
        "CPU ms per fetch."
    )
    if results.baseline is not None:
        text += f" p: nAUC against {results.baseline}, sign-flip test, Holm."
    return text


def _table(headings: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", caption_justify="left")
    table.add_column(headings[0], overflow="fold")
    for heading in headings[1:]:
        table.add_column(heading, justify="right")
    return table


def _estimate(estimate: Estimate) -> Text:
    text = Text(f"{estimate.mean:.3f}\n")
    # Without leading zeros: they would cost the names of the strategies their room.
    low, high = (f"{value:.3f}".removeprefix("0") for value in (estimate.low, estimate.high))
    return text.append(f"{low}–{high}", style="dim")
