"""Sources of backlinks: files of edges good and bad, endpoints that work, fail and lie."""

from __future__ import annotations

import gzip
import socket
import sqlite3
import threading
import time
from asyncio import run
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopback import served
from trailhound.errors import SourceError, StorageError, UsageError
from trailhound.records import Link, Page
from trailhound.sources.backlink_endpoint import MAX_ANSWER_BYTES, MAX_ANSWERS, HttpBacklinks
from trailhound.sources.edge_list import MAX_ANSWERS as MAX_SOURCES
from trailhound.sources.edge_list import EdgeList
from trailhound.sources.kept_links import KeptAnswers, LinkStore, forget_answers, forget_linked

AGENT = "test-bot (+http://www.demo.test/about)"
A, B, C = (f"http://{name}.test/" for name in "abc")


def edges_in(folder: Path, content: bytes, name: str = "edges.tsv") -> EdgeList:
    path = folder / name
    path.write_bytes(content)
    return EdgeList.open(path, folder / "index")


def test_edges_are_asked_backwards(tmp_path: Path) -> None:
    lines = f"{C}\t{A}\n{B}\t{A}\n{B}\t{A}\nHTTP://B.test:80\t{C}\n".encode()
    edges = edges_in(tmp_path, lines)
    assert run(edges.linking_to(A)) == [B, C]
    assert run(edges.linking_to(C)) == [B], "addresses are brought into one form"
    assert run(edges.linking_to(B)) == []
    assert (edges.lines, edges.damaged) == (4, 0)
    edges.close()


def test_commas_headers_comments_and_packing(tmp_path: Path) -> None:
    text = f'source,target\n# made by hand\n\n"{B}x,y",{A}\n{C},{A},7\n'
    edges = edges_in(tmp_path, gzip.compress(text.encode()), "edges.csv.gz")
    assert run(edges.linking_to(A)) == [f"{B}x,y", C]
    assert (edges.lines, edges.damaged) == (2, 0)


def test_damaged_lines_are_counted(tmp_path: Path) -> None:
    lines = [b"\xff\xfe\xff", f"{B}\t{A}".encode(), b"only one", b"mailto:x\t" + A.encode()]
    lines += [b"x" * 250_000, b'"open quote']
    edges = edges_in(tmp_path, b"\n".join([f"{C}\t{A}".encode(), *lines]))
    assert run(edges.linking_to(A)) == [B, C]
    assert edges.damaged == edges.lines - 2
    assert edges.first_damaged == 2


def test_a_file_without_an_edge_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"nothing\nat all\n", b"\x00\x01\x02" * 1000):
        with pytest.raises(UsageError, match="no edge"):
            edges_in(tmp_path, content)
    assert not list((tmp_path / "index").glob("*")), "nothing half-made stays"
    with pytest.raises(UsageError, match="cannot be read"):
        EdgeList.open(tmp_path / "missing.tsv", tmp_path)
    with pytest.raises(UsageError, match="damaged"):
        edges_in(tmp_path, gzip.compress(f"{B}\t{A}\n".encode() * 9)[:-12], "cut.gz")


def test_a_file_is_sorted_once_and_again_when_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "edges.tsv"
    path.write_text(f"{B}\t{A}\n", "utf-8")
    EdgeList.open(path, tmp_path).close()
    (index,) = tmp_path.glob("edges-*.db")
    made = index.stat().st_mtime_ns
    EdgeList.open(path, tmp_path).close()
    assert index.stat().st_mtime_ns == made
    path.write_text(f"{B}\t{A}\n{C}\t{A}\n", "utf-8")
    assert run(EdgeList.open(path, tmp_path).linking_to(A)) == [B, C]


