"""What an import tells: counts of what was read and skipped, and the next step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote
from typing import TYPE_CHECKING

import typer

from trailhound.cli.terminal import print_json, say
from trailhound.counting import counted, plural

if TYPE_CHECKING:
    from trailhound.sessions.importers.base import Tally
    from trailhound.topics.importing import Kept
    from trailhound.topics.workspace import TopicFolder

MAX_NOTES = 3
"""Told of an import of which nothing came."""


def counts(tally: Tally) -> Iterator[str]:
    """Read, kept, and skipped by reason, most frequent first."""
    yield f"{counted(tally.read, tally.unit)} read, {tally.kept:,} kept"
    yield from tally.left_out


def refuse_nothing(topic: str, tally: Tally, kept: Kept) -> None:
    """SessionError when no visit was kept."""
    from trailhound.errors import SessionError

    if not kept.visits:
        advice = "Check the file's kind, and --since and --until."
        told = "; ".join((*counts(tally), *tally.notes[:MAX_NOTES]))
        raise SessionError(f"Nothing to import for the topic '{topic}': {told}. {advice}")


def show_report(folder: TopicFolder, tally: Tally, kept: Kept, unvisited: Iterable[str]) -> None:
    """The counts on stdout, notes and the next step on stderr."""
    for line in counts(tally):
        typer.echo(line)
    typer.echo(
        f"{counted(kept.sessions, 'session')} with {counted(kept.visits, 'visit')} of "
        f"{counted(kept.pages, 'page')}: "
        f"{kept.with_content:,} with content, {kept.marked:,} marked useful"
    )
    for line in (*tally.notes, *_about_fetching(kept), *_about_useful(kept, unvisited)):
        say(f"Note: {line}.")
    say(f"Stored in {folder.path / 'sessions'}")
    if kept.marked:
        say(f"Learn from it with: trailhound learn {quote(folder.name)}")
    else:
        say("Nothing can be learned before a page is marked useful.")


def _about_fetching(kept: Kept) -> Iterator[str]:
    if kept.fetched is not None:
        ends = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(kept.fetched.items()))
        yield f"asked the web for pages: {ends or 'none was missing'}"
        if kept.unfetched:
            more = counted(kept.unfetched, "more page")
            yield f"{more} without content: raise --max-pages and run again"
    elif kept.with_content < kept.pages:
        missing = counted(kept.pages - kept.with_content, "page")
        yield (
            f"{missing} without content, only an address and perhaps a title; --fetch asks the web"
        )


def _about_useful(kept: Kept, unvisited: Iterable[str]) -> Iterator[str]:
    missing = sorted(unvisited)
    if missing:
        more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
        yield f"useful, but never visited, so not marked: {', '.join(missing[:3])}{more}"
    if not kept.marked:
        yield "no page is marked useful; import again with --useful to say which ones were"


def show_json(folder: TopicFolder, tally: Tally, kept: Kept, unvisited: Iterable[str]) -> None:
    """Everything as one object."""
    from dataclasses import asdict

    told = {
        "topic": folder.name,
        "folder": str(folder.path / "sessions"),
        "unit": plural(tally.unit),
        "read": tally.read,
        "kept": tally.kept,
        "skipped": dict(tally.skipped),
        "notes": tally.notes,
        **asdict(kept),
        "useful_but_unvisited": sorted(unvisited),
    }
    print_json(told)
