"""``trailhound check``: do all the files of a crawl agree?"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli import options
from trailhound.cli.terminal import patiently, print_json, say, show_table

if TYPE_CHECKING:
    from trailhound.topics.upkeep.checking import Problem, StoreCheck
    from trailhound.topics.upkeep.repairing import CheckReport


def check(
    topic: options.TopicArgument,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what can be mended, and say what was lost.")
    ] = False,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Prove that everything a crawl has kept is whole and agrees.

    Reads all of it: the archive's records with their digests, its index, results, log, frontier
    and search index, and holds them against each other. Nothing is changed.

    With --repair, what one lacks is taken from the others, what is damaged beyond use is moved
    aside under another name and made anew, and what could not be mended is told. Nothing is
    fetched. A crawl mends what its last pages lack by itself whenever it is resumed.

    While the topic is being crawled, both are refused.

    Exit code 0 when all is sound, also after a repair; 1 when something is wrong.

    Examples:

      trailhound check bees

      trailhound check bees --repair
    """
    from trailhound.topics.crawls.folder import CrawlFolder

    found = options.open_workspace(workspace).topic(topic, even_damaged=repair)
    mended: list[str] = []
    if repair:
        from trailhound.topics.upkeep.repairing import repair_topic

        found, mended = repair_topic(found)
        for sentence in mended:
            say(sentence)
    folder = CrawlFolder(found)
    if mended and not folder.has_files():  # a topic that was never crawled is as it should be now
        if as_json:
            print_json({"topic": found.name, "sound": True, "repaired": mended, "stores": []})
        return
    folder.require_files()
    with patiently("Checking") as tell:
        from trailhound.topics.upkeep.repairing import check_crawl

        if repair and folder.shards():
            from trailhound.cluster.shard import parts_to_mend

            report = check_crawl(folder, repair=True, tell=tell, parts_of=parts_to_mend)
        else:
            report = check_crawl(folder, repair=repair, tell=tell)
    if as_json:
        told = {
            "topic": report.topic,
            "sound": report.is_sound,
            "repaired": [*mended, *report.repairs],
        }
        print_json({**told, "stores": report.stores})
    else:
        _show(report, repaired=repair)
    if not report.is_sound:
        raise typer.Exit(options.FAILED_EXIT_CODE)


def _show(report: CheckReport, *, repaired: bool) -> None:
    show_table(("store", "checked", "of", "found"), map(_row, report.stores), figures=("checked",))
    for sentence in report.repairs:
        say(sentence)
    if report.is_sound:
        say("Everything agrees.")
    elif repaired:
        say("The rest could not be mended. The crawl can be begun anew with: crawl --restart")
    else:
        say(f"Mend it with: trailhound check {quote(report.topic)} --repair")


def _row(store: StoreCheck) -> tuple[str, ...]:
    told = "\n".join([*map(_in_words, store.problems), *store.notes]) or "sound"
    return store.store, f"{store.checked:,}", store.unit, told


def _in_words(problem: Problem) -> str:
    if problem.count == 1 and not problem.example:
        return problem.what
    example = f", such as {problem.example}" if problem.example else ""
    return f"{problem.what}: {problem.count:,}{example}"
