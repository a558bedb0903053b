"""``trailhound explain``: why a page was fetched when it was, or why it was not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import JsonOption, TopicArgument, WorkspaceOption
from trailhound.cli.results import crawl_folder
from trailhound.cli.terminal import harmless, output, patiently, print_json

if TYPE_CHECKING:
    from trailhound.topics.crawl_folder import CrawlFolder
    from trailhound.topics.explaining import Explanation


def explain(
    topic: TopicArgument,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page in question.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell why a page was fetched when it was, or why it was not.

    From which page, with what priority and by which belief; or what stood against it: robots.txt,
    a trap, the budget, its address, a copy of it, too low a priority.

    Example:

      trailhound explain bees https://example.org/hives.html
    """
    from trailhound.storage.results_reading import Results
    from trailhound.topics.explaining import Explainer

    folder = crawl_folder(topic, workspace)
    with patiently("Looking it up"), Results(folder.results) as results:
        explanation = Explainer(folder, results, partial(belief, folder)).explain(url)
    if as_json:
        print_json(explanation)
    else:
        _show(explanation)


def belief(folder: CrawlFolder, memory: bytes) -> Mapping[str, float]:
    """What the crawl's strategy kept, in named figures, as far as it can put it into words."""
    from trailhound.crawling.build import make_guides
    from trailhound.crawling.driving import run_alone
    from trailhound.errors import ModelError, SourceError, UsageError
    from trailhound.strategies.base import Explaining
    from trailhound.topics.crawl_plan import knowledge_of
    from trailhound.topics.sources import open_sources

    if not memory:
        return {}
    settings, known = folder.read().settings, knowledge_of(folder.topic)
    try:
        with closing(open_sources(folder, settings, lambda _: None)) as sources:
            strategy = run_alone(make_guides(settings, known, sources)).strategy
        return strategy.explain(memory) if isinstance(strategy, Explaining) else {}
    except (ModelError, SourceError, UsageError):
        # The topic was learned again, in another way, or a source is gone.
        return {}


def _show(explanation: Explanation) -> None:
    from rich.text import Text

    def line(text: str, style: str = "") -> None:
        output.print(Text(harmless(text), style=style), soft_wrap=True)

    line(explanation.url, "bold")
    line(explanation.because)
    for detail in explanation.details:
        line(detail)
    if explanation.belief:
        line("What the strategy expected behind the link that led here:")
        for told in _figures(explanation.belief):
            line(told)
    if len(explanation.path) > 1:
        line("The path from the seed:")
        for step, address in enumerate(explanation.path):
            line(f"  {step:>3}  {address}")


def _figures(belief: Mapping[str, float]) -> Iterator[str]:
    """Probabilities as shares; otherwise ratios to the average page, where 1 is no difference."""
    are_ratios = sum(belief.values()) > 1.01  # probabilities are rounded
    for name, value in belief.items():
        figure = f"{value:6.2f} times the average:" if are_ratios else f"{value:6.1%} "
        yield f"  {figure} {name}"
