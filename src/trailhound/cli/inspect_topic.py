"""``trailhound inspect``: what was learned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import (
    JsonOption,
    TopicArgument,
    WorkspaceOption,
    make_room_for,
    open_workspace,
)
from trailhound.cli.terminal import output, patiently, print_json, say, show_matrix, show_pairs
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.models.diagnosis import ClusterFigures
    from trailhound.topics.crawls.folder import CrawlFolder
    from trailhound.topics.finds.opinions import LinkLessons
    from trailhound.topics.learned import LearnedTopic


def inspect(
    topic: TopicArgument,
    workspace: WorkspaceOption = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with pictures instead."),
    ] = None,
    words: Annotated[
        int, typer.Option(min=1, max=30, help="Words shown of each cluster, by each measure.")
    ] = 10,
    as_json: JsonOption = False,
) -> None:
    """Show what was learned about a topic: distances, clusters and their words, A, B, the judge.

    And what the strategy has learned about links: words and how pages turned out, from the sessions
    and since the crawl began.

    Examples:

      trailhound inspect bees

      trailhound inspect bees --html bees.html
    """
    import msgspec

    from trailhound.storage.files import write_named
    from trailhound.topics.crawls.folder import CrawlFolder

    with patiently("Reading the model") as report:
        folder = open_workspace(workspace).topic(topic)
        learned = folder.load()
        report("Measuring")
        diagnosis = learned.diagnosis
        links = _lessons(CrawlFolder(folder), learned)
        if html is not None:
            from trailhound.reports.inspection import render_inspection

            report("Drawing")
            make_room_for(html)
            write_named(html, render_inspection(learned, links).encode())
    if html is not None:
        # To stderr beside JSON, which a program reads.
        typer.echo(str(html), err=as_json)
    if as_json:
        judges = {"judge_name": learned.judge_name, "judges": learned.figures_by_judge}
        told = {"origin": learned.origin, **msgspec.structs.asdict(diagnosis), **judges}
        print_json({**told, "links": links})
    elif html is None:
        _show_model(learned, words)
        if links is not None:
            _show_links(links, words)


def _lessons(crawl: CrawlFolder, learned: LearnedTopic) -> LinkLessons | None:
    """A damaged crawl is no reason to say nothing of what was learned before it."""
    from trailhound.cli.options import settings_from
    from trailhound.errors import StorageError
    from trailhound.topics.finds.opinions import lessons_about_links

    try:
        return lessons_about_links(crawl, settings_from({}, None), learned.model.graph.pages)
    except StorageError as error:
        say(f"What the crawl has taught about links cannot be told. {error}")
        return None


def _show_model(learned: LearnedTopic, n_words: int) -> None:
    """Everything, warnings first; of each cluster the ``n_words`` strongest words."""
    from trailhound.cli.learn import show_warnings
    from trailhound.models.diagnosis import state_names

    found = learned.diagnosis
    show_warnings(found.warnings)
    _show_summary(learned)
    states = state_names(len(found.level_sizes))
    # Short, so that eight clusters fit into a terminal.
    clusters = ["targets", *[f"#{cluster.number}" for cluster in found.clusters[1:]]]
    transition = "A: from a page's distance to that of a page it links to"
    emission = "B: from a page's distance to its cluster"
    show_matrix(transition, _formatted(found.transition, ".3f"), states, states)
    show_matrix(emission, _formatted(found.emission, ".3f"), states, clusters)
    links = _formatted(found.concept_links, ",")
    show_matrix("Concept graph: links between clusters", links, clusters, clusters)
    for cluster in found.clusters:
        _show_cluster(cluster, n_words)


def _formatted(rows: Sequence[Sequence[float]], spec: str) -> list[list[str]]:
    return [[format(value, spec) for value in row] for row in rows]


def _show_summary(learned: LearnedTopic) -> None:
    from trailhound.cli.learn import judge_lines
    from trailhound.models.diagnosis import distance_line

    found, origin = learned.diagnosis, learned.origin
    languages = [f"{code or 'unknown'} {count}" for code, count in found.languages.items()]
    rows = {
        "topic": origin.topic + (f" (label {origin.label})" if origin.label else ""),
        "learned from": origin.who_browsed,
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
    show_pairs(rows.items())


def _show_cluster(cluster: ClusterFigures, n_words: int) -> None:
    from rich.padding import Padding
    from rich.text import Text

    output.print()
    name, pages = cluster.name.capitalize(), counted(cluster.pages, "page")
    output.print(Text.assemble((name, "bold"), f"  {pages}  {cluster.distances}"))
    by_measure = {"log odds": cluster.log_odds, "mutual information": cluster.mutual_information}
    for measure, words in by_measure.items():
        listed = ", ".join(word.word for word in words[:n_words]) or "none"
        told = Text.assemble((f"by {measure}: ", "italic"), listed)
        output.print(Padding(told, (0, 0, 0, 2)))
    for page in cluster.examples:
        output.print(Text(f"  · {page.title or page.url}"), overflow="ellipsis", no_wrap=True)


def _show_links(links: LinkLessons, n_words: int) -> None:
    """By field the strongest ``n_words``; behind each what it was before the crawl, or at first."""
    from rich.text import Text

    output.print()
    output.print(Text(f"What {links.strategy} has learned about links", style="bold"))
    since = "since the crawl began" if links.after_crawl else "from the sessions"
    output.print(f"In log odds (+0.7 doubles the odds), {since}; in brackets what it was before.")
    show_pairs(links.told(n_words).items())
