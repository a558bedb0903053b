"""Pages that were looked up outside the sessions, kept so that learning again needs them not.

A session that was recorded without page sources is completed from a corpus or a web archive; the
topic remembers what was found there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from trailhound.errors import ModelError
from trailhound.records import Page
from trailhound.sessions.shown_pages import Content
from trailhound.storage.files import write_whole
from trailhound.text.extract import EXTRACTION_VERSION


class _Stored(msgspec.Struct):
    extraction_version: int
    pages: dict[str, Page]


class KnownContent:
    """Answers from a source when there is one, else from memory; remembers every answer."""

    def __init__(self, pages: dict[str, Page] | None = None, source: Content | None = None) -> None:
        self._pages = dict(pages or {})
        self._source = source

    def extended_by(self, source: Content | None) -> KnownContent:
        """The same memory, with a place to look things up first."""
        return KnownContent(self._pages, source)

    def __len__(self) -> int:
        return len(self._pages)

    def __call__(self, url: str) -> Page | None:
        """The page that a visitor of ``url`` would see."""
        page = self._source(url) if self._source is not None else None
        if page is not None:
            self._pages[url] = page
        return self._pages.get(url)

    def without(self, forgotten: Callable[[str], bool]) -> KnownContent:
        """What is known, but for the pages that are to be forgotten."""
        kept = {
            url: page
            for url, page in self._pages.items()
            if not forgotten(url) and not forgotten(page.url)
        }
        return KnownContent(kept, self._source)

    def write(self, path: Path) -> None:
        """Keep what is known, or nothing at all when there is nothing to keep."""
        if not self._pages:
            path.unlink(missing_ok=True)
            return
        write_whole(path, msgspec.json.encode(_Stored(EXTRACTION_VERSION, self._pages)))


def read_known_content(path: Path) -> KnownContent:
    """What :meth:`KnownContent.write` kept.

    Pages that another version of the extractor understood are not used: their terms would not meet
    those of other pages.
    """
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
    except FileNotFoundError:
        return KnownContent()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ModelError(
            f"{path} cannot be read ({error}). Delete it and learn again with --content."
        ) from error
    return KnownContent(stored.pages if stored.extraction_version == EXTRACTION_VERSION else None)
