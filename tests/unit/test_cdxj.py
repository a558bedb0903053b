"""The index of an archive: its lines, and the keys that replay tools compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.storage.cdxj import (
    INDEX_NAME,
    cdx_line,
    merge_index,
    mime_type,
    parse_line,
    surt_key,
)
from trailhound.urls import canonicalize

# Every answer is what pywb's own key function (surt 0.3.1) gives.
KNOWN = {
    "http://example.com/": "com,example)/",
    "http://www.example.com/A/B/": "com,example)/a/b",
    "http://www2.example.com/": "com,example)/",
    "http://dcs.www.ncl.ac.uk/": "uk,ac,ncl,www,dcs)/",
    "http://cbr-www.cs.umass.edu/~rissland/": "edu,umass,cs,cbr-www)/~rissland",
    "http://wwwx.example.com/": "com,example,wwwx)/",
    "http://example.com./a": "com,example)/a",
    "https://example.com:8443/x": "com,example:8443)/x",
    "http://localhost:8000/a": "localhost:8000)/a",
    "http://1.2.3.4/a": "4,3,2,1)/a",
    "http://[::1]/a": "::1)/a",
    "http://[2001:db8::1]:8080/a": "2001:db8::1:8080)/a",
    "http://xn--bcher-kva.example/": "example,xn--bcher-kva)/",
    "http://example.com/a//b///c": "com,example)/a/b/c",
    "http://example.com/a/b//": "com,example)/a/b",
    "http://example.com/a%2Fb": "com,example)/a/b",
    "http://example.com/a%20b%C3%BC": "com,example)/a%20b%c3%bc",
    "http://example.com/a%2525b": "com,example)/a%25b",
    "http://example.com/a%23b": "com,example)/a%23b",
    "http://example.com//.%2FB@%7C(?&x=1": "com,example)/b@|(?&x=1",
    "http://example.com/a%5B%5D?b%5B%5D=1": "com,example)/a[]?b[]=1",
    "http://example.com/%E4%B8%AD%E6%96%87": "com,example)/%e4%b8%ad%e6%96%87",
    "http://example.com/?": "com,example)/",
    "http://example.com/?b=2&a=1&a=0": "com,example)/?a=0&a=1&b=2",
    "http://example.com/x?a-b=&a=1": "com,example)/x?a=1&a-b=",
    "http://example.com/x?b&a=": "com,example)/x?a=&b",
    "http://example.com/?a=1&": "com,example)/?&a=1",
    "http://example.com/a?x=%23%26%3D": "com,example)/a?=&x=%23",
    "http://example.com/a/?b": "com,example)/a?b",
    "http://example.com/x?PHPSESSID=0123456789abcdef0123456789abcdef&z=1": "com,example)/x?z=1",
    "http://example.com/x?z=1&sid=0123456789abcdef0123456789abcdef": "com,example)/x?&z=1",
    "http://example.com/x?cfid=123&cftoken=456&a=1": "com,example)/x?a=1",
    "http://example.com/(S(lit3py55t21z5v55vlm25s55))/a.aspx": "com,example)/a.aspx",
}


@pytest.mark.parametrize(("url", "key"), KNOWN.items())
def test_keys_are_those_of_replay_tools(url: str, key: str) -> None:
    assert surt_key(url) == key


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_canonical_url_has_a_key_without_blanks(path: str, query: str) -> None:
    url = canonicalize(f"http://www.example.org/{path}?{query}")
    if url is not None:
        key = surt_key(url)
        assert key.startswith("org,example)/")
        assert not any(sign.isspace() for sign in key)
        assert key == key.lower()


@pytest.mark.parametrize(
    ("header", "mime"),
    [
        ("text/html; charset=x", "text/html"),
        ("", "unk"),
        ("TEXT/HTML", "text/html"),
        (" ; x", "unk"),
    ],
)
def test_media_types_are_bare(header: str, mime: str) -> None:
    assert mime_type(header) == mime


def test_merging_again_changes_nothing(tmp_path: Path) -> None:
    index = b"".join(
        b'test,b)/%b 20260301120000 {"url":"http://b.test/%b","mime":"unk","status":"200"}\n'
        % (name, name)
        for name in (b"a", b"b")
    )
    for name in ("left-over.cdxj", "another.cdxj", INDEX_NAME):
        (tmp_path / name).write_bytes(index)
    merge_index(tmp_path)
    assert (tmp_path / INDEX_NAME).read_bytes() == index
    assert [path.name for path in tmp_path.iterdir()] == [INDEX_NAME]


def test_an_index_is_closed_before_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows refuses to replace an open file."""
    for name in ("left-over.cdxj", INDEX_NAME):
        (tmp_path / name).write_bytes(b"k\n")
    opened: list[BinaryIO] = []
    open_it, replace_it = Path.open, Path.replace

    def noting(path: Path, *how: Any) -> Any:
        opened.append(open_it(path, *how))
        return opened[-1]

    def like_windows(path: Path, target: Path) -> Path:
        assert opened
        assert all(file.closed for file in opened)
        return replace_it(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", noting)
        patched.setattr(Path, "replace", like_windows)
        merge_index(tmp_path)
    assert (tmp_path / INDEX_NAME).read_bytes() == b"k\n"


def test_lines_have_the_form_that_tools_expect() -> None:
    entry = parse_line(b'k 20260301120000 {"url":"http://b.test/","mime":"unk","status":"200"}\n')[
        1
    ]
    assert cdx_line(entry, "20260301120000") == (
        b'test,b)/ 20260301120000 {"url":"http://b.test/","mime":"unk","status":"200"}\n'
    )
