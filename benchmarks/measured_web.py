"""The web that crawl costs are measured on: 3,000 pages of real size on 30 hosts of this machine.

They come from wikispeedia where that data set is on this machine (see :mod:`benchmarks.corpora`),
else they are made up, of about the same size. The articles have few links of their own, so each
gets what sites have around them: a menu, and neighbours to read next. Links to what is not among
the pages (images, mostly) lead to one of them instead, and all can be reached from the first:
every crawler fetches the same.
"""

from __future__ import annotations

import random
import re
import statistics
import sys
from collections import deque
from pathlib import Path
from zlib import crc32

import msgspec

from benchmarks.corpora import CACHE, data_folder
from trailhound.lab.importers.packs import read_json_lines
from trailhound.sessions.page_graph import PageGraph
from trailhound.text.extract import extract_page
from trailhound.urls import canonicalize

N_PAGES = 3_000
N_HOSTS = 30
VISITED_PAGES = 150
TARGET_EVERY = 15
MAX_CHARS = 50_000
"""Breadth-first search meets long articles first; without them, sizes are those of the whole."""

MENU_LINKS = 12
NEIGHBOURS = 12
_MADE_UP_LINKS = 31
_LINK = re.compile(r"""(<a\b[^>]*?\bhref=")([^"#][^"]*)""")
# Stands for the address of host n until the port is known.
_PLACE = re.compile(rb"http://place-(\d+)\.test/")


class MeasuredWeb(msgspec.Struct, frozen=True):
    """Pages by their paths, which are unique, each on one of the hosts; the first is the seed."""

    origin: str
    """What they were made from."""
    pages: dict[str, bytes]

    def at(self, port: int) -> dict[str, bytes]:
        """The pages by URL, as they are served on this port; the first is the seed."""
        return {
            _address(number, port) + path: with_port(body, port)
            for number, (path, body) in enumerate(self.pages.items())
        }

    def describe(self) -> str:
        """One line for the report."""
        sizes = sorted(map(len, self.pages.values()))
        links = statistics.median(body.count(b"<a ") for body in self.pages.values())
        return (
            f"{len(sizes)} pages from {self.origin}: median {statistics.median(sizes) / 1000:.1f} "
            f"KB, mean {statistics.mean(sizes) / 1000:.1f} KB, {links:.0f} links"
        )


def with_port(body: bytes, port: int) -> bytes:
    """A page with the real addresses of its links."""
    return _PLACE.sub(lambda place: f"{_address(int(place[1]), port)}/".encode(), body)


def _address(number: int, port: int) -> str:
    return f"http://127.0.0.{1 + number % N_HOSTS}:{port}"


def measured_web(n_pages: int = N_PAGES) -> Path:
    """The file that holds the web; made when it is missing."""
    source = (data_folder() or CACHE) / "wikispeedia" / "pages.jsonl.xz"
    origin = "wikispeedia" if source.exists() else "a generator"
    path = CACHE / f"measured-{origin.split()[-1]}-{n_pages}.msgpack"
    if not path.exists():
        print(f"Making {n_pages} pages from {origin} …", file=sys.stderr)
        pages = _real_pages(source, n_pages) if source.exists() else _made_up_pages(n_pages)
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_bytes(msgspec.msgpack.encode(MeasuredWeb(origin, pages)))
        partial.replace(path)
    return path


def load_web(path: Path) -> MeasuredWeb:
    """Read what :func:`measured_web` wrote."""
    return msgspec.msgpack.decode(path.read_bytes(), type=MeasuredWeb)


def browsing_graph(pages_by_url: dict[str, bytes]) -> PageGraph:
    """A session over the first pages, as if a person had visited them; every 15th was useful."""
    pages = [
        extract_page(body, url, "text/html; charset=utf-8")
        for url, body in list(pages_by_url.items())[:VISITED_PAGES]
    ]
    number = {page.url: place for place, page in enumerate(pages)}
    edges = {
        (place, number[link.url])
        for place, page in enumerate(pages)
        for link in page.links
        if link.url in number
    }
    targets = frozenset(range(TARGET_EVERY - 1, len(pages), TARGET_EVERY))
    return PageGraph(tuple(pages), tuple(sorted(edges)), targets)


