"""The key under which an index files a URL.

Replay tools look a URL up by its *sort-friendly URI reordering transform* (SURT): the host's names
in reverse order, so that a domain's pages stand together, then path and query in a form that
forgives what visitors get wrong (case, ``www.``, a slash at the end, the order of parameters,
session ids). The key must be the one that the tool computes, so it follows the rules of the
Internet Archive's tools; it serves for looking up only, and two pages may share one.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

_WWW = re.compile(r"\Awww\d*\.")
_SLASHES = re.compile(r"//+")
_ESCAPED = re.compile(rb"%[0-9a-fA-F]{2}")
_ASPX_SESSION = re.compile(
    r"/\((?:[a-z]\([0-9a-z]{24}\))+\)(?=/[^?]+\.aspx)|/\([0-9a-z]{24}\)(?=/[^?]+\.aspx)"
)
_QUERY_SESSIONS = tuple(
    re.compile(rf"(^|.*&){session}(?:&(.*))?$")
    for session in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)
# What stays escaped: control characters, blanks, bytes beyond ASCII, and the two signs that would
# change the meaning of the key.
_KEPT_ESCAPES = {code: f"%{code:02x}" for code in (*range(0x21), *range(0x7F, 0x100), 0x23, 0x25)}


def surt_key(url: str) -> str:
    """The key of a canonical URL, as in ``com,example)/bees?page=2``."""
    rest = url.partition("://")[2]
    host, slash, tail = rest.partition("/")
    path, _, query = (slash + tail).partition("?")
    key = f"{_reversed_host(host)}){_plain_path(path)}"
    plain_query = _plain_query(query)
    return f"{key}?{plain_query}" if plain_query else key


def _reversed_host(host: str) -> str:
    if host.startswith("["):
        return host.replace("[", "").replace("]", "")
    name, colon, port = _WWW.sub("", host).partition(":")
    return ",".join(reversed(name.rstrip(".").split("."))) + colon + port


def _plain_path(path: str) -> str:
    plain = _SLASHES.sub("/", _plain(path))
    if "/." in plain:
        plain = _without_dot_segments(plain)
    return _ASPX_SESSION.sub("", plain).rstrip("/") or "/"


def _without_dot_segments(path: str) -> str:
    """A canonical path has none, unless they were escaped more than once."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[max(1, len(kept) - 1) :]  # the first is the empty one before the first slash
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept)


def _plain_query(query: str) -> str:
    plain = _plain(query)
    for session in _QUERY_SESSIONS:
        found = session.match(plain)
        if found:
            plain = found[1] + (found[2] or "")
    return "&".join(sorted(plain.split("&"), key=_by_name))


def _by_name(parameter: str) -> tuple[str, str, str]:
    return parameter.partition("=")


def _plain(part: str) -> str:
    """Lower case, nothing escaped that need not be, however often it was."""
    raw = part.encode("utf-8", "replace")
    while _ESCAPED.search(raw):
        raw = unquote_to_bytes(raw)
    return raw.decode("latin-1").translate(_KEPT_ESCAPES).lower()
