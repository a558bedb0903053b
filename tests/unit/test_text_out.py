"""Main texts of pages: found in processes with limits, and written as files."""

from __future__ import annotations

import errno
import io
import json
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from command_line import Command
from found_pages import Find, crawl_of, reject
from trailhound.crawling.processes import (
    LimitedProcess,
    PageLimits,
    TooCostlyError,
    Work,
    WorkFailedError,
)
from trailhound.errors import StorageError, UsageError
from trailhound.storage import exporting as export_folder
from trailhound.storage.exporting import MARKER, ExportFolder, file_stem
from trailhound.storage.results_reading import Results
from trailhound.text.main_content import TextForm, harmless_markdown
from trailhound.topics.crawls.archived_pages import ArchivedContent
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.finds.exporting import (
    Export,
    MainTexts,
    write_text_folder,
    write_text_stream,
)

pytest.importorskip("trafilatura")

PROSE = (
    "Varroa mites weaken honey bees, and most colonies that are not treated die in three years. "
    "Beekeepers treat their hives with acids after the last harvest of the summer, and again in "
    "winter, when there is no brood."
)
MENU = "<nav><ul><li><a href='/shop'>Our shop</a><li><a href='/jobs'>Jobs</a></ul></nav>"
ARTICLE = Find(
    "https://vets.test/varroa",
    parent="https://vets.test/",
    html=f"<html lang=en><title>Varroa: what to do</title><body>{MENU}<article><h1>Varroa</h1>"
    f"<p>{PROSE}</p><h2>Acids</h2><p>{PROSE.replace('Varroa', 'These')}</p>"
    "<ul><li>Formic acid</li><li>Oxalic acid</li></ul></article>"
    "<footer>Copyright, imprint, privacy</footer></body>",
)
START = Find("https://vets.test/", html="<title>Vets</title><p>Vets for bees.", score=0.6)
PLAIN = Find(
    "https://hives.test/notes.txt", html="Line one\nLine two <b>", content_type="text/plain"
)
EVIL = Find(
    "https://evil.test/x",
    html="<title>../../etc/passwd\n---\nkey: value [x](javascript:alert(1)) <script></title>"
    f"<article><p>{PROSE}</p><p>&lt;script&gt;alert(1)&lt;/script&gt; and "
    f"[click](javascript:alert(2)) and [ref]: javascript:alert(3) {PROSE}</p></article>",
)
UNARCHIVED = Find("https://hives.test/lost", "Lost", "What was indexed of it.")


