"""Anybody's web archives: WARC files, folders of them, WACZ packages.

HTML answers become pages, redirects redirects, everything else an answer without a page. Damaged
files are read as far as they go, and named in the corpus's notes.
"""

from __future__ import annotations

from trailhound.counting import counted
from trailhound.errors import CorpusError
from trailhound.lab.corpora.writer import CorpusWriter
from trailhound.lab.importers import CorpusKind, ImportRequest, record_answer
from trailhound.urls import canonicalize
from trailhound.web_archives import ArchiveDamageError, Capture, find_archives, read_captures


class _Recorder:
    """Sorts captures into a corpus."""

    def __init__(self, writer: CorpusWriter) -> None:
        self._writer = writer
        self._urls_by_digest: dict[str, str] = {}
        self._revisits: list[Capture] = []
        self.captures = 0
        self.pages = 0

    def add(self, capture: Capture) -> None:
        """Record one capture, or keep it for later when its body is elsewhere."""
        self.captures += 1
        if not capture.answer.url.startswith(("http://", "https://")):
            return  # DNS answers, and what archiving tools say about themselves
        if capture.is_revisit:
            self._revisits.append(capture)
        else:
            self._record(capture)

    def add_revisits(self) -> None:
        """Record the captures whose bodies were stored under other ones."""
        for revisit in self._revisits:
            original = self._urls_by_digest.get(revisit.digest) or revisit.original_url
            body = self._writer.body(original)
            if body is None:
                self._writer.skip("revisit of a page that is not in the input")
            elif canonicalize(revisit.answer.url) not in self._writer:
                answer = revisit.answer._replace(status=200, body=body)
                self._record(revisit._replace(answer=answer))

    def _record(self, capture: Capture) -> None:
        if record_answer(capture.answer, self._writer):
            self.pages += 1
            if capture.digest:
                self._urls_by_digest.setdefault(capture.digest, capture.answer.url)


def record_warc(request: ImportRequest, writer: CorpusWriter) -> None:
    """Read every archive at ``request.source``."""
    recorder = _Recorder(writer)
    archives = list(find_archives(request.source))
    problems = []
    for archive in archives:
        before = recorder.captures
        try:
            for capture in read_captures(archive):
                recorder.add(capture)
                request.progress(recorder.captures, None, archive.name)
        except ArchiveDamageError as damage:
            after = counted(recorder.captures - before, "record")
            problems.append(f"{archive.name}: {damage}, after {after}")
        else:
            if recorder.captures == before:
                problems.append(f"{archive.name}: it holds no record of an answer")
    recorder.add_revisits()
    if not recorder.pages:
        reason = "; ".join(problems[:3]) or f"{len(archives)} archive(s), none with an HTML page"
        raise CorpusError(
            f"No page could be read from {request.source}: {reason}. "
            "Give a WARC or WACZ file that holds HTML responses."
        )
    for problem in problems:
        writer.note(f"Not read to its end: {problem}.")
    writer.note(f"Origin: {len(archives)} web archive(s), {request.source.name}.")


WARC = CorpusKind(
    name="warc",
    summary="web archives: WARC files, folders of them, or WACZ packages",
    record=record_warc,
)