class _Line(msgspec.Struct):
    """What is needed of one line of ``pages.jsonl``."""

    url: str
    html: str
    outlinks: list[str] = []


def _real_pages(source: Path, n_pages: int) -> dict[str, bytes]:
    lines = {
        canonicalize(line.url) or line.url: line
        for line in read_json_lines(source, _Line)
        if len(line.html) <= MAX_CHARS
    }
    urls = _reachable(lines, n_pages)
    closed = {_path(url): _closed(lines[url].html, url, urls) for url in urls}
    return _with_menus(closed)


def _reachable(lines: dict[str, _Line], n_pages: int) -> dict[str, int]:
    """The first pages that breadth-first search meets, from the page with the most links."""
    seed = max(lines, key=lambda url: len(lines[url].outlinks))
    found, waiting = {seed: 0}, deque([seed])
    while waiting and len(found) < n_pages:
        for link in lines[waiting.popleft()].outlinks:
            url = canonicalize(link)
            if url in lines and url not in found and len(found) < n_pages:
                found[url] = len(found)
                waiting.append(url)
    return found


def _closed(html: str, url: str, urls: dict[str, int]) -> str:
    """``html`` with all of its links inside the web, each on its host."""
    known = list(urls)

    def rewrite(match: re.Match[str]) -> str:
        target = canonicalize(match[2].replace("&amp;", "&"), url)
        if target is None:
            return match[0]
        if target not in urls:
            target = known[crc32(target.encode()) % len(known)]
        return f"{match[1]}http://place-{urls[target]}.test{_path(target)}"

    return _LINK.sub(rewrite, html)


def _with_menus(pages: dict[str, str]) -> dict[str, bytes]:
    paths = list(pages)
    return {
        path: _with_menu(html, number, paths).encode()
        for number, (path, html) in enumerate(pages.items())
    }


def _with_menu(html: str, number: int, paths: list[str]) -> str:
    """The page behind a menu that its whole host shares, and in front of its neighbours."""
    menu = [number % N_HOSTS + N_HOSTS * place for place in range(MENU_LINKS)]
    neighbours = [number + place for place in range(1, NEIGHBOURS + 1)]
    top, bottom = (
        "".join(f"<li>{_anchor(target % len(paths), paths)}</li>" for target in targets)
        for targets in (menu, neighbours)
    )
    start = html.find(">", html.lower().find("<body")) + 1
    end = html.lower().rfind("</body>")
    return (
        f'{html[:start]}<div class="menu"><ul>{top}</ul></div>{html[start:end]}'
        f'<div class="next"><h3>Read next</h3><ul>{bottom}</ul></div>{html[end:]}'
    )


def _anchor(number: int, paths: list[str]) -> str:
    name = paths[number].rpartition("/")[2].rpartition(".")[0].replace("_", " ")
    return f'<a href="http://place-{number}.test{paths[number]}">{name}</a>'


def _path(url: str) -> str:
    return url[url.index("/", 8) :]


def _made_up_pages(n_pages: int) -> dict[str, bytes]:
    dice = random.Random(7)
    words = ["".join(dice.choices("aeioubcdfglmnprst", k=dice.randint(3, 10))) for _ in range(9000)]
    weights = [1 / (rank + 5) for rank in range(len(words))]
    return _with_menus(
        {
            f"/wiki/page-{number}.html": _made_up_page(number, n_pages, dice, words, weights)
            for number in range(n_pages)
        }
    )


def _made_up_page(
    number: int, n_pages: int, dice: random.Random, words: list[str], weights: list[float]
) -> str:
    """Paragraphs with links in them; two of the links make all pages reachable."""
    children = [n for n in (2 * number + 1, 2 * number + 2) if n < n_pages]
    others = [dice.randrange(n_pages) for _ in range(_MADE_UP_LINKS - len(children))]
    paragraphs = []
    for target in (*children, *others):
        text = " ".join(dice.choices(words, weights, k=86))
        url = f"http://place-{target}.test/wiki/page-{target}.html"
        link = f'<a class="in" href="{url}" title="page {target}">{text[:20]}</a>'
        paragraphs.append(f"<p>{text[20:360]}. {link} {text[360:]}.</p>\n")
    title = " ".join(dice.choices(words, weights, k=3))
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><h1>{title}</h1>{''.join(paragraphs)}</body></html>"
    )
