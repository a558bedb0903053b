"""``trailhound import``: browsing that other programs have recorded, as sessions of a topic.

There is one command for each importer that is registered, third parties' included; its options are
those of all imports and its own. It tells what was read and skipped, and the next step.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperGroup

from trailhound.cli.help import PlainCommand
from trailhound.cli.options import JsonOption, WorkspaceOption, open_workspace, settings_from
from trailhound.cli.terminal import print_json, say
from trailhound.counting import counted, plural

if TYPE_CHECKING:
    from trailhound.sessions.events import Session
    from trailhound.sessions.importers.base import Importer, Tally
    from trailhound.topics.importing import Kept, Period
    from trailhound.topics.page_fetching import FetchedPages
    from trailhound.topics.workspace import TopicFolder

MAX_FETCHED = 500
"""Pages that the web is asked for, unless somebody says otherwise."""
_USEFUL = "Page that was useful, or a file with one address in a line; repeatable."
_USEFUL_OR_BOOKMARKS = (
    "Useful pages: an address, a file of addresses, or the visited bookmarks; repeatable."
)
_WITH_BOOKMARKS = typer.Option(
    "--useful", "-u", metavar="URL|FILE|bookmarks[:FOLDER]", help=_USEFUL_OR_BOOKMARKS
)
_KEEP_ADDRESSES = Annotated[
    bool, typer.Option("--keep-addresses", help="Keep clients' addresses instead of pseudonyms.")
]


@dataclass(frozen=True)
class ImportRequest:
    """What a user may ask of every import."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="What to import.")]
    topic: Annotated[
        str, typer.Option("--topic", "-t", metavar="TOPIC", help="Topic that the sessions are for.")
    ]
    useful: Annotated[
        list[str] | None, typer.Option("--useful", "-u", metavar="URL|FILE", help=_USEFUL)
    ] = None
    since: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Only from here on: 2026-03-01, or with a time."),
    ] = None
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Only up to here.")] = None
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Ask the web, politely, for pages without contents.")
    ] = False
    max_pages: Annotated[
        int | None,
        typer.Option(
            min=1, help=f"With --fetch: the most pages ({MAX_FETCHED}), most visited first."
        ),
    ] = None
    user_agent: Annotated[
        str | None,
        typer.Option(help="With --fetch: who you are, with a contact: 'bees-bot (+https://…)'."),
    ] = None
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="With --fetch: settings.")
    ] = None
    workspace: WorkspaceOption = None
    as_json: JsonOption = False


class ImporterCommands(TyperGroup):
    """One command for each importer, made when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names of all importers."""
        from trailhound.sessions.importers import importer_names

        return list(importer_names())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of one importer; a broken one says so when it is used."""
        from trailhound.errors import TrailhoundError, unknown_name
        from trailhound.sessions.importers import importer

        known = self.list_commands(ctx)
        if cmd_name not in known and not cmd_name.endswith(".py"):
            if ctx.resilient_parsing:  # a shell completes a name
                return None
            raise unknown_name("kind of import", cmd_name, known)
        try:
            return _command(cmd_name, importer(cmd_name))
        except TrailhoundError as error:
            return _broken_command(cmd_name, error)


app = typer.Typer(
    cls=ImporterCommands,
    help="Turn browsing that was recorded elsewhere into sessions to learn from.",
    no_args_is_help=True,
)


def _command(name: str, found: Importer) -> Any:
    own = _own_options(found)

    def run(**given: Any) -> None:
        options = {option: given.pop(option) for option in own}
        keep_addresses = given.pop("keep_addresses", True)
        _import(found, ImportRequest(**given), options, keep_addresses=keep_addresses)

    parameters = [*_common_parameters(found), *own.values()]
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        sorted(parameters, key=lambda each: each.default is not inspect.Parameter.empty)
    )
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    text = inspect.cleandoc(type(found).__doc__ or "")
    return _made(name, run, f"{found.summary}\n\n{text}")


def _made(name: str, function: Callable[..., None], text: str, **settings: Any) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=PlainCommand, help=text, context_settings=settings)(function)
    return typer.main.get_command(alone)


def _broken_command(name: str, error: Exception) -> Any:
    def fail(ignored: Annotated[list[str] | None, typer.Argument()] = None) -> None:
        del ignored
        raise error

    return _made(name, fail, f"(broken) {error}", ignore_unknown_options=True)


def _common_parameters(found: Importer) -> list[inspect.Parameter]:
    """Those of :class:`ImportRequest`, as far as they mean something to this importer."""
    from trailhound.sessions.importers.base import KnowsBookmarks, NamesPeople

    common = dict(inspect.signature(ImportRequest, eval_str=True).parameters)
    file = Annotated[Path, typer.Argument(metavar="FILE", help=found.reads)]
    common["file"] = common["file"].replace(annotation=file)
    if isinstance(found, KnowsBookmarks):
        useful = Annotated[list[str] | None, _WITH_BOOKMARKS]
        common["useful"] = common["useful"].replace(annotation=useful)
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in common.values()]
    if isinstance(found, NamesPeople):
        keep = inspect.Parameter("keep_addresses", inspect.Parameter.KEYWORD_ONLY, default=False)
        parameters.append(keep.replace(annotation=_KEEP_ADDRESSES))
    return parameters


def _own_options(found: Importer) -> dict[str, inspect.Parameter]:
    """The importer's options, with their help texts where the command line looks for them."""
    from trailhound.errors import ConfigError
    from trailhound.sessions.importers import options_of

    own = {}
    for name, option in options_of(found).items():
        if name in (*ImportRequest.__dataclass_fields__, "keep_addresses"):
            raise ConfigError(
                f"The importer '{found.name}' has an option '{name}', which all imports have. "
                "Repair or uninstall the package that provides it."
            )
        kind: Any = option.annotation
        text = get_args(kind)[1] if get_origin(kind) is Annotated else ""
        own[name] = option.replace(annotation=Annotated[kind, typer.Option(help=str(text))])
    return own


