"""A crawl of pages, documents and feeds: through each of them to the next page."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import made_documents as made
import pytest
from live_webs import Resource, Site, TinySite

from command_line import Command
from trailhound.records import Outcome
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.topics.crawls.archived_pages import ArchivedContent
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import MARKS_FILE, mark_results
from trailhound.topics.finds.rejudging import rejudge
from trailhound.topics.workspace import Workspace

HOME = "http://docs.test"
BEES = "Bees live in a hive behind the house, and the bees make wax and honey all summer."
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def page(links: str, head: str = "") -> Resource:
    return Resource(f"<title>Page</title>{head}<p>{links}".encode())


def document(body: bytes, content_type: str) -> Resource:
    return Resource(body, headers={"Content-Type": content_type})


def bomb() -> bytes:
    """A PDF whose one page unpacks to 200 MB."""
    packing = zlib.compressobj(1)
    packed = b"".join(packing.compress(b" " * 1_000_000) for _ in range(200)) + packing.flush()
    plain = made.pdf([[(12, "Bees")]])
    start, end = plain.index(b"<< /Length"), plain.index(b"\nendstream")
    head = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
    return plain[:start] + head + packed + plain[end:]


def resources() -> dict[str, Resource]:
    names = (
        "paper.pdf locked.pdf torn.pdf bomb.pdf large.pdf photo.pdf letter.docx zip.docx notes.md"
    )
    links = " ".join(f'<a href="/{name}">{name} of bees</a>' for name in names.split())
    feed = '<link rel="alternate" type="application/rss+xml" title="Bee news" href="/feed">'
    lines = [(12, "See the hive for more."), (12, BEES[:40]), (12, BEES[41:])]
    letter = '<w:p><w:hyperlink r:id="r1"><w:t>more</w:t></w:hyperlink></w:p>'
    letter += f"<w:p><w:t>{BEES}</w:t></w:p>"
    paper = made.pdf(
        [[(20, "A paper on bees"), *lines]], links={0: [("/from-pdf", (90, 660, 200, 690))]}
    )
    return {
        "/": page(links, feed),
        "/paper.pdf": document(paper, "application/octet-stream"),
        "/locked.pdf": document(made.pdf([[(12, "x")]], is_locked=True), "application/pdf"),
        "/torn.pdf": document(b"%PDF-1.7\n1 0 obj <<", "text/html"),
        "/bomb.pdf": document(bomb(), "application/pdf"),
        "/large.pdf": document(b"%PDF-1.7\n" + b"bees " * 200_000, "application/pdf"),
        "/photo.pdf": document(b"\x89PNG\r\n\x1a\n" + bytes(600), "application/pdf"),
        "/letter.docx": document(
            made.docx(letter, title="A letter on bees", address="/from-letter"), DOCX
        ),
        "/zip.docx": document(
            made.docx(f"<w:p><w:t>{' ' * 10_000_000}</w:t></w:p>"), "application/zip"
        ),
        "/notes.md": document(
            f"# Notes on bees\n\n{BEES} [more](/from-notes)".encode(), "text/plain; charset=utf-8"
        ),
        "/feed": document(
            b"<?xml version='1.0'?><rss><channel><title>Bee news</title><item><title>New bees"
            b"</title><link>/from-feed</link></item></channel></rss>",
            "application/rss+xml",
        ),
        **{f"/from-{each}": page(BEES) for each in ("pdf", "letter", "notes", "feed")},
    }  # fmt: skip


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CrawlFolder]:
    topic = Workspace(tmp_path_factory.mktemp("documents")).folder_for("bees")
    topic.prepare()
    with (
        TinySite(resources()) as site,
        Site(topic, site.port, "docs.test").begun(
            crawl__seeds=(f"{HOME}/",),
            crawl__strategy="breadth-first",
            crawl__page_memory=120_000_000,
            crawl__near_duplicates=False,
            fetch__documents="auto",
            fetch__max_document_bytes=900_000,
            judge__kind="keywords:words=bees honey",
        ) as crawl,
    ):
        list(crawl.run())
        yield crawl.folder


def found(folder: CrawlFolder, path: str) -> StoredPage:
    with Results(folder.results) as results:
        return results.events_of(f"{HOME}{path}")[-1]


def explained(trailhound: Command, folder: CrawlFolder, path: str) -> str:
    place = ("--workspace", folder.topic.path.parent.parent)
    done = trailhound("explain", folder.topic.name, f"{HOME}{path}", *place)
    assert done.code == 0, done.err
    return " ".join(done.out.split())


@pytest.mark.parametrize(
    ("path", "title", "leads_to"),
    [
        ("/paper.pdf", "A paper on bees", "/from-pdf"),
        ("/letter.docx", "A letter on bees", "/from-letter"),
        ("/notes.md", "Notes on bees", "/from-notes"),
        ("/feed", "Bee news", "/from-feed"),
    ],
)
def test_documents_are_pages_that_lead_on(
    crawled: CrawlFolder, path: str, title: str, leads_to: str
) -> None:
    read = found(crawled, path)
    assert (read.outcome, read.title) == (Outcome.FETCHED, title)
    assert read.relevant
    reached = found(crawled, leads_to)
    assert (reached.outcome, reached.parent) == (Outcome.FETCHED, f"{HOME}{path}")


@pytest.mark.parametrize(
    ("path", "outcome", "why"),
    [
        ("/locked.pdf", "unreadable", "a PDF document that needs a password"),
        ("/torn.pdf", "unreadable", "a PDF document that is damaged or cut off"),
        ("/zip.docx", "unreadable", "unpacks to more than is read"),
        ("/bomb.pdf", "too-costly", "a page may take 10 s and 120 MB"),
        ("/large.pdf", "too-large", "the body is larger than 900000 bytes"),
        ("/photo.pdf", "not-html", "but the body is a PNG image"),
    ],
)
def test_harmful_ones_cost_themselves_and_are_told_of(
    crawled: CrawlFolder, trailhound: Command, path: str, outcome: str, why: str
) -> None:
    assert found(crawled, path).outcome == outcome
    assert why in explained(trailhound, crawled, path)


def test_it_is_told_what_a_page_was_read_as(crawled: CrawlFolder, trailhound: Command) -> None:
    told = explained(trailhound, crawled, "/paper.pdf")
    assert "It was fetched, and is relevant" in told
    assert "Remark: it was read as a PDF document." in told


def test_the_archive_keeps_what_came_and_gives_what_it_says(crawled: CrawlFolder) -> None:
    address = f"{HOME}/paper.pdf"
    with ArchivedContent(crawled.archive) as content:
        answer, read = content.answer(address), content.page(address)
    assert answer is not None
    assert answer.body == resources()["/paper.pdf"].body
    assert read is not None
    assert read.title == "A paper on bees"
    assert [link.url for link in read.links] == [f"{HOME}/from-pdf"]


def test_texts_are_exported(crawled: CrawlFolder, trailhound: Command, tmp_path: Path) -> None:
    place = ("--workspace", crawled.topic.path.parent.parent)
    done = trailhound("export", "bees", "--format", "markdown", "-o", tmp_path / "out", *place)
    assert done.code == 0, done.err
    texts = [path.read_text("utf-8") for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert any(f"[more]({HOME}/from-letter)\n\n{BEES}" in text for text in texts)


def test_words_of_documents_are_searched_for(crawled: CrawlFolder, trailhound: Command) -> None:
    place = ("--workspace", crawled.topic.path.parent.parent)
    done = trailhound("results", "bees", "--search", "letter summer", "--json", *place)
    assert [each["url"] for each in done.report] == [f"{HOME}/letter.docx"]


def test_documents_are_judged_again_and_marked(crawled: CrawlFolder) -> None:
    again = rejudge(crawled)
    assert again.unread == 0
    marked = mark_results(crawled, [f"{HOME}/paper.pdf"], True, now=1.0)
    assert [each.address for each in marked.pages] == [f"{HOME}/paper.pdf"]
    session = (crawled.topic.sessions_path / MARKS_FILE).read_text("utf-8")
    assert "<title>A paper on bees</title>" in session
