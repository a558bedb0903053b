"""An index is made once and used as long as what it was made from stays as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from trailhound.errors import SourceError
from trailhound.sessions.imports.imported import Tally
from trailhound.traces.accesses import PageAccess
from trailhound.traces.building import Progress, UserKey, build_trace
from trailhound.traces.folder import HEADER, SUFFIX
from trailhound.traces.index import TraceIndex


@dataclass(frozen=True)
class TraceSource:
    """What an index is made from."""

    name: str
    """For people: the path of a log, say."""
    files: Sequence[Path]
    """If one of them changes, so does the origin."""
    accesses: Callable[[Tally], Iterable[PageAccess]]
    detail: str = ""
    """What else the accesses depend on."""
    unit: str = "line"

    def origin(self) -> str:
        """Names, sizes and times of change, as one line."""
        parts = [self.name, self.detail]
        for path in self.files:
            try:
                status = path.stat()
            except OSError as error:
                raise SourceError(
                    f"There is no trace {path}: {error.strerror or error}. Check the name."
                ) from error
            parts.append(f"{path.name}:{status.st_size}:{status.st_mtime_ns}")
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def kept_trace(
    source: TraceSource,
    place: Path,
    user_key: UserKey,
    *,
    progress: Progress = lambda _: None,
) -> tuple[TraceIndex, bool]:
    """The index of a source in the folder ``place``, and whether it had to be made.

    When the source is gone (logs are rotated), the index that was made of it stays in use.
    """
    name = hashlib.sha256(source.name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    folder = place / f"{name}{SUFFIX}"
    index = _known(folder)
    try:
        origin = source.origin()
    except SourceError:
        if index is None:
            raise
        return index, False
    if index is not None and index.header.origin == origin:
        return index, False
    del index  # where files in use cannot be deleted, it could not be replaced
    tally = Tally(source.unit)
    accesses = source.accesses(tally)
    build_trace(folder, accesses, tally, user_key, origin=origin, progress=progress)
    return TraceIndex.open(folder), True


def _known(folder: Path) -> TraceIndex | None:
    """The index in a folder; ``None`` when it is damaged or of another version, too."""
    if not (folder / HEADER).is_file():
        return None
    try:
        return TraceIndex.open(folder)
    except SourceError:
        return None
