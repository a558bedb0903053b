"""What a corpus says about itself: the answer of ``trailhound corpus info``."""

from __future__ import annotations

import msgspec


class CorpusInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Counts and origin of a corpus. Computed when it is written, so reading it costs nothing."""

    kind: str
    """Which importer made it."""
    parameters: dict[str, str] = {}
    """What the importer was told."""
    fingerprint: str
    """Hash of the content: the same input gives the same one on every machine."""
    format_version: int
    extraction_version: int
    """Version of the text extraction that made the pages."""
    bytes: int = 0
    """Size of the file."""
    pages: int
    hosts: int
    html_bytes: int
    """Size of all pages' sources before compression."""
    links_inside: int
    """Pairs of recorded pages of which one links to the other."""
    links_leaving: int
    """Pairs of a recorded page and a URL it links to of which nothing is recorded."""
    redirects: int = 0
    aliases: int = 0
    """Other spellings under which a page was linked to."""
    errors: int = 0
    """URLs that were recorded with an error status, or without any answer."""
    files: int = 0
    """URLs that brought something other than HTML."""
    languages: dict[str, int] = {}
    """Pages by language, most frequent first; "" when unknown."""
    labels: dict[str, int] = {}
    """Pages by label."""
    groups: dict[str, int] = {}
    """Pages by group."""
    trails: int = 0
    trails_finished: int = 0
    users: int = 0
    """Distinct users of the trails."""
    sessions: dict[str, int] = {}
    """Recorded browsing sessions by topic."""
    duplicates: int = 0
    start_urls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Origin, licence, and what was left out and why."""
