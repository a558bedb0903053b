"""``trailhound rejudge``: archived pages judged again, and the threshold they are judged by."""

from __future__ import annotations

import threading
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import (
    INTERRUPTED_EXIT_CODE,
    ClusterOption,
    JsonOption,
    TopicArgument,
    WorkspaceOption,
)
from trailhound.cli.results import crawl_folder
from trailhound.cli.terminal import pages_bar, patiently, print_json, say, show_pairs

if TYPE_CHECKING:
    from trailhound.storage.results_reading import ThresholdEffect
    from trailhound.topics.crawls.folder import CrawlFolder
    from trailhound.topics.finds.rejudging import Ask, Rejudged
    from trailhound.topics.runs.judging import TopicThreshold

LEARNED = "learned"


def rejudge(
    topic: TopicArgument,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="SCORE|learned",
            help="Score from which pages are relevant, from now on and in crawls of this topic "
            "too; 'learned' goes back to what the sessions say.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what the threshold would change.")
    ] = False,
    cluster: ClusterOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge the pages of a crawl again, from its archive, with what was learned since.

    'learn' does so by itself. Nothing is fetched; a crawl may be running. Ctrl-C stops it, and the
    next time it goes on.

    Examples:

      trailhound rejudge bees

      trailhound rejudge bees --threshold 0.35 --dry-run

      trailhound rejudge bees --cluster 10.0.0.7:6379
    """
    folder = crawl_folder(topic, workspace)
    wanted = _score(threshold)
    if dry_run:
        with patiently("Reading the model"):
            _tell_effect(folder, wanted, threshold, as_json=as_json)
        return
    ask = None if cluster is None else _on_cluster(cluster)
    if threshold is not None:
        from trailhound.topics.runs.judging import choose_threshold

        with patiently("Reading the model"):
            choose_threshold(folder, wanted)
    done = rejudge_shown(folder, ask)
    with patiently("Reading the model"):
        _tell(folder, done, as_json=as_json)
    if not done.is_complete:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)


def _on_cluster(address: str) -> Ask:
    """Pages read and judged by processes of a Ray cluster; what they say is written here."""
    from trailhound.cluster.connecting import fan_out, load_ray
    from trailhound.topics.finds.rejudging import judging_elsewhere

    load_ray()  # if it is missing, it is said before anything is changed
    return lambda what, pages: fan_out(address, judging_elsewhere, what, pages, in_order=True)


def rejudge_shown(folder: CrawlFolder, ask: Ask | None = None) -> Rejudged:
    """Judge the pages of a crawl again, with a bar on stderr, until Ctrl-C."""
    from trailhound.signals import on_stop_signals
    from trailhound.topics.finds import rejudging
    from trailhound.topics.finds.rejudging import opinions_here

    stopping = threading.Event()

    def stop() -> None:
        if stopping.is_set():  # the second time
            raise KeyboardInterrupt
        stopping.set()

    with on_stop_signals(stop), pages_bar("Judging again") as progress:
        done = rejudging.rejudge(
            folder, ask=ask or opinions_here, progress=progress, stop=stopping.is_set
        )
    if not done.is_complete:
        name = quote(folder.topic.name)
        say(f"Stopped; the pages that are left keep their scores until: trailhound rejudge {name}")
    return done


def _score(threshold: str | None) -> float | None:
    from trailhound.errors import UsageError

    if threshold is None or threshold == LEARNED:
        return None
    try:
        return float(threshold)
    except ValueError:
        raise UsageError(
            f"--threshold {threshold} is neither a score from 0 to 1 nor '{LEARNED}'."
        ) from None


def _tell_effect(
    folder: CrawlFolder, wanted: float | None, said: str | None, *, as_json: bool
) -> None:
    """What a threshold would change, by the scores that the pages have now."""
    from trailhound.errors import UsageError
    from trailhound.topics.crawls.marking import open_results
    from trailhound.topics.runs.judging import threshold_of

    holds = threshold_of(folder)
    if holds is None or said is None:
        raise UsageError("--dry-run tells what another threshold would change. Give --threshold.")
    tried = wanted if wanted is not None else holds.learned
    if tried is None:
        raise UsageError(f"The judge '{holds.judge}' has learned no threshold. Give a score.")
    with open_results(folder) as results:
        effect = results.at_threshold(tried)
    if as_json:
        print_json({"threshold": tried, "holds": holds, "effect": effect})
    else:
        show_pairs(_threshold_pairs(holds))
        say(_effect_in_words(tried, effect))


def _effect_in_words(threshold: float, effect: ThresholdEffect) -> str:
    from trailhound.counting import counted

    return (
        f"From {threshold:g} on, {counted(effect.joined, 'page')} would join the results and "
        f"{effect.left:,} leave: {counted(effect.finds, 'page')} then."
    )


def _tell(folder: CrawlFolder, done: Rejudged, *, as_json: bool) -> None:
    from trailhound.topics.runs.judging import threshold_of

    holds = threshold_of(folder)
    if as_json:
        print_json({"rejudged": done, "threshold": holds})
        return
    if holds is not None:
        show_pairs(_threshold_pairs(holds))
    say(done.in_words())


def _threshold_pairs(holds: TopicThreshold) -> list[tuple[str, str]]:
    learned = "" if holds.learned is None else f"; learned: {holds.learned:.3f}"
    origin = f" (chosen{learned})" if holds.chosen else ""
    return [("judge", holds.judge), ("threshold", f"{holds.threshold:.3f}{origin}")]