def _import(
    found: Importer, request: ImportRequest, options: Mapping[str, Any], *, keep_addresses: bool
) -> None:
    """The whole of an import: read, choose, name, perhaps fetch, keep, and tell."""
    from trailhound.cli.terminal import patiently
    from trailhound.sessions.importers import read_recording
    from trailhound.sessions.importers.base import KnowsBookmarks
    from trailhound.topics.importing import ChosenSessions, keep_import, pseudonyms, useful_pages

    _check_fetching(request)
    place = open_workspace(request.workspace)
    folder, period = place.folder_for(request.topic), _period(request.since, request.until)
    bookmarks = found.bookmarks if isinstance(found, KnowsBookmarks) else None
    useful = useful_pages(request.useful or (), bookmarks and (lambda: bookmarks(request.file)))
    with patiently("Reading"):
        imported = read_recording(found, request.file, request.topic, options)
    name_of = None if keep_addresses else pseudonyms(place.folder)
    sessions = ChosenSessions(imported, folder, period, useful, name_of)
    fetched, unfetched = _fetched(sessions, folder, request) if request.fetch else (None, 0)
    with patiently("Writing"):
        kept = keep_import(folder, sessions, fetched, unfetched)
    _refuse_nothing(request.topic, imported.tally, kept)
    tell = _show_json if request.as_json else _show_report
    tell(folder, imported.tally, kept, useful.unvisited)


def _check_fetching(request: ImportRequest) -> None:
    """Errors for what would be wrong or have no effect, before anything is read."""
    from trailhound.errors import UsageError

    if request.fetch:
        return
    for option, given in (("max-pages", request.max_pages), ("user-agent", request.user_agent)):
        if given is not None:
            raise UsageError(
                f"--{option} is for pages that are asked for. Give --fetch as well, or leave it "
                "out."
            )
    if request.config is not None:
        settings_from({}, request.config)


def _period(since: str | None, until: str | None) -> Period:
    """The time that ``--since`` and ``--until`` name, in local time unless they say otherwise."""
    from trailhound.errors import UsageError
    from trailhound.topics.importing import Period

    period = Period(_local_time(since, float("-inf")), _local_time(until, float("inf")))
    if period.since >= period.until:
        raise UsageError(f"--since {since} is not before --until {until}.")
    return period


def _local_time(text: str | None, otherwise: float) -> float:
    from datetime import datetime

    from trailhound.errors import UsageError

    if text is None:
        return otherwise
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(
            f"'{text}' is no date. Write it as 2026-03-01, or 2026-03-01T18:30 with a time."
        ) from error


def _fetched(
    sessions: Iterable[Session], folder: TopicFolder, request: ImportRequest
) -> tuple[FetchedPages, int]:
    """Pages from the web for those without contents, and how many are beyond the limit."""
    from trailhound.cli.terminal import import_bar
    from trailhound.errors import UsageError
    from trailhound.topics.page_fetching import FetchedPages, fetch_missing
    from trailhound.topics.upkeep.forgetting import FETCHED_NAME

    settings = settings_from({"fetch.user_agent": request.user_agent}, request.config).fetch
    if not settings.user_agent:
        raise UsageError(
            "--fetch must say who is asking. Give a name and a contact: "
            "--user-agent 'bees-bot (+https://example.org/bot)'"
        )
    store = FetchedPages(folder.path / FETCHED_NAME)
    with import_bar() as show:

        def progress(done: int, total: int) -> None:
            show(done, total, "fetching pages")

        most = request.max_pages or MAX_FETCHED
        return store, fetch_missing(sessions, store, settings, most, progress)


MAX_NOTES = 3
"""Told of an import of which nothing came."""


def counts(tally: Tally) -> Iterator[str]:
    """Read, kept, and skipped by reason, most frequent first."""
    yield f"{counted(tally.read, tally.unit)} read, {tally.kept:,} kept"
    yield from tally.left_out


def _refuse_nothing(topic: str, tally: Tally, kept: Kept) -> None:
    """SessionError when no visit was kept."""
    from trailhound.errors import SessionError

    if not kept.visits:
        advice = "Check the file's kind, and --since and --until."
        told = "; ".join((*counts(tally), *tally.notes[:MAX_NOTES]))
        raise SessionError(f"Nothing to import for the topic '{topic}': {told}. {advice}")


def _show_report(folder: TopicFolder, tally: Tally, kept: Kept, unvisited: Iterable[str]) -> None:
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


def _show_json(folder: TopicFolder, tally: Tally, kept: Kept, unvisited: Iterable[str]) -> None:
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
