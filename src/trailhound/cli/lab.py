"""``trailhound lab``: compare crawl strategies on a recorded web."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import (
    INTERRUPTED_EXIT_CODE,
    JsonOption,
    ReplaceOption,
    SetOption,
    assigned,
)

if TYPE_CHECKING:
    from trailhound.lab.experiment import RunTasks

app = typer.Typer(
    help="Compare crawl strategies on a recorded web, with known answers and honest counting.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

CorpusArgument = Annotated[Path, typer.Argument(help="Corpus made by 'trailhound corpus import'.")]
TopicsOption = Annotated[
    Path | None,
    typer.Option("--topics", metavar="FILE", help="TOML file that defines the topics."),
]


@app.command("topics")
def topics(
    corpus: CorpusArgument,
    topics_file: TopicsOption = None,
    seed_sets: Annotated[
        int, typer.Option(min=1, help="Sets of start pages to draw per topic.")
    ] = 3,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 7,
    as_json: JsonOption = False,
) -> None:
    """List the topics of a corpus: what was browsed, what is there to be found.

    Example:

      trailhound lab topics demo.thc
    """
    from trailhound.cli.lab_tables import show_topics
    from trailhound.cli.terminal import print_json
    from trailhound.lab.topics import describe_topics

    described = describe_topics(corpus, topics_file, n_seed_sets=seed_sets, seed=seed)
    if as_json:
        print_json(described)
    else:
        show_topics(described)


@app.command("run")
def run(
    corpus: CorpusArgument,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="OUT", help="Folder for results and report.")
    ],
    strategy: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="Strategy to run, with options as name:key=value,key=value. Repeat it to compare.",
        ),
    ],
    topic: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Topic to crawl for; repeatable. Default: all."),
    ] = None,
    topics_file: TopicsOption = None,
    max_requests: Annotated[
        int, typer.Option(min=1, help="Budget of each crawl in requests, failures included.")
    ] = 400,
    seed_sets: Annotated[
        int, typer.Option(min=1, help="Sets of start pages per topic, each crawled anew.")
    ] = 3,
    seed: Annotated[int, typer.Option(help="Same seed, same results.")] = 7,
    judge: Annotated[
        str,
        typer.Option(metavar="NAME", help="What crawls take for relevant; see 'judges'."),
    ] = "auto",
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Fetches in flight; as many as a live crawl has if not said."),
    ] = None,
    set_: SetOption = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL", help="As if no page began so: not browsed, not crawled; repeatable."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes to use.")] = 1,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="Make the runs on a Ray cluster, whose machines all have the corpus at the same "
            "place; 'local' starts one on this machine, of --jobs processes.",
        ),
    ] = None,
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Crawl the corpus with each strategy and measure what it finds.

    Writes OUT/results.json and OUT/report.html. An interrupted
    experiment continues where it stopped when the same command is given again.

    Examples:

      trailhound lab run demo.thc --strategy best-first --strategy breadth-first -o out

      trailhound lab run demo.thc --strategy shark-search:decay=0.3 --max-requests 200 -j 2 -o out

      trailhound lab run /shared/demo.thc --strategy trail --cluster 10.0.0.7:6379 -o out

    Crawls are put together and timed like live ones: hosts have their delays, on a clock that
    takes no time. --concurrency 1 fetches one page after the other.
    """
    from trailhound.cli.lab_tables import show_summary
    from trailhound.cli.terminal import print_json, runs_bar, say
    from trailhound.lab.experiment import plan_experiment, run_experiment
    from trailhound.lab.report import write_report
    from trailhound.lab.statistics import bound_beaten

    settings = assigned(set_)
    if concurrency is not None:
        settings["crawl.concurrency"] = concurrency
    plan = plan_experiment(
        corpus,
        strategy,
        topics=topic or (),
        topics_file=topics_file,
        max_requests=max_requests,
        seed_sets=seed_sets,
        seed=seed,
        judge=judge,
        without=without or (),
        settings=settings,
    )
    run_tasks = None if cluster is None else _on_cluster(cluster, jobs)
    with _interruptible(out), runs_bar() as progress:
        results = run_experiment(
            plan, out, jobs=jobs, run_tasks=run_tasks, progress=progress, replace=replace
        )
    report = write_report(results, out)
    if as_json:
        print_json(
            {
                "summary": results.summary,
                "comparisons": results.comparisons,
                "bound_beaten": bound_beaten(results.runs),
            }
        )
    else:
        show_summary(results)
    say(f"Report: {report}")


@app.command("report")
def report(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of a finished 'lab run'.")],
) -> None:
    """Draw report.html again from results.json.

    Example:

      trailhound lab report out
    """
    from trailhound.lab.report import write_report
    from trailhound.lab.results_files import read_results

    results = read_results(out)
    folder = out if out.is_dir() else out.parent
    typer.echo(str(write_report(results, folder)))


def _on_cluster(address: str, jobs: int) -> RunTasks:
    """Runs made by a Ray cluster, each by one of its processes."""
    from trailhound.cluster.connecting import LOCAL, fan_out
    from trailhound.errors import UsageError
    from trailhound.lab.experiment import attempts

    if jobs > 1 and address != LOCAL:
        raise UsageError(
            f"--jobs {jobs} counts processes of this machine, and the cluster {address} has its "
            "own. Leave it out."
        )
    return lambda plan, tasks: fan_out(address, attempts, plan.everywhere(), tasks, cpus=jobs)


@contextmanager
def _interruptible(out: Path) -> Iterator[None]:
    """Ctrl-C and a polite kill end the experiment in order, and say how to go on."""
    from trailhound.cli.terminal import say
    from trailhound.signals import on_stop_signals

    def interrupt() -> None:
        raise KeyboardInterrupt

    try:
        with on_stop_signals(interrupt):
            yield
    except KeyboardInterrupt:
        say(f"Stopped. Finished runs are kept in {out}; give the same command again to continue.")
        raise typer.Exit(INTERRUPTED_EXIT_CODE) from None