def test_progress_is_told(tmp_path: Path) -> None:
    path = tmp_path / "edges.tsv"
    path.write_text("".join(f"{B}{n}\t{A}\n" for n in range(50_000)), "utf-8")
    told: list[int] = []
    EdgeList.open(path, tmp_path, told.append)
    assert told == [50_000]


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_no_file_of_edges_breaks_the_reader(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    content = b"\n".join([f"{C}\t{A}".encode(), *lines])
    edges = edges_in(tmp_path_factory.mktemp("edges"), content)
    assert C in run(edges.linking_to(A))
    edges.close()


Answer = Callable[[str], tuple[int, bytes]]


@contextmanager
def endpoint(answer: Answer) -> Iterator[str]:
    """A server on this machine; ``answer`` gets the path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answer(self.path)
            try:
                self.send_response(status)
                self.end_headers()
                for start in range(0, len(body), 1000):
                    self.wfile.write(body[start : start + 1000])
                    if body.startswith(b"drip"):
                        time.sleep(0.1)
            except OSError:
                pass  # the client has left

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as port:
        yield f"http://127.0.0.1:{port}/who?links={{url}}"


def test_an_endpoint_is_asked_for_the_escaped_address() -> None:
    asked: list[str] = []

    def answer(path: str) -> tuple[int, bytes]:
        asked.append(path)
        return 200, f'["{B}", "{C}", "{B}"]'.encode()

    with endpoint(answer) as template:
        source = HttpBacklinks(template, AGENT)
        assert run(source.linking_to(f"{A}?x=1&y=2")) == [B, C]
    assert asked == ["/who?links=http%3A%2F%2Fa.test%2F%3Fx%3D1%26y%3D2"]


def test_an_object_will_do_and_lies_are_dropped() -> None:
    body = (
        f'{{"backlinks": ["{B}", 7, null, "javascript:alert(1)", "file:///etc/passwd", "", '
        f'["{C}"], "{A}", "//", "http://"]}}'
    ).encode()
    with endpoint(lambda _: (200, body)) as template:
        source = HttpBacklinks(template, AGENT)
        assert run(source.linking_to(A)) == [B], "not itself, and nothing that is no address"
        assert source.junk == 8


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (500, b"", "500"),
        (302, b"", "302"),
        (200, b"<html>", "no JSON; it begins with '<html>'"),
        (200, b'{"links": []}', "neither a list"),
        (200, b"null", "neither a list"),
        (200, b"\xff\xfe", "cannot be used"),
        (200, b"[" * 100_000, "cannot be used"),
        (200, b'"' + b"x" * MAX_ANSWER_BYTES + b'"', "larger than"),
    ],
)
def test_nonsense_is_a_failure(status: int, body: bytes, reason: str) -> None:
    with (
        endpoint(lambda _: (status, body)) as template,
        pytest.raises(SourceError, match=reason),
    ):
        run(HttpBacklinks(template, AGENT).linking_to(A))


def test_an_endpoint_that_drips_is_given_up() -> None:
    with (
        endpoint(lambda _: (200, b"drip" * 10_000)) as template,
        pytest.raises(SourceError, match="takes longer"),
    ):
        run(HttpBacklinks(template, AGENT, timeout_seconds=0.3).linking_to(A))


def test_silence_is_called_by_its_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        template = f"http://127.0.0.1:{server.getsockname()[1]}/{{url}}"
        with pytest.raises(SourceError, match=r"takes longer than 0\.3 s"):
            run(HttpBacklinks(template, AGENT, timeout_seconds=0.3).linking_to(A))


def test_headers_that_drip_are_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            client, _ = server.accept()
            with client, suppress(OSError):
                client.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                while True:
                    client.sendall(b"x")
                    time.sleep(0.05)

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        template = f"http://127.0.0.1:{server.getsockname()[1]}/{{url}}"
        with pytest.raises(SourceError, match="takes longer"):
            run(HttpBacklinks(template, AGENT, timeout_seconds=0.3).linking_to(A))
        thread.join(5)


def test_addresses_without_end_are_no_addresses() -> None:
    body = f'["{B}{"x" * 10_000}", "{C}"]'.encode()
    with endpoint(lambda _: (200, body)) as template:
        assert run(HttpBacklinks(template, AGENT).linking_to(A)) == [C]


def test_answers_without_end_are_cut() -> None:
    body = ("[" + ",".join(f'"{B}{n}"' for n in range(3000)) + "]").encode()
    with endpoint(lambda _: (200, body)) as template:
        assert len(run(HttpBacklinks(template, AGENT).linking_to(A))) == MAX_ANSWERS


def test_after_three_failures_it_is_left_alone_for_longer_and_longer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked: list[str] = []
    now = [0.0]

    def answer(path: str) -> tuple[int, bytes]:
        asked.append(path)
        return (200, b"[]") if len(asked) in (3, 9) else (503, b"")

    with endpoint(answer) as template:
        source = HttpBacklinks(template, AGENT, clock=lambda: now[0])
        for _ in range(2):
            with pytest.raises(SourceError, match="503"):
                run(source.linking_to(A))
        assert run(source.linking_to(A)) == [], "one success, and it is trusted again"
        for _ in range(50):
            with pytest.raises(SourceError, match="503"):
                run(source.linking_to(A))
        assert len(asked) == 6
        for rest in (60, 120):
            now[0] += rest - 1
            with pytest.raises(SourceError, match=f"left alone for {rest} s"):
                run(source.linking_to(A))
            now[0] += 1
            with pytest.raises(SourceError, match="cannot be used"):
                run(source.linking_to(A))
        assert len(asked) == 8, "one question after each rest"
        now[0] += 240
        assert run(source.linking_to(A)) == []
        with pytest.raises(SourceError, match="cannot be used"):
            run(source.linking_to(A))
    assert len(asked) == 10
    assert len(caplog.messages) == 1, "said once"
    assert "twice as long" in caplog.text


def test_nobody_there() -> None:
    with endpoint(lambda _: (200, b"[]")) as template:
        pass
    with pytest.raises(SourceError, match="cannot be used"):
        run(HttpBacklinks(template, AGENT).linking_to(A))


@pytest.mark.parametrize(
    "template",
    ["http://h.test/", "ftp://h.test/{url}", "http:///{url}", "http://{url}/", "http://[h/{url}"],
)
def test_addresses_that_are_no_endpoints(template: str) -> None:
    with pytest.raises(UsageError, match="endpoint"):
        HttpBacklinks(template, AGENT)


def test_answers_and_pages_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    kept = KeptAnswers(path, "edges")
    page = Page(B, terms={"bee": 1}, links=(Link(A),))
    assert kept.answer(A) is None
    assert not kept.has_page(B)
    kept.keep_answer(A, [B])
    kept.keep_page(B, page)
    kept.keep_page(C, None)
    kept.close()
    again = KeptAnswers(path, "edges")
    assert again.answer(A) == [B]
    assert again.page(B) == page
    assert again.has_page(C)
    assert again.page(C) is None
    again.close()
    other = KeptAnswers(path, "another source")
    assert other.answer(A) is None
    other.close()
    assert forget_answers(path, lambda url: url == B, dry_run=True) == 2
    assert forget_answers(path, lambda url: url == B) == 2
    assert forget_answers(path, lambda url: url == B) == 0
    assert B.encode() not in path.read_bytes()
    assert forget_answers(tmp_path / "none.db", lambda _: True) == 0


def test_files_that_are_something_else_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(StorageError, match="cannot be used"):
        KeptAnswers(path, "x")
    with pytest.raises(StorageError, match="cannot be used"):
        LinkStore(path)
    with pytest.raises(StorageError, match="cannot be used"):
        forget_linked(path, lambda _: True)
    with pytest.raises(StorageError, match="cannot be used"):
        forget_answers(path, lambda _: True)


def test_links_between_pages_are_asked_backwards(tmp_path: Path) -> None:
    path = tmp_path / "links.db"
    store = LinkStore(path)
    first = Page(B, links=(Link(A), Link(A), Link(B)))
    store.add([first, Page(C, links=(Link(A),))], "file 1")
    store.add([Page(B, title="newer", links=(Link(C),))], "file 2")
    assert run(store.linking_to(A)) == [B, C]
    assert run(store.linking_to(B)) == [], "a page does not lead to itself"
    assert run(store.linking_to(C)) == [B]
    newest = run(store.page(B))
    assert newest is not None
    assert newest.title == "newer"
    assert run(store.page(A)) is None
    assert len(store) == 2
    assert store.has_read("file 1")
    assert not store.has_read("file 3")

    def breaking() -> Iterator[Page]:
        yield Page("http://d.test/", links=(Link(A),))
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        store.add(breaking(), "file 3")
    assert len(store) == 2, "all of a file, or nothing"
    store.close()
    assert forget_linked(path, lambda url: url == A, dry_run=True) == 1
    assert forget_linked(path, lambda url: url == "http://x.test/") == 0
    assert path.exists()
    assert forget_linked(path, lambda url: url == A) == 1
    assert not path.exists()
    assert forget_linked(path, lambda url: url == A) == 0


def test_a_broken_index_is_a_failing_source(tmp_path: Path) -> None:
    edges = edges_in(tmp_path, f"{B}\t{A}\n".encode())
    (index,) = (tmp_path / "index").glob("*.db")
    with sqlite3.connect(index) as connection:
        connection.execute("DROP TABLE edge")
    connection.close()
    with pytest.raises(SourceError, match="Delete it"):
        run(edges.linking_to(A))


def test_an_index_that_cannot_be_opened_is_a_failing_source(tmp_path: Path) -> None:
    content = f"{B}\t{A}\n".encode()
    edges_in(tmp_path, content).close()
    (index,) = (tmp_path / "index").glob("*.db")
    index.write_bytes(b"this is no database" * 100)
    with pytest.raises(SourceError, match="Delete it"):
        EdgeList.open(tmp_path / "edges.tsv", tmp_path / "index")


def test_a_file_that_was_packed_badly_is_damaged(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b"".join(b"%d\n" % n for n in range(50_000))))
    packed[200:300] = bytes(range(100, 200))
    with pytest.raises(UsageError, match="damaged"):
        edges_in(tmp_path, bytes(packed), "bad.gz")


def test_a_page_that_all_the_web_links_to_is_no_burden(tmp_path: Path) -> None:
    sources = [f"{B}{n:05}" for n in range(MAX_SOURCES + 9)]
    edges = edges_in(tmp_path, "".join(f"{each}\t{A}\n" for each in sources).encode())
    found = run(edges.linking_to(A))
    assert found == run(edges.linking_to(A))
    assert len(found) == len(set(found)) == MAX_SOURCES
    assert found != sorted(found)


def test_the_first_few_sources_do_not_all_begin_alike(tmp_path: Path) -> None:
    hosts = [f"http://{letter}{n}.test/" for letter in "abcdefghij" for n in range(30)]
    edges = edges_in(tmp_path, "".join(f"{host}\t{A}\n" for host in hosts).encode())
    letters = {url.removeprefix("http://")[0] for url in run(edges.linking_to(A))[:30]}
    assert len(letters) > 5
    # Another order of the lines is the same answer.
    again = edges_in(tmp_path, "".join(f"{host}\t{A}\n" for host in hosts[::-1]).encode(), "2.tsv")
    assert run(again.linking_to(A)) == run(edges.linking_to(A))


def test_kept_pages_that_make_no_sense_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    kept = KeptAnswers(path, "edges")
    kept.keep_page(B, Page(B))
    kept.keep_answer(A, [B])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE page SET content = x'00'")
        connection.execute("UPDATE answer SET links = x'c1'")
    connection.close()
    with pytest.raises(StorageError, match="may also be deleted"):
        kept.page(B)
    with pytest.raises(StorageError, match="may also be deleted"):
        kept.answer(A)
    kept.close()
    with pytest.raises(StorageError, match="may also be deleted"):
        forget_answers(path, lambda _: False)
