"""The link graph of a topic's own crawls, read from their archives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from trailhound.backlinks.link_store import LinkStore
from trailhound.errors import CorpusError
from trailhound.live.folder import CRAWL_LINKS
from trailhound.records import Page
from trailhound.text.extract import extract_page
from trailhound.urls import canonicalize
from trailhound.web_archives.captures import ArchiveDamageError, read_captures
from trailhound.web_archives.files import Archive, find_archives

Progress = Callable[[int], None]
"""Called with the pages read so far."""


class ArchivedLinks:
    """Links and pages of everything that the topic's crawls have archived up to now."""

    def __init__(self, topic: Path, progress: Progress = lambda _: None) -> None:
        self._store = LinkStore(topic / CRAWL_LINKS)
        self._progress = progress
        self._pages = 0
        for folder in sorted(topic.glob("crawl*/archive")):
            self._read_folder(folder)

    def linking_to(self, url: str) -> Sequence[str]:
        """Archived pages with a link to ``url``, in the order in which they were crawled."""
        return self._store.linking_to(url)

    def page(self, url: str) -> Page | None:
        """An archived page."""
        return self._store.page(url)

    def __len__(self) -> int:
        return len(self._store)

    def _read_folder(self, folder: Path) -> None:
        for path in sorted(path for path in folder.iterdir() if ".warc" in path.name):
            state = path.stat()
            # Not by its folder: a crawl that is set aside keeps its files.
            mark = f"{path.name} {state.st_size}"
            if not self._store.has_read(mark):
                self._store.add(self._pages_in(path), mark)

    def _pages_in(self, path: Path) -> Iterator[Page]:
        try:
            for archive in find_archives(path):
                yield from self._captured(archive)
        except (ArchiveDamageError, CorpusError):
            return  # cut short: what came before counts

    def _captured(self, archive: Archive) -> Iterator[Page]:
        for capture in read_captures(archive):
            answer = capture.answer
            url = canonicalize(answer.url)
            if url is None or answer.status != 200 or "html" not in answer.content_type.lower():
                continue
            yield extract_page(answer.body, url, answer.content_type)
            self._pages += 1
            self._progress(self._pages)
