"""An archive looked through: every record readable, every digest right, every answer indexed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trailhound.storage.archive_reading import ArchivedFetch, Place, fetches_of, warc_files
from trailhound.storage.cdxj import INDEX_NAME, PART_SUFFIX, merge_index, parse_line
from trailhound.storage.files import OPEN_SUFFIX, explaining
from trailhound.storage.warc_repair import (
    Repair,
    Span,
    cut_damage_out,
    digests_are_right,
    index_file_anew,
    own_archive,
    repair_open_files,
    whole_content,
    whole_records,
)

_Place = tuple[str, int]
"""The name of a file, when it is complete, and where in it a record begins."""


@dataclass
class ArchiveCheck:
    """Goes through the archive in ``folder``, file by file; tells what is wrong with it."""

    folder: Path
    tell: Callable[[str], None] = lambda _: None
    records: int = 0
    lines: int = 0
    """Of the index."""
    damaged: list[str] = field(default_factory=list)
    """What belongs to no whole record, file by file."""
    left_open: list[str] = field(default_factory=list)
    """Files of a run that was cut short."""
    wrong_digests: list[str] = field(default_factory=list)
    """Where records are that do not say what they said when they were written."""
    not_indexed: list[str] = field(default_factory=list)
    """Answers that no line of the index points at."""
    stray_lines: int = 0
    """Lines of the index that cannot be read, are out of order, or point at no answer."""

    @property
    def is_indexed(self) -> bool:
        """Whether the index has a line for each answer, and no other."""
        return not (self.not_indexed or self.stray_lines)

    def fetches(self) -> Iterator[ArchivedFetch]:
        """Everything that was archived; the findings are complete when all has been read."""
        places = self._indexed_places()
        for path in warc_files(self.folder):
            name = path.name.removesuffix(OPEN_SUFFIX)
            self.tell(f"Reading {name}")
            if name != path.name:
                self.left_open.append(name)
            yield from self._fetches_of(path, name, places)
        self.stray_lines += len(places)

    def _fetches_of(
        self, path: Path, name: str, places: dict[_Place, int]
    ) -> Iterator[ArchivedFetch]:
        seen = _Seen()
        for fetch in fetches_of(path, self._checked(path, seen)):
            for answer in fetch.answers:
                is_indexed = _is_at(answer.place, name, places)
                # What a killed run left is indexed by the repair.
                if not is_indexed and not answer.is_revisit:
                    self.not_indexed.append(answer.url)
            if fetch.rendered is not None and not _is_at(fetch.rendered, name, places):
                self.not_indexed.append(fetch.last.url)
            yield fetch
        lost = path.stat().st_size - seen.bytes
        if lost:
            self.damaged.append(f"{name}: {lost:,} bytes belong to no whole record")

    def _checked(self, path: Path, seen: _Seen) -> Iterator[Span]:
        for span in whole_records(path):
            self.records += 1
            seen.bytes += span.end - span.start
            if not digests_are_right(whole_content(path, span)):
                self.wrong_digests.append(f"{path.name} at byte {span.start:,}")
            yield span

    def _indexed_places(self) -> dict[_Place, int]:
        """Where the index says that records are, with their lengths."""
        places: dict[_Place, int] = {}
        endings = (PART_SUFFIX, PART_SUFFIX + OPEN_SUFFIX)
        for path in sorted(p for end in endings for p in self.folder.glob(f"*{end}")):
            before = b""
            with explaining(path), path.open("rb") as lines:
                for line in lines:
                    self.lines += 1
                    try:
                        entry = parse_line(line)[1]
                        places[entry.filename, int(entry.offset)] = int(entry.length)
                    except (ValueError, RecursionError):
                        self.stray_lines += 1
                    if line < before and path.name == INDEX_NAME:
                        self.stray_lines += 1
                    before = line
        return places


def _is_at(place: Place, name: str, places: dict[_Place, int]) -> bool:
    """Whether the index says so; its line is taken out."""
    return places.pop((name, place.start), None) == place.end - place.start


@dataclass
class _Seen:
    bytes: int = 0


def repair_whole_archive(folder: Path) -> list[Repair]:
    """Keep every whole record that says what it said, drop the rest, and index everything anew.

    What was done to files from which something had to go. The archive must not be in use.
    """
    with own_archive(folder):
        repairs = [each for each in repair_open_files(folder) if each.dropped_bytes]
        for path in warc_files(folder):
            cut = cut_damage_out(path)
            if cut is not None:
                repairs.append(cut)
            if path.exists():
                index_file_anew(path)
        with explaining(folder):
            (folder / INDEX_NAME).unlink(missing_ok=True)
        merge_index(folder)
    return repairs
