"""Server and proxy logs as sessions, one for each person in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trailhound.counting import counted
from trailhound.errors import SessionError, UsageError
from trailhound.sessions.imports.combined import combined_accesses
from trailhound.sessions.imports.imported import Imported, Tally
from trailhound.sessions.imports.log_files import log_lines
from trailhound.sessions.imports.pages_in_logs import NO_HOST, NOT_A_LINE
from trailhound.sessions.imports.squid import squid_accesses
from trailhound.sessions.imports.traces import GroupFilter, Traces
from trailhound.urls import canonicalize

Naming = Callable[[bytes], str]
"""From a client's address to the name of a person: a pseudonym, or the address itself."""


def plain_address(client: bytes) -> str:
    """The address as the log has it."""
    return client.decode("utf-8", "replace")


def read_squid(path: Path, topic: str, name_of: Naming, groups: GroupFilter) -> Imported:
    """Squid's native log; it names no referring pages, so the page before counts as such."""
    tally = Tally("line")
    traces = Traces(topic, "squid import", name_of, with_referers=False)
    traces.collect(squid_accesses(log_lines(path, tally), tally), tally, groups)
    return _checked(Imported(traces, tally), path, "Squid's native format")


def read_combined(
    path: Path, topic: str, name_of: Naming, groups: GroupFilter, site: str = ""
) -> Imported:
    """Apache's or Nginx's combined log, with the referring pages it names."""
    if site and canonicalize(site) is None:
        raise UsageError(
            f"'{site}' is not the address of a site. Write for example --site https://example.org"
        )
    tally = Tally("line")
    traces = Traces(topic, "combined import", name_of, with_referers=True)
    traces.collect(combined_accesses(log_lines(path, tally), tally, site), tally, groups)
    if tally.skipped[NO_HOST] and not tally.kept:
        raise UsageError(
            f"The lines of {path} do not say which site they are of. Name it, for example: "
            "--site https://www.example.org"
        )
    return _checked(Imported(traces, tally), path, "the combined format")


def _checked(imported: Imported, path: Path, kind: str) -> Imported:
    tally = imported.tally
    if tally.read == tally.skipped[NOT_A_LINE]:
        lines = f"none of {counted(tally.read, 'line')} is" if tally.read else "it holds no line"
        raise SessionError(
            f"{path} is no log in {kind}: {lines} in that format. Check the file's kind."
        )
    return imported
