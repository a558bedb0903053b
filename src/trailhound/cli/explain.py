"""``trailhound explain``: why a page was fetched when it was, or why it was not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import JsonOption, TopicArgument, WorkspaceOption
from trailhound.cli.results import CrawlOption, crawl_folder
from trailhound.cli.terminal import harmless, output, patiently, print_json

if TYPE_CHECKING:
    from trailhound.topics.finds.explaining import Explanation


def explain(
    topic: TopicArgument,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page in question.")],
    crawl: CrawlOption = None,
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
    from trailhound.topics.finds.explaining import Explainer
    from trailhound.topics.finds.opinions import Opinions

    folder = crawl_folder(topic, workspace, crawl)
    with patiently("Looking it up"), Results(folder.results) as results:
        said = Opinions(folder, results)
        explainer = Explainer(folder, results, said.belief, said.reasons, said.words)
        explanation = explainer.explain(url)
    if as_json:
        print_json(explanation)
    else:
        _show(explanation)


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
    if explanation.reasons:
        line("What moved the priority of the link that led here, in log odds (+0.7 doubles them):")
        for reason in explanation.reasons:
            moved = "" if reason.moved is None else f"{reason.moved:+.1f}"
            line(f"  {moved:>5}  {reason.words}")
    if len(explanation.path) > 1:
        line("The path to it:")
        for step, address in enumerate(explanation.path):
            line(f"  {step:>3}  {address}")


def _figures(belief: Mapping[str, float]) -> Iterator[str]:
    """Probabilities as shares; otherwise ratios to the average page, where 1 is no difference."""
    are_ratios = sum(belief.values()) > 1.01  # probabilities are rounded
    for name, value in belief.items():
        figure = f"{value:6.2f} times the average:" if are_ratios else f"{value:6.1%} "
        yield f"  {figure} {name}"
