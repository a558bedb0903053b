"""What an index is made from: accesses to pages, from logs or from recorded sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from trailhound.counting import counted
from trailhound.errors import SessionError, SourceError, UsageError
from trailhound.sessions.events import Session, Visit
from trailhound.sessions.imports.combined import combined_accesses
from trailhound.sessions.imports.imported import Tally
from trailhound.sessions.imports.log_files import log_lines
from trailhound.sessions.imports.pages_in_logs import NO_HOST, NOT_A_LINE
from trailhound.sessions.imports.squid import squid_accesses
from trailhound.urls import canonicalize

PageAccess = tuple[bytes, float, bytes | None]
"""Client, Unix time, URL if it was for a page."""
_PROBED_LINES = 200


def log_accesses(path: Path, tally: Tally, site: str = "") -> Iterator[PageAccess]:
    """Accesses of a log in Squid's native or the combined format, whichever fits its first lines.

    ``site`` (``https://www.example.org``) is where the paths of a combined log are.
    """
    if site and canonicalize(site) is None:
        raise UsageError(f"'{site}' is not the address of a site. Write https://www.example.org.")
    is_squid = _is_squid(path)
    try:
        lines = log_lines(path, tally)
        accesses = (
            squid_accesses(lines, tally) if is_squid else combined_accesses(lines, tally, site)
        )
        for client, when, url, _ in accesses:
            yield client, when, url
    except SessionError as error:
        raise SourceError(str(error)) from error
    if tally.skipped[NO_HOST] and not tally.kept:
        raise UsageError(
            f"The lines of {path} do not say which site they are of. Name it before the file: "
            f"--trace https://www.example.org={path}"
        )


def _is_squid(path: Path) -> bool:
    """Which format reads more of the first lines; SourceError when none reads any."""
    try:
        batch = next(log_lines(path, Tally("line")), [])
    except SessionError as error:
        raise SourceError(str(error)) from error
    probed = list(islice((line for line in batch if line.strip()), _PROBED_LINES))
    squid, combined = Tally("line"), Tally("line")
    for _ in squid_accesses([probed], squid):
        pass
    for _ in combined_accesses([probed], combined, "http://any.test"):
        pass
    fits_squid, fits_combined = (
        tally.read - tally.skipped[NOT_A_LINE] for tally in (squid, combined)
    )
    if not fits_squid and not fits_combined:
        raise SourceError(
            f"{path} is no access log: none of its first {counted(len(probed), 'line')} is in "
            "Squid's native or in the combined format of Apache and Nginx. Check the file's kind."
        )
    return fits_squid >= fits_combined


def session_accesses(sessions: Iterable[tuple[str, Session]], tally: Tally) -> Iterator[PageAccess]:
    """Visits of recorded sessions; whoever has no name counts as one person per session.

    Sessions come with a name that tells them apart.
    """
    for name, session in sessions:
        client = (session.user or f"session {name}").encode()
        for event in session.events:
            if isinstance(event, Visit):
                tally.read += 1
                yield client, event.time, event.url.encode()
