"""``trailhound demo``: the main job from beginning to end, without leaving this machine."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trailhound.cli.options import ReplaceOption, SetOption, assigned
from trailhound.counting import counted
from trailhound.errors import unknown_name

if TYPE_CHECKING:
    from trailhound.demo import DemoWeb
    from trailhound.demo.crawl import DemoCrawl

LIVE_STRATEGIES = (
    "breadth-first",
    "best-first",
    "hidden-markov",
    "shark-search",
    "intelligent",
    "trail",
)
LAB_STRATEGIES = ("random", *LIVE_STRATEGIES, "oracle")


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="OUT", help="Folder for corpus and report.")
    ] = Path("trailhound-demo"),
    topic: Annotated[
        str | None, typer.Option(help="Which of the demo topics to crawl for.")
    ] = None,
    max_requests: Annotated[int, typer.Option(min=1, help="Fetches of each crawl.")] = 400,
    seed: Annotated[int, typer.Option(help="Seed of the generated web.")] = 7,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes to use.")] = 2,
    replace: ReplaceOption = False,
    set_: SetOption = None,
    write_sessions: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Only write the recorded sessions there, to learn from, and an access log.",
        ),
    ] = None,
) -> None:
    """Learn from a recorded session, crawl a small web over HTTP, and compare strategies.

    The web is generated on the spot and served on loopback: nothing leaves this machine.

    Examples:

      trailhound demo --out out

      trailhound demo --write-sessions sessions

      trailhound learn bees --session sessions/bee-health.jsonl     (of those just written)
    """
    from trailhound.cli.terminal import output
    from trailhound.config.layers import check_variables
    from trailhound.demo import DemoWeb
    from trailhound.storage.files import explaining

    check_variables(os.environ)
    if write_sessions is not None:
        _write_sessions(DemoWeb.generate(seed), write_sessions)
        return
    with explaining(out):
        out.mkdir(parents=True, exist_ok=True)
    output.print("[bold]1[/bold]  Generating the demo web …")
    web = DemoWeb.generate(seed)
    output.print(
        f"   {counted(len(web.responses), 'response')} on {counted(len(web.hosts), 'host')}, "
        f"{counted(len(web.topics), 'topic')}"
    )
    if topic is not None and topic not in web.topics:
        raise unknown_name("demo topic", topic, web.topics)
    chosen = assigned(set_)
    _crawl_over_http(web, topic or min(web.topics), max_requests, chosen)
    _compare_in_the_lab(out, seed, max_requests, jobs, chosen, replace=replace)


def _write_sessions(web: DemoWeb, folder: Path) -> None:
    from trailhound.demo.web import write_access_log, write_demo_sessions

    for path in write_demo_sessions(web, folder):
        typer.echo(str(path))
    log = write_access_log(web, folder)
    typer.echo(str(log))
    readers = counted(len({reading.user for reading in web.readings}), "person")
    typer.echo(
        "Each session is about a topic of its own. Learn from one: trailhound learn bees "
        f"--session {quote(str(folder / 'bee-health.jsonl'))}",
        err=True,
    )
    typer.echo(
        f"{log.name} tells what {readers} read in the demo web: give it to a crawl with "
        f"--trace {log}; --strategy collaborative goes by it alone",
        err=True,
    )


def _crawl_over_http(web: DemoWeb, topic: str, max_requests: int, chosen: dict[str, Any]) -> None:
    from trailhound.cli.terminal import output
    from trailhound.demo.crawl import DemoCrawl, demo_page_graph
    from trailhound.demo.server import serve_in_thread

    graph = demo_page_graph(web, topic)
    output.print(
        f"[bold]2[/bold]  Learning from a recorded session about [bold]{topic}[/bold]: "
        f"{counted(len(graph.pages), 'page')} visited, {len(graph.targets)} marked useful"
    )
    output.print("[bold]3[/bold]  Crawling over HTTP on loopback")
    with serve_in_thread(web) as port:
        for strategy in LIVE_STRATEGIES:
            _watch(DemoCrawl(web, port, topic, graph, strategy, max_requests, chosen))


def _watch(crawl: DemoCrawl) -> None:
    """Run one crawl with a progress line, and say what it found."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from trailhound.cli.terminal import messages, output

    columns = (TextColumn("   {task.description}"), BarColumn(), MofNCompleteColumn())
    disable = not messages.is_terminal
    with Progress(*columns, console=messages, transient=True, disable=disable) as progress:
        bar = progress.add_task(crawl.strategy, total=crawl.max_requests)
        requests = 0
        for event in crawl.run():
            requests = event.requests_total
            progress.update(
                bar,
                completed=min(requests, crawl.max_requests),
                description=f"{crawl.strategy}: {len(crawl.found)} found",
            )
    total = len(crawl.unseen_members())
    output.print(
        f"   {crawl.strategy:<14} {len(crawl.found):>3} of {counted(total, 'unvisited page')} on "
        f"the topic found in {counted(requests, 'request')}"
    )


def _compare_in_the_lab(
    out: Path, seed: int, max_requests: int, jobs: int, chosen: dict[str, Any], *, replace: bool
) -> None:
    from trailhound.cli.lab_tables import show_summary
    from trailhound.cli.terminal import import_bar, output, runs_bar
    from trailhound.lab.experiment import plan_experiment, run_experiment
    from trailhound.lab.importers import import_corpus
    from trailhound.lab.report import write_report

    output.print("[bold]4[/bold]  Comparing strategies on all topics, on a recording of that web")
    corpus = out / "demo.thc"
    with import_bar() as progress:
        import_corpus("demo", None, corpus, progress, jobs, seed)
    plan = plan_experiment(
        corpus, LAB_STRATEGIES, max_requests=max_requests, seed_sets=2, settings=chosen
    )
    with runs_bar() as runs:
        results = run_experiment(plan, out, jobs=jobs, progress=runs, replace=replace)
    show_summary(results)
    report = write_report(results, out)
    output.print(f"[bold]5[/bold]  Open the report in a browser: {report}", soft_wrap=True)
