"""``turns.json``: how far the turns with a search engine have come, beside a topic's crawl.

Turns are kept as figures. Addresses are in it only until the crawl that starts from them has begun.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from trailhound.errors import UNREADABLE, StorageError
from trailhound.storage.files import write_whole
from trailhound.topics.turn_planning import AskedQuery

FORMAT_NAME = "trailhound-turns"
FORMAT_VERSION = 1


class TurnReport(msgspec.Struct, frozen=True, kw_only=True):
    """A finished turn in figures."""

    number: int
    """From 1, over all runs."""
    queries: tuple[AskedQuery, ...]
    seeds: int
    """New start pages."""
    requests: int
    """Of the crawl and to the search."""
    relevant: int
    """Pages that the judge took for relevant, without copies."""
    adopted: int
    """Those of them that were learned from."""
    pages_learned_from: int
    """Pages of the topic's graph afterwards."""
    crawl_ended: str
    """Why its crawl ended; empty when that was not heard."""


class OpenTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that was planned and is not finished."""

    number: int
    queries: tuple[AskedQuery, ...]
    n_seeds: int
    seeds: tuple[str, ...] = ()
    """Until the crawl has them."""
    questions: int = 0
    """Requests that asking the search has cost."""
    pages_before: int
    """Pages that the crawl had dealt with."""
    requests_before: int
    until_requests: int
    """When its crawl is to end."""


class TurnsRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The file."""

    last_turn: int = 0
    """With which the run that was asked for is done."""
    turns: tuple[TurnReport, ...] = ()
    open: OpenTurn | None = None
    crawl_begun_at: float | None = None
    """Tells this crawl from one that was begun anew."""
    format: str = FORMAT_NAME
    version: int = FORMAT_VERSION

    @property
    def asked(self) -> frozenset[str]:
        """Every query so far."""
        return frozenset(query.text for turn in self.turns for query in turn.queries)

    @property
    def unfinished(self) -> bool:
        """Whether a run was interrupted."""
        return self.open is not None or len(self.turns) < self.last_turn


class TurnsFile:
    """Reads and writes it; nothing is there before the first turn."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> TurnsRecord:
        """What was kept; StorageError says what is wrong with it."""
        try:
            record = msgspec.json.decode(self._path.read_bytes(), type=TurnsRecord)
        except FileNotFoundError:
            return TurnsRecord()
        except (OSError, *UNREADABLE) as error:
            raise StorageError(
                f"{self._path} cannot be read ({error}). Delete it: the next turn begins anew, and "
                "what was crawled and learned stays."
            ) from error
        if record.format != FORMAT_NAME or record.version > FORMAT_VERSION:
            raise StorageError(
                f"{self._path} has format '{record.format}' version {record.version}, and this "
                f"Trailhound reads '{FORMAT_NAME}' up to {FORMAT_VERSION}. Upgrade Trailhound."
            )
        return record

    def write(self, record: TurnsRecord) -> None:
        """Replace it in one step."""
        write_whole(self._path, msgspec.json.format(msgspec.json.encode(record), indent=1))
