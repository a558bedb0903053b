"""The portal as files: what is in them, and that they stay small."""

from __future__ import annotations

import random
import re
from pathlib import Path

import msgspec
import pytest
from defusedxml import ElementTree

from command_line import Command
from found_pages import Find, crawl_of, reject
from trailhound.portal import Portal
from trailhound.portal.site import terms_of, write_site


def data_of(folder: Path, name: str) -> object:
    """What a script sets its variable to."""
    return msgspec.json.decode(
        (folder / "data" / name).read_bytes().partition(b"=")[2].rstrip(b";\n")
    )


def pages_with(folder: Path, term: str) -> dict[int, str]:
    """Numbers of pages and the letters beside them, read as a browser does."""
    for path in folder.glob("data/terms-*.js"):
        terms, postings = msgspec.convert(data_of(folder, path.name), tuple[str, str])
        if term in terms.split(" "):
            written = postings.split(" ")[terms.split(" ").index(term)]
            found, page = {}, -1
            for gap, letter in re.findall("([0-9a-z]*)([A-P])", written):
                page += int(gap, 36) if gap else 1
                found[page] = letter
            return found
    return {}


def test_terms_are_small_letters_without_accents() -> None:
    assert list(terms_of("Élevage d’Abeilles_2 ﬁne Ёж")) == [
        *("elevage", "d", "abeilles", "2", "fine", "еж"),
    ]
    assert list(terms_of("日本の蜂 bees")) == ["日本", "本の", "の蜂", "蜂", "bees"]
    assert len(next(terms_of("x" * 500))) == 40


def test_every_page_is_in_the_index_best_first(tmp_path: Path) -> None:
    finds = [
        Find("https://a.test/1", "Honey", "bees make honey honey", score=0.6),
        Find("https://a.test/2", "Wax", "bees make wax", score=0.9, language="de"),
        Find("https://a.test/3", "Rejected bees", "bees"),
        Find("https://a.test/4", "Shy bees", "bees", noindex=True),
    ]
    crawl = crawl_of(tmp_path, finds)
    reject(crawl, "https://a.test/3")
    out = tmp_path / "site"
    assert write_site(Portal(crawl), out) == 2
    pages = msgspec.convert(data_of(out, "pages-0.js"), list[list[str]])
    assert [page[:2] for page in pages] == [
        ["https://a.test/2", "Wax"],
        ["https://a.test/1", "Honey"],
    ]
    assert list(pages_with(out, "bees")) == [0, 1]
    assert pages_with(out, "honey")[1] > "H", "it is in the title"
    assert pages_with(out, "rejected") == {}
    site = msgspec.convert(data_of(out, "site.js"), dict[str, object])
    assert (site["size"], site["hosts"]) == (2, ["a.test"])
    assert site["languages"] == [["de", "German"], ["en", "English"]]
    for name in ("feed.xml", "atom.xml"):
        assert ElementTree.parse(out / name) is not None
    everything = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert b"Shy" not in everything
    assert b"Rejected" not in everything


def test_pages_beyond_the_limit_are_nowhere_in_the_site(tmp_path: Path) -> None:
    finds = [
        Find("https://a.test/1", "Honey", "bees make honey", score=0.9),
        Find("https://left-out.test/2", "Wax", "bees make wax", score=0.6, language="de"),
    ]
    out = tmp_path / "site"
    assert write_site(Portal(crawl_of(tmp_path, finds)), out, limit=1) == 1
    for path in out.rglob("*"):
        assert not path.is_file() or b"left-out.test" not in path.read_bytes(), path.name
    assert re.search(r"1 page\b", (out / "about.html").read_text())
    assert "a.test/1" in (out / "feed.xml").read_text()


@pytest.mark.parametrize("limit", [None, 150])
def test_a_large_site_is_in_many_small_files(tmp_path: Path, limit: int | None) -> None:
    generator = random.Random(7)
    words = [f"word{number}" for number in range(5_000)]
    finds = [
        Find(f"https://a.test/{n}", f"Page {n}", " ".join(generator.choices(words, k=300)))
        for n in range(250)
    ]
    portal = Portal(crawl_of(tmp_path, finds))
    out = tmp_path / "site"
    size = min(250, limit or 250)
    assert write_site(portal, out, limit=limit) == size
    sizes = [path.stat().st_size for path in out.glob("data/*.js")]
    assert max(sizes) < 200_000
    assert sum(sizes) < size * 3_000
    assert len(list(out.glob("pages/*.html"))) == -(-size // 100)
    found = pages_with(out, "word77")
    texts = {find.address: find.text.split() for find in finds}
    shown = [page for n in range(3) for page in _pages(out, n)]
    assert {shown[number][0] for number in found} == {
        page[0] for page in shown if "word77" in texts[page[0]]
    }


def _pages(out: Path, number: int) -> list[list[str]]:
    if not (out / "data" / f"pages-{number}.js").exists():
        return []
    return msgspec.convert(data_of(out, f"pages-{number}.js"), list[list[str]])


def test_an_empty_site_opens(tmp_path: Path) -> None:
    out = tmp_path / "site"
    assert write_site(Portal(crawl_of(tmp_path, [])), out) == 0
    assert "0 pages" in (out / "index.html").read_text("utf-8")
    assert (out / "pages" / "1.html").is_file()


def test_the_command_line_writes_a_site(trailhound: Command, workspace_folder: Path) -> None:
    crawl_of(workspace_folder, [Find("https://a.test/", "Honey", "bees make honey")])
    done = trailhound("export", "bees", "--format", "site", "-o", "out", "--title", "Mine & yours")
    assert (done.code, "open out/index.html" in done.err.replace("\\", "/")) == (0, True)
    home = Path("out/index.html").read_text("utf-8")
    assert "<title>Mine &amp; yours</title>" in home
    Path("out/CNAME").write_text("bees.example")
    assert trailhound("export", "bees", "--format", "site", "-o", "out").code == 0
    assert Path("out/CNAME").is_file()
    for arguments, words in (
        (["-o", "-"], "-o FOLDER"),
        (["-o", "x", "--all"], "relevant pages"),
        (["-o", "x", "--text"], "leave --text out"),
        (["-o", "."], "not an empty folder"),
    ):
        done = trailhound("export", "bees", "--format", "site", *arguments)
        assert (done.code, words in done.err) == (2, True), done.err
    done = trailhound("export", "bees", "--title", "Mine")
    assert (done.code, "--format site" in done.err) == (2, True)
