"""Results for other programs, as downloads: a job writes a file, which is then fetched."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec
from aiohttp import hdrs, web

from trailhound.counting import counted
from trailhound.errors import TrailhoundError
from trailhound.portal import Portal
from trailhound.portal.site import write_site
from trailhound.storage.exporting import WRITERS, write_urls, write_warc
from trailhound.storage.files import explaining, whole_file
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.topics.crawls.folder import EXPORTS
from trailhound.topics.crawls.marking import open_results
from trailhound.topics.finds.exporting import Export, write_text_folder
from trailhound.web.api import NotThereError, OneCrawl, Routes
from trailhound.web.jobs import Handle, Job

if TYPE_CHECKING:
    from trailhound.text.main_content import TextForm
    from trailhound.topics.crawls.folder import CrawlFolder
    from trailhound.web.state import App

routes = Routes("Results")

Page = TypeVar("Page")
Format = Literal["jsonl", "csv", "parquet", "urls", "warc", "markdown", "text", "site"]
ENDINGS: dict[Format, str] = {
    "jsonl": ".jsonl",
    "csv": ".csv",
    "parquet": ".parquet",
    "urls": ".txt",
    "warc": ".warc.gz",
    "markdown": "-markdown.zip",
    "text": "-text.zip",
    "site": "-site.zip",
}
_TEXTS: dict[Format, TextForm] = {"markdown": "markdown", "text": "text"}
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


class ExportRequest(OneCrawl, frozen=True, kw_only=True):
    """What to write."""

    format: Format
    new: bool = False
    """Leave out pages of the sessions learned from."""


class OneExport(OneCrawl, frozen=True, kw_only=True):
    """Of a route about one export."""

    format: Format


class ExportView(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is ready."""

    format: Format
    file_name: str
    bytes: int
    at: float
    """When it was written, in seconds since 1970."""


@routes.post("/api/topics/{topic}/exports")
def start_export(app: App, asked: ExportRequest) -> Job:
    """Write the results to a file; fetch it when the job is done."""
    folder = app.crawl(asked.topic, asked.crawl)

    def work(handle: Handle) -> str:
        return f"{counted(_write(folder, asked, handle), 'page')} exported as {asked.format}."

    return app.jobs.start(f"export-{asked.format}", folder.topic.name, work)


@routes.get("/api/topics/{topic}/exports")
def list_exports(app: App, asked: OneCrawl) -> list[ExportView]:
    """Files that are ready."""
    folder = app.crawl(asked.topic, asked.crawl)
    found = []
    for kind in ENDINGS:
        path = _path(folder, kind)
        if path.is_file():
            stat = path.stat()
            found.append(
                ExportView(
                    format=kind,
                    file_name=_file_name(folder, kind),
                    bytes=stat.st_size,
                    at=stat.st_mtime,
                )
            )
    return found


@routes.get("/api/topics/{topic}/exports/{format}")
async def fetch_export(app: App, asked: OneExport) -> web.StreamResponse:
    """A file that is ready."""
    folder = app.crawl(asked.topic, asked.crawl)
    path = _path(folder, asked.format)
    if not path.is_file():
        raise NotThereError(f"There is no export as {asked.format} yet. Start one.")
    name = _file_name(folder, asked.format).encode("ascii", "replace").decode().replace("?", "_")
    return web.FileResponse(
        path,
        headers={
            hdrs.CONTENT_TYPE: "application/octet-stream",
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="{name}"',
        },
    )


def _path(folder: CrawlFolder, kind: Format) -> Path:
    name = "results" if folder.is_the_topics_own else folder.path.name
    return folder.topic.path / EXPORTS / f"{name}{ENDINGS[kind]}"


def _file_name(folder: CrawlFolder, kind: Format) -> str:
    name = folder.topic.name + ("" if folder.is_the_topics_own else f"-{folder.path.name}")
    return _NOT_IN_NAMES.sub("-", name).strip("-.")[:80] + ENDINGS[kind]


class _StoppedError(TrailhoundError):
    """The job is to end."""


def _write(folder: CrawlFolder, asked: ExportRequest, handle: Handle) -> int:
    path = _path(folder, asked.format)
    with explaining(path), open_results(folder) as results:
        path.parent.mkdir(parents=True, exist_ok=True)

        def pages() -> Iterator[StoredPage]:
            return results.iterate(only_new=asked.new)

        handle.report("Reading the results")
        if asked.format in (*_TEXTS, "site"):
            return _write_folder(folder, results, asked, path, handle)
        with whole_file(path) as file:
            if asked.format == "warc":
                return write_warc(folder.archive, (page.address for page in pages()), file)
            if asked.format == "urls":
                return write_urls(pages(), file)
            export = Export(folder, results, pages)
            return WRITERS[asked.format](_told(export, export.total, handle), file)


def _write_folder(
    folder: CrawlFolder, results: Results, asked: ExportRequest, path: Path, handle: Handle
) -> int:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".making-") as made:
        inside = Path(made) / "pages"
        if asked.format == "site":
            handle.report("Indexing all words")
            portal = Portal(folder)
            total = len(portal.listing)
            number = write_site(portal, inside, passing=lambda pages: _told(pages, total, handle))
        else:
            form = _TEXTS[asked.format]
            export = Export(folder, results, lambda: results.iterate(only_new=asked.new), form)
            number = write_text_folder(_told(export, export.total, handle), inside, form)
        handle.report("Packing")
        with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for each in sorted(inside.rglob("*")):
                if each.is_file() and not each.name.startswith("."):
                    packed.write(each, each.relative_to(inside).as_posix())
        shutil.rmtree(inside, ignore_errors=True)
    return number


def _told(pages: Iterable[Page], total: int, handle: Handle) -> Iterator[Page]:
    for number, page in enumerate(pages):
        if handle.is_stopping():
            raise _StoppedError("The export was stopped; the earlier one, if any, is still there.")
        handle.report(f"{number:,} of {counted(total, 'page')}", number / total if total else None)
        yield page