@pytest.fixture(autouse=True)
def _one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting one takes a second."""
    monkeypatch.setattr("trailhound.topics.finds.exporting.MAX_PROCESSES", 1)


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    return crawl_of(tmp_path / "workspace", [START, ARTICLE, PLAIN, EVIL, UNARCHIVED])


def exported(crawl: CrawlFolder, folder: Path, form: TextForm) -> dict[str, str]:
    """Files by name."""
    with Results(crawl.results) as results:
        write_text_folder(Export(crawl, results, results.iterate, form), folder, form)
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


def named(files: dict[str, str], words: str) -> str:
    (found,) = (text for name, text in files.items() if words in name)
    return found


def test_markdown_has_the_main_content_and_where_it_is_from(
    crawl: CrawlFolder, tmp_path: Path
) -> None:
    files = exported(crawl, tmp_path / "out", "markdown")
    text = named(files, "varroa-what-to-do")
    assert text.startswith('---\nurl: "https://vets.test/varroa"\ntitle: "Varroa: what to do"\n')
    for line in (
        'language: "en"',
        "score: 0.8",
        'date: "2026-03-01T12:00:00+00:00"',
        "status: 200",
    ):
        assert f"\n{line}\n" in text
    assert PROSE in text
    assert "## Acids" in text
    assert len(re.findall("^# ", text, re.MULTILINE)) == 1
    assert "- Formic acid" in text
    assert "Our shop" not in text
    assert "imprint" not in text
    assert "What was indexed of it." in named(files, "lost-")
    index = files["index.md"]
    assert index.count("\n- [") == 5
    for target in re.findall(r"\]\((pages/[^)]+)\)", index):
        assert target in files


def test_plain_text_stays_plain(crawl: CrawlFolder, tmp_path: Path) -> None:
    files = exported(crawl, tmp_path / "out", "text")
    assert "Line one\nLine two <b>" in named(
        files, f"pages/{file_stem('Line one', PLAIN.address)}.txt"
    )
    assert "## " not in named(files, "varroa-what-to-do")
    assert files["index.txt"].count("\n  https://") == 5


def test_all_pages_fit_into_one_stream(crawl: CrawlFolder) -> None:
    out = io.BytesIO()
    with Results(crawl.results) as results:
        export = Export(crawl, results, results.iterate, "markdown")
        assert write_text_stream(export, out, "markdown") == 5
        assert export.sources["main"] >= 3
    assert out.getvalue().count(b'\nurl: "http') + out.getvalue().count(b"---\nurl: ") >= 5


def test_what_strangers_write_stays_text(crawl: CrawlFolder, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    files = exported(crawl, out, "markdown")
    assert all(re.fullmatch(r"(pages/)?[\w.-]+", name) for name in files)
    assert {path.parent for path in out.rglob("*.md")} == {out, out / "pages"}
    text = named(files, "etc-passwd")
    front = text.split("---\n")[1]
    assert "key: value" in front.splitlines()[1], "inside the title's quotes"
    assert len([line for line in front.splitlines() if not re.match(r"\w+: ", line)]) == 0
    for shown in (text.split("---\n", 2)[2], files["index.md"]):
        assert "<script" not in shown
        assert not re.search(r"(?<!\\)\]\((?!https?://|pages/)", shown.replace(r"\]", ""))
        assert "]: javascript" not in shown


@pytest.mark.parametrize(
    ("written", "harmless"),
    [
        ("a < b and b > c", "a < b and b > c"),
        ("<img src=x>", "&lt;img src=x>"),
        ("m<sup>2</sup> <sub>x</sub>", "m<sup>2</sup> <sub>x</sub>"),
        ("<sup onclick=x>", "&lt;sup onclick=x>"),
        ("</p><!-- x --><?php", "&lt;/p>&lt;!-- x -->&lt;?php"),
        ("[a](javascript:x)", "[a]\\(javascript:x)"),
        ("[a](&#106;avascript:x)", "[a]\\(&#106;avascript:x)"),
        ("[a](https://b.test/)", "[a](https://b.test/)"),
        ("[a]: javascript:x", "[a]\\: javascript:x"),
    ],
)
def test_markdown_of_strangers_is_harmless(written: str, harmless: str) -> None:
    assert harmless_markdown(written) == harmless


NAMES = ["CON", "../../x", "a/b\\c:d*e?f|g", "  .. ", "Ж" * 500, "😀", "x" * 300, "tab\tnl\n", ""]


@pytest.mark.parametrize("title", NAMES)
def test_names_suit_every_system(title: str) -> None:
    name = file_stem(title, "https://a.test/")
    assert re.fullmatch(r"[\w-]+", name)
    assert len(name.encode()) <= 140
    assert not name.startswith("-")
    assert name.upper() not in ("CON", "NUL", "AUX")
    assert name != file_stem(title, "https://a.test/2")


def test_a_folder_of_others_is_left_alone_and_an_earlier_export_is_renewed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.md").write_text("years of work")
    with pytest.raises(UsageError, match="not an empty folder"), ExportFolder(mine, "text", []):
        pass
    out = tmp_path / "out"
    with ExportFolder(out, "text", ["pages"]) as files:
        files.write("pages/old.txt", b"old")
    (out / "CNAME").write_text("bees.example")
    with ExportFolder(out, "text", ["pages"]) as files:
        files.write("pages/new.txt", b"new")
    kept = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert kept == {MARKER, "CNAME", "pages/new.txt"}
    with pytest.raises(UsageError, match="site"), ExportFolder(out, "site", []):
        pass


def test_files_of_the_users_own_outlive_the_next_export(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ExportFolder(out, "text", ["pages"]) as files:
        files.write("pages/old.txt", b"old")
    (out / "pages" / "notes.txt").write_text("years of work")
    with ExportFolder(out, "text", ["pages"]) as files:
        files.write("pages/new.txt", b"new")
    assert {path.name for path in (out / "pages").iterdir()} == {"new.txt", "notes.txt"}


def test_of_an_export_without_a_list_only_our_names_go(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    ours = ["terms-0.js", "pages-12.js", "site.js", "7.html", file_stem("Bées", "a") + ".md"]
    for name in [*ours, "mine.js", "notes.md"]:
        (tmp_path / "data" / name).write_text("")
    (tmp_path / MARKER).write_text("site\n")
    with ExportFolder(tmp_path, "site", ["data"]):
        pass
    assert {path.name for path in (tmp_path / "data").iterdir()} == {"mine.js", "notes.md"}


def test_files_of_an_export_that_broke_off_go_with_the_next(tmp_path: Path) -> None:
    with suppress(KeyboardInterrupt), ExportFolder(tmp_path, "text", ["pages"]) as files:
        files.write("pages/old.txt", b"old")
        raise KeyboardInterrupt
    with ExportFolder(tmp_path, "text", ["pages"]) as files:
        files.write("pages/new.txt", b"new")
    assert [path.name for path in (tmp_path / "pages").iterdir()] == ["new.txt"]


def test_an_export_that_found_the_disk_full_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", _disk_full)
        patched.setattr(export_folder, "whole_file", _disk_full)
        with pytest.raises(StorageError, match=r"disk full\. Free space"):
            write_text_folder([], out, "text")
    assert write_text_folder([], out, "text") == 0


def _disk_full(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.ENOSPC, "disk full")


def stubborn(form: TextForm) -> Work:
    """Fails in the way that the page asks for."""

    def work(job: bytes) -> bytes:
        if b"endless" in job:
            while True:
                pass
        if b"greedy" in job:
            return bytes(10_000_000_000)[:1]
        if b"deadly" in job:
            import os

            os._exit(3)
        if b"faulty" in job:
            raise ValueError("no")
        return form.encode() + b"\0"

    return work


def test_a_costly_page_costs_itself_and_is_counted(tmp_path: Path) -> None:
    kinds = ["endless", "greedy", "deadly", "faulty", "fine"]
    finds = [
        Find(f"https://a.test/{kind}", html=f"<title>{kind}</title><p>Some {kind} words.")
        for kind in kinds
    ]
    crawl = crawl_of(tmp_path, finds)
    with Results(crawl.results) as results:
        pages = sorted(results.iterate(), key=lambda page: page.number)
        limits = PageLimits(1.0, 100_000_000)
        with (
            ArchivedContent(crawl.archive) as archive,
            MainTexts(results, archive, limits=limits, processes=2, recipe=stubborn) as texts,
        ):
            found = [text for _, text in texts.iterate(pages)]
    greedy = "costly" if sys.platform == "linux" else "main"
    assert [each.source for each in found] == ["costly", greedy, "costly", "whole", "main"]
    assert found[0].text == "Some endless words."
    assert found[-1].text == "text"
    assert texts.counts["costly"] == 3


def echo() -> Work:
    return stubborn("text")


def test_a_process_goes_on_after_each_kind_of_failure() -> None:
    with LimitedProcess(echo, PageLimits(1.0)) as process:
        for job in (b"endless", b"deadly"):
            with pytest.raises(TooCostlyError):
                process.ask(job)
            assert process.ask(b"x") == b"text\0"
        with pytest.raises(WorkFailedError, match="ValueError"):
            process.ask(b"faulty")
        assert process.ask(b"x") == b"text\0"


def test_real_bombs_cost_no_more_than_their_limits(tmp_path: Path) -> None:
    bombs = [
        "<div>" * 100_000 + "x",
        "<p " + " ".join(f"a{n}=1" for n in range(30_000)) + ">x",
        "".join(f"<p><i id={n}>" for n in range(2_000)),
        f"<article><p>{PROSE}",
    ]
    crawl = crawl_of(tmp_path, [Find(f"https://a.test/{n}", html=x) for n, x in enumerate(bombs)])
    with Results(crawl.results) as results:
        pages = sorted(results.iterate(), key=lambda page: page.number)
        with (
            ArchivedContent(crawl.archive) as archive,
            MainTexts(results, archive, limits=PageLimits(1.0), processes=1) as texts,
        ):
            found = [text for _, text in texts.iterate(pages)]
    assert len(found) == 4
    assert PROSE in found[-1].text, "a process goes on after them"


@pytest.fixture
def workspace_folder(tmp_path: Path, crawl: CrawlFolder) -> Path:
    reject(crawl, START.address)
    return tmp_path / "workspace"


def test_the_command_line_writes_texts(trailhound: Command, tmp_path: Path) -> None:
    done = trailhound("export", "bees", "-f", "markdown", "-o", tmp_path / "pages-of-bees")
    assert done.code == 0, done.err
    assert "4 pages in" in done.err, "without the one that is marked not useful"
    assert (tmp_path / "pages-of-bees" / "index.md").is_file()
    done = trailhound("export", "bees", "-f", "markdown", "-o", "folder.md/")
    assert done.code == 0, done.err
    assert (tmp_path / "folder.md" / "index.md").is_file()
    done = trailhound("export", "bees", "-o", tmp_path / "all.md", "-n", "2")
    assert (tmp_path / "all.md").read_text("utf-8").count("\nurl: ") == 2
    done = trailhound("export", "bees", "--format", "text")
    assert PROSE in done.out
    done = trailhound("export", "bees", "--text", "--all")
    lines = {line["url"]: line for line in map(json.loads, done.out.splitlines())}
    told = lines[ARTICLE.address]
    assert PROSE in told["text"]
    assert told["path"] == [START.address, ARTICLE.address]
    assert told["content_type"] == "text/html"
    assert lines[START.address]["marked"] == "not useful"
    done = trailhound("export", "bees", "--text", "-f", "csv")
    assert (done.code, "--format jsonl" in done.err) == (2, True)
    done = trailhound("export", "bees", "-f", "text", "-o", tmp_path / "workspace")
    assert (done.code, "not an empty folder" in done.err) == (2, True)


def test_one_page_is_printed(trailhound: Command) -> None:
    done = trailhound("results", "bees", "--text", ARTICLE.address)
    assert (done.code, PROSE in done.out, "Our shop" in done.out) == (0, True, False)
    told = trailhound("results", "bees", "--text", UNARCHIVED.address, "--json").report
    assert (told["text"], told["source"]) == ("What was indexed of it.", "whole")
    done = trailhound("results", "bees", "--text", "https://nowhere.test/")
    assert (done.code, "is unknown to the crawl" in done.err) == (2, True)


def test_without_the_extractor_the_extra_is_named(
    trailhound: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trailhound.text.main_content.find_spec", lambda _: None)
    for arguments in (["export", "bees", "-f", "text"], ["results", "bees", "--text", "x.test"]):
        done = trailhound(*arguments)
        assert (done.code, "pip install 'trailhound[text]'" in done.err) == (2, True)
    assert trailhound("export", "bees").code == 0
