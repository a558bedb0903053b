"""robots.txt files that cannot be read, or ask for the impossible; the pages are harmless."""

from __future__ import annotations

from benchmarks.chaos.behaviours import (
    PAGE,
    Behaviour,
    answers,
    drips,
    hangs,
    page,
    pours,
    redirects,
    redirects_to,
    resets,
    status,
    text,
    typed,
)
from benchmarks.chaos.bombs import greedy_robots, gzip_bomb
from benchmarks.chaos.kind import MAX_CRAWL_DELAY_SECONDS, Kind

_PAGES = answers(lambda asked: b"<title>%d</title><a href=/%d>on</a>" % ((asked.number,) * 2))


def _wants(line: bytes, seconds: float = 0.0, *, name: str) -> Kind:
    """A file that asks for a rest; ``seconds`` is what it gets."""
    robots = text(lambda: b"User-agent: *\n%s\nDisallow: /no\n" % line)
    return Kind(name, _PAGES, robots=robots, delay_seconds=seconds)


def _says(name: str, body: bytes) -> Kind:
    return Kind(name, page(), robots=text(lambda: body))


def _has(name: str, robots: Behaviour) -> Kind:
    return Kind(name, page(), robots=robots)


UNREADABLE = [
    Kind(
        "robots-endless",
        page(),
        "fetched",
        robots=pours(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n", b"Disallow: /no\n" * 100),
    ),
    Kind("robots-greedy", page(), "fetched", robots=text(greedy_robots)),
    Kind(
        "robots-bomb",
        page(),
        "fetched",
        robots=text(gzip_bomb, b"Content-Encoding: gzip\r\n"),
    ),
    Kind("robots-binary", page(), "fetched", robots=text(lambda: bytes(range(256)) * 100)),
    Kind("robots-hang", page(), "timeout", "robots.txt", robots=hangs(), slow=True),
    Kind(
        "robots-drip",
        page(),
        "robots",
        "could not be read",
        robots=drips(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n", b"#"),
        slow=True,
    ),
    Kind("robots-reset", page(), "unreachable", "robots.txt", robots=resets()),
    Kind("robots-500", page(), "robots", "HTTP 500", robots=status(500)),
    Kind("robots-503", page(), "robots", "HTTP 503", robots=status(503)),
    Kind("robots-429", page(), "robots", "HTTP 429", robots=status(429)),
    Kind(
        "robots-coding-lie",
        page(),
        "robots",
        "could not be read",
        robots=page(PAGE, b"Content-Encoding: gzip\r\n"),
    ),
    Kind("robots-circle", page(), "fetched", robots=redirects(lambda asked: asked.path)),
    Kind(
        "robots-inside",
        page(),
        "address-refused",
        "10.0.0.1",
        robots=redirects_to("http://10.0.0.1/robots.txt"),
    ),
]
ODD = [
    _says("robots-nul", b"User-agent: *\0\nDis\0allow: /no\0\n" * 100),
    _says("robots-html", b"<!doctype html><title>Welcome</title>User-agent: *<br>Disallow: /"),
    _says("robots-utf-16", "User-agent: *\nDisallow: /no\n".encode("utf-16")),
    _says("robots-latin-1", "User-agent: *\nDisallow: /käse\n".encode("latin-1")),
    _says("robots-surrogates", b"User-agent: *\nDisallow: /\xed\xa0\x80%ed%a0%80\n"),
    _says("robots-one-long-line", b"User-agent: *\nDisallow: /" + b"x" * 400_000 + b"\n"),
    _says("robots-stars", b"User-agent: *\nDisallow: /" + b"*a" * 2_000 + b"*$\n"),
    _says("robots-many-sitemaps", b"Sitemap: /sitemap.xml\n" * 20_000),
    _says("robots-only-cr", b"User-agent: *\rDisallow: /no\rCrawl-delay: x\r"),
    _has("robots-401", status(401)),
    _has("robots-empty", status(204)),
    _has("robots-part", status(206, b"Content-Range: bytes 0-1/9\r\n", b"Us")),
    _has("robots-not-modified", status(304)),
    _has("robots-elsewhere", redirects_to("http://robots-html.hostile.test/robots.txt")),
    _has("robots-excluded", redirects_to("http://www.excluded.test/robots.txt")),
    _has("robots-image", typed(b"image/png", b"\x89PNG\r\n\x1a\n" + bytes(500))),
]
_MOST = MAX_CRAWL_DELAY_SECONDS
IMPATIENT = [
    _wants(b"Crawl-delay: 0.7", 0.7, name="delay-fraction"),
    _wants(b"Crawl-delay: 1", 1.0, name="delay-one"),
    _wants(b"Crawl-delay: 99999999999", _MOST, name="delay-absurd"),
    _wants(b"Crawl-delay: 1e308", _MOST, name="delay-float"),
    # Beyond a float: the parser takes it for no wish at all.
    _wants(b"Crawl-delay: " + b"9" * 400, name="delay-of-400-digits"),
    _wants(b"Crawl-delay: -1", name="delay-negative"),
    _wants(b"Crawl-delay: nan", name="delay-nan"),
    _wants(b"Crawl-delay: inf", name="delay-infinite"),
    _wants(b"Crawl-delay: \xd9\xa3\xef\xbc\x95", name="delay-other-digits"),
    _wants(b"Request-rate: 1/1s", 1.0, name="rate-one"),
    _wants(b"Request-rate: 1/" + b"9" * 400, _MOST, name="rate-of-400-digits"),
    _wants(b"Request-rate: " + b"9" * 400 + b"/1", name="rate-of-400-requests"),
    _wants(b"Request-rate: 0/0", name="rate-zero"),
    _wants(b"Request-rate: 1/5d", _MOST, name="rate-of-days"),
    _wants(b"Visit-time: 9999-0000\nRequest-rate: 1/2s 0000-2560", name="rate-at-no-hour"),
]
ROBOTS = [*UNREADABLE, *ODD, *IMPATIENT]
