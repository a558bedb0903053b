"""Which hosts there are: one or more of each hostile kind, and healthy ones that link to them all.

Everything follows from a seed, so that the server and whoever checks the crawl know the same web.
"""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import dataclass
from functools import cached_property

from benchmarks.chaos.behaviours import Asked, status
from benchmarks.chaos.kind import Kind
from benchmarks.chaos.kinds import KINDS

HEALTHY_HOSTS = 50
KEYWORD = "orchard"
"""On each healthy page, and what the crawl looks for."""
EXCLUDED = ("excluded.test", "*.excluded.test")
"""Where the crawl is told not to go."""

_WORDS = re.findall(
    r"\w+",
    """
    apple blossom branch cider cellar fence garden grafting harvest hedge insect june ladder leaf
    meadow mulch nursery october pear plum pruning quince rain ripening root scion season soil
    spring summer tree trunk twig variety warden weather winter wood yield
    """,
)
_LINKS_PER_PAGE = 12
_missing = status(404)


@dataclass(frozen=True)
class ChaosWeb:
    """The web of one seed."""

    seed: int
    hosts: int
    """Hostile ones; each kind is there once before any comes again."""
    heavy: bool = True
    """With kinds that are a lot of work."""

    @cached_property
    def hostile(self) -> dict[str, Kind]:
        """Hostile hosts and their kinds, in random order."""
        kinds = [kind for kind in KINDS.values() if self.heavy or not kind.heavy]
        shuffled = random.Random(self.seed).sample(kinds, len(kinds))
        named = {}
        for number in range(self.hosts):
            kind = shuffled[number % len(shuffled)]
            again = number // len(shuffled)
            named[f"{kind.name}.{f'{again}.' if again else ''}hostile.test"] = kind
        return named

    @cached_property
    def pages(self) -> dict[str, list[str]]:
        """Healthy hosts and the paths of their pages."""
        return {
            f"h{number}.healthy.test": ["/", *(f"/page-{n}" for n in range(1, self._size(number)))]
            for number in range(HEALTHY_HOSTS)
        }

    @cached_property
    def urls(self) -> set[str]:
        """Every page of every healthy host."""
        return {f"http://{host}{path}" for host, paths in self.pages.items() for path in paths}

    @property
    def seeds(self) -> list[str]:
        """A few healthy pages, and the sites whose sitemaps are to be asked for."""
        healthy = [f"http://h{number}.healthy.test/" for number in range(0, HEALTHY_HOSTS, 10)]
        return healthy + [kind.url_of(host) for host, kind in self.hostile.items() if kind.seed]

    def delay_seconds(self, host: str) -> float:
        """The Crawl-delay of a host; 0 when it has none."""
        if host in self.pages:
            return (0.0, 0.0, 0.5, 1.0)[_number(host) % 4]
        kind = KINDS.get(host.partition(".")[0])
        return kind.delay_seconds if kind is not None else 0.0

    async def healthy_answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        """What a healthy host says."""
        if asked.path == "/robots.txt" and self.delay_seconds(asked.host):
            body = f"User-agent: *\nCrawl-delay: {self.delay_seconds(asked.host)}\n"
        elif asked.path in self.pages.get(asked.host, ()):
            body = self._page(asked.host, asked.path)
        else:
            await _missing(asked, writer)
            return
        kind = "plain" if asked.path == "/robots.txt" else "html"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/{kind}; charset=utf-8\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())

    def _size(self, number: int) -> int:
        """Slow hosts have fewer pages."""
        return (12, 9, 6, 4)[number % 4]

    def _page(self, host: str, path: str) -> str:
        chance = random.Random(f"{self.seed} {host} {path}")
        words = " ".join(chance.choices(_WORDS, k=120))
        links = "".join(
            f'<li><a href="{url}">{url}</a>' for url in self.links_of(f"http://{host}{path}")
        )
        title = f"The {KEYWORD} of {host}{path}"
        return f"<!doctype html><title>{title}</title><p>{title}: {words}.<ul>{links}</ul>"

    def links_of(self, url: str) -> list[str]:
        """What a page links to: the next one of its host, the next two hosts, and a share of the
        hostile web. Hostile pages lead nowhere.
        """
        host, slash, rest = url.removeprefix("http://").partition("/")
        if host not in self.pages:
            return []
        number, paths = _number(host), self.pages[host]
        at = paths.index(slash + rest)
        neighbours = [f"http://h{(number + step) % HEALTHY_HOSTS}.healthy.test/" for step in (1, 2)]
        place = (number + at * HEALTHY_HOSTS) * _LINKS_PER_PAGE
        some = self._hostile_urls[place : place + _LINKS_PER_PAGE]
        return [f"http://{host}{paths[(at + 1) % len(paths)]}", *neighbours, *some]

    @cached_property
    def _hostile_urls(self) -> list[str]:
        return [kind.url_of(host) for host, kind in self.hostile.items()]


def _number(host: str) -> int:
    return int(host.partition(".")[0][1:])
