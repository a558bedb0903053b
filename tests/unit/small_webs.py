"""Recorded webs of a few pages for tests of topics: who links to whom, and what is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from trailhound.lab.corpora import Corpus, CorpusWriter, Trail
from trailhound.sessions.events import Session


def record_web(
    path: Path,
    links: Mapping[str, Sequence[str]],
    *,
    labels: Mapping[str, Iterable[str]] | None = None,
    groups: Mapping[str, Iterable[str]] | None = None,
    texts: Mapping[str, str] | None = None,
    trails: Iterable[Trail] = (),
    sessions: Iterable[Session] = (),
    duplicates: Mapping[str, str] | None = None,
    start_urls: Sequence[str] = (),
) -> Corpus:
    """Write the pages that are keys of ``links``, and open the corpus."""
    with CorpusWriter(path / "web.thc", kind="test") as writer:
        for url, linked in links.items():
            anchors = "".join(f'<a href="{each}">go</a>' for each in linked)
            text = (texts or {}).get(url, "")
            writer.add_page(url, f"<title>{url}</title><p>{text}</p>{anchors}".encode())
        for label, urls in (labels or {}).items():
            for url in urls:
                writer.add_label(url, label)
        for group, urls in (groups or {}).items():
            for url in urls:
                writer.set_group(url, group)
        for trail in trails:
            writer.add_trail(trail)
        for session in sessions:
            writer.add_session(session)
        for url, original in (duplicates or {}).items():
            writer.add_duplicate(url, original)
        writer.set_start_urls(start_urls)
    return Corpus.open(path / "web.thc")
