"""A model on the terminal: tables of distances, clusters, A and B."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from trailhound.cli.console import output
from trailhound.cli.learn_tables import judge_lines, show_warnings
from trailhound.counting import counted
from trailhound.models.diagnosis import ClusterFigures, Diagnosis, WordScore
from trailhound.reports.names import (
    cluster_name,
    distance_line,
    distances,
    sessions_line,
    state_names,
)
from trailhound.topics.learned import LearnedTopic


def show_model(learned: LearnedTopic, n_words: int) -> None:
    """Everything, warnings first; of each cluster the ``n_words`` strongest words."""
    found = learned.diagnosis
    show_warnings(found.warnings)
    _show_summary(learned)
    states = state_names(len(found.level_sizes))
    # Short, so that eight clusters fit into a terminal.
    clusters = ["targets", *[f"#{cluster.number}" for cluster in found.clusters[1:]]]
    _show(
        "A: from a page's distance to that of a page it links to", found.transition, states, states
    )
    _show("B: from a page's distance to its cluster", found.emission, states, clusters)
    _show_links(found, clusters)
    for cluster in found.clusters:
        _show_cluster(cluster, n_words)


def _show_summary(learned: LearnedTopic) -> None:
    found, origin = learned.diagnosis, learned.origin
    languages = [f"{code or 'unknown'} {count}" for code, count in found.languages.items()]
    rows = {
        "topic": origin.topic + (f" (label {origin.label})" if origin.label else ""),
        "learned from": sessions_line(origin),
        "pages": f"{found.n_pages:,}: {found.n_targets:,} useful, {found.n_rejected:,} not useful, "
        f"{found.n_without_content:,} without content",
        "links": f"{found.n_links:,}",
        "languages": ", ".join(languages),
        "terms": f"{found.n_terms:,} in {counted(found.rank, 'dimension')} "
        f"({found.variance_share:.0%} of the variance)",
        "by distance": distance_line(found.level_sizes),
        "judges": judge_lines(learned),
        "made by": origin.made_by,
    }
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, Text(value))
    output.print(table)


def _show(
    title: str, matrix: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]
) -> None:
    cells = [[f"{value:.3f}" for value in row] for row in matrix]
    _show_matrix(title, cells, rows, columns)


def _show_links(found: Diagnosis, clusters: Sequence[str]) -> None:
    cells = [[f"{count:,}" for count in row] for row in found.concept_links]
    _show_matrix("Concept graph: links between clusters", cells, clusters, clusters)


def _show_matrix(
    title: str, cells: Sequence[Sequence[str]], rows: Sequence[str], columns: Sequence[str]
) -> None:
    table = Table(box=None, pad_edge=False, header_style="none")
    table.add_column("", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right")
    for name, row in zip(rows, cells, strict=True):
        table.add_row(name, *row)
    output.print()
    output.print(Text(title, style="bold"))
    output.print(table)


def _show_cluster(cluster: ClusterFigures, n_words: int) -> None:
    output.print()
    name = cluster_name(cluster.number).capitalize()
    output.print(
        Text.assemble((name, "bold"), f"  {counted(cluster.pages, 'page')}  {distances(cluster)}")
    )
    _show_words("log odds", cluster.log_odds[:n_words])
    _show_words("mutual information", cluster.mutual_information[:n_words])
    for page in cluster.examples:
        output.print(Text(f"  · {page.title or page.url}"), overflow="ellipsis", no_wrap=True)


def _show_words(measure: str, words: Sequence[WordScore]) -> None:
    listed = ", ".join(word.word for word in words) or "none"
    output.print(Text.assemble("  ", (f"by {measure}: ", "italic"), listed))
