"""Takes URLs out of a frontier's file.

Their rows must stay, because rows are counted; what they say goes.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from trailhound.frontier.tables import FRONTIER
from trailhound.records import Outcome
from trailhound.storage.sqlite import purge, transaction

_HOSTS = "SELECT number FROM host WHERE forgotten('https://' || name || '/-forgotten-')"
"""Also those without a URL here: where redirects, parts of pages and robots.txt files led to."""
_URLS = """
    SELECT u.number FROM url u JOIN host h ON h.number = u.site >> 1 WHERE forgotten(
        CASE WHEN u.site & 1 THEN 'https://' ELSE 'http://' END || h.name || u.path
    ) OR h.number IN (SELECT number FROM host WHERE forgotten('https://' || name || '/-forgotten-'))
"""

_FINISH = (
    "INSERT INTO finished (number, outcome) VALUES (?, ?) "
    "ON CONFLICT (number) DO UPDATE SET outcome = excluded.outcome"
)

_BLANKED = re.compile(r"https?://(forgotten-[0-9]+\.invalid/|[^/]+/-forgotten-[0-9]+$)")


def is_blanked(url: str) -> bool:
    """Whether this stands where a URL was forgotten: an address of nothing, not to be shown."""
    return _BLANKED.match(url) is not None


def forget_urls(path: Path, forgotten: Callable[[str], bool], *, dry_run: bool = False) -> int:
    """Blank out forgotten URLs in the file, which no crawl may have open; how many there are."""
    if not path.is_file():
        return 0
    connection = FRONTIER.open_for_reading(path) if dry_run else FRONTIER.open(path)
    with FRONTIER.explaining(path), closing(connection):
        connection.create_function("forgotten", 1, lambda url: bool(url) and forgotten(url))
        hosts = [number for (number,) in connection.execute(_HOSTS)]
        urls = [number for (number,) in connection.execute(_URLS)]
        if not dry_run:
            with transaction(connection):
                _blank(connection, urls, hosts)
            purge(connection)
        return len(urls)


def _blank(connection: sqlite3.Connection, urls: list[int], hosts: list[int]) -> None:
    """A blanked URL is finished: it waits no longer, and names nobody."""
    for number in urls:
        path = f"/-forgotten-{number}"
        connection.execute("UPDATE url SET path = ? WHERE number = ?", (path, number))
        connection.execute(_FINISH, (number, Outcome.SKIPPED.value))
    for number in hosts:
        name = f"forgotten-{number}.invalid"
        connection.execute("UPDATE host SET name = ? WHERE number = ?", (name, number))
    connection.execute(
        "UPDATE place SET parent = NULL WHERE typeof(parent) = 'text' AND forgotten(parent)"
    )
    # Of a shard: links on their way to others.
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'outgoing'").fetchone():
        connection.execute("DELETE FROM outgoing WHERE forgotten(url)")
        connection.execute("UPDATE outgoing SET parent = NULL WHERE forgotten(parent)")
