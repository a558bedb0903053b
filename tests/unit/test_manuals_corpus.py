"""The web of manuals, from packages that were never downloaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from benchmarks.manuals.__main__ import KIND
from benchmarks.manuals.catalogue import latest, read_manuals
from benchmarks.manuals.kind import PORTAL, TOPICS_FILE
from benchmarks.manuals.packages import unpack_packages

from trailhound.errors import CorpusError, TrailhoundError
from trailhound.lab.corpora import Corpus
from trailhound.lab.importers import import_corpus
from trailhound.lab.topics.topics_file import read_topics_file
from trailhound.testing import check_corpus_kind

PYTHON = "https://python.manuals.test/"
SMTPLIB = PYTHON + "library/smtplib.html"
ACCESS = "https://postfix.manuals.test/access.5.html"


def _package(unpacked: Path, name: str, files: dict[str, str]) -> None:
    control = {"DEBIAN/control": f"Package: {name}\nVersion: 1.2-3\nDescription: texts\n more\n"}
    for place, text in (control | files).items():
        path = unpacked / name / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    folder = tmp_path / "unpacked"
    root = "usr/share/doc/python3.98/html/"
    _package(folder, "python3.97-doc", {"usr/share/doc/python3.97/html/old.html": "<p>old"})
    _package(
        folder,
        "python3.98-doc",
        {
            root + "index.html": '<a href="library/">Library</a> <a href="genindex.html">I</a>',
            root + "genindex.html": "<title>Index</title>",
            root + "library/index.html": "<p>white <b>noise</b> for all",
            root + "library/smtplib.html": '<a href="http://www.postfix.org/access.5.html">P</a>',
            root + "_sources/index.html": "<p>nobody reads this",
        },
    )
    _package(
        folder,
        "postfix-doc",
        {
            "usr/share/doc/postfix/html/index.html": '<a href="access.5.html">A</a>',
            "usr/share/doc/postfix/html/access.5.html": '<a href="https://elsewhere.test/">E</a>',
        },
    )
    return folder


def test_each_manual_is_a_host_that_the_portal_and_links_between_manuals_lead_to(
    unpacked: Path, tmp_path: Path
) -> None:
    import_corpus(str(KIND), unpacked, tmp_path / "manuals.thc")
    with Corpus.open(tmp_path / "manuals.thc") as corpus:
        info, urls, graph = corpus.info(), corpus.page_urls, corpus.graph
        reached = graph.hops_from(corpus.page_ids([PORTAL]))
        smtplib, access = corpus.page_ids([SMTPLIB, ACCESS])
        assert access in graph.links_of(smtplib)
        assert corpus.page_id(PYTHON + "library/") == corpus.page_id(PYTHON + "library/index.html")
    assert info.hosts == 3
    assert {url for url in urls if url.startswith(PYTHON)} == {
        PYTHON + place
        for place in ("genindex.html", "index.html", "library/index.html", "library/smtplib.html")
    }
    assert reached[access] == 3
    assert info.labels == {
        "broad-mail": 3,
        "kind-indices": 1,
        "kind-manual-pages": 1,
        "sparse-white-noise": 1,
    }
    assert info.links_leaving == 1
    assert "Origin: Debian package python3.98-doc 1.2-3." in info.notes
    assert not any("python3.97" in note for note in info.notes)
    assert any(note.startswith("Left out: no package of git") for note in info.notes)


def test_it_keeps_what_kinds_of_corpora_promise(unpacked: Path) -> None:
    check_corpus_kind(str(KIND), unpacked)


def test_a_folder_without_packages_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match="unpacked them"):
        import_corpus(str(KIND), tmp_path / "empty", tmp_path / "manuals.thc")


def test_topics_come_in_three_groups() -> None:
    groups = [name.partition("-")[0] for name in read_topics_file(TOPICS_FILE)]
    assert {group: groups.count(group) >= 4 for group in groups} == {
        "broad": True,
        "sparse": True,
        "kind": True,
    }
    assert min(groups.count("broad"), groups.count("sparse")) >= 8


def test_of_several_packages_the_last_is_meant() -> None:
    assert latest("python3.*-doc", ["python3.11-doc", "python3.12-doc", "git-doc"]) == (
        "python3.12-doc"
    )
    assert latest("perl-*", ["git-doc"]) is None
    assert all(manual.start for manual in read_manuals().values())


APT = """#!{python}
import pathlib, sys
program, arguments = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
if program == "apt-cache":
    print("git-doc\\nbroken-doc")
elif program == "apt-get":
    with open({log!r}, "a") as log:
        log.write(arguments[-1] + "\\n")
    if arguments[-1] == "broken-doc":
        sys.exit("E: no network")
    pathlib.Path("git-doc_1_all.deb").touch()
else:
    pathlib.Path(arguments[-1], "DEBIAN").mkdir(parents=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="apt is a program of Debian")
def test_packages_are_downloaded_and_unpacked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, log, cache = tmp_path / "bin", tmp_path / "log", tmp_path / "cache"
    programs.mkdir()
    for name in ("apt-cache", "apt-get", "dpkg-deb"):
        (programs / name).write_text(APT.format(python=sys.executable, log=str(log)))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    told: list[tuple[int, int, str]] = []
    for _ in range(2):
        missing = unpack_packages(
            ["git-*", "perl-doc"], cache, lambda *progress: told.append(progress)
        )
        assert missing == ["perl-doc"]
    assert log.read_text() == "git-doc\n"
    assert [entry.name for entry in cache.iterdir()] == ["git-doc"]
    assert told[:2] == [(0, 1, "git-doc"), (1, 1, "")]
    with pytest.raises(TrailhoundError, match=r"no network.*apt-get update"):
        unpack_packages(["broken-doc"], cache, lambda *_: None)
    assert [entry.name for entry in cache.iterdir()] == ["git-doc"]
