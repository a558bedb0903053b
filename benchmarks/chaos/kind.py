"""A kind of misbehaviour: one row of the tables in ``kinds/``."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.chaos.behaviours import Behaviour

MAX_CRAWL_DELAY_SECONDS = 2.0
"""What a site gets at most in the chaos run, however much its robots.txt asks for."""


@dataclass(frozen=True)
class Kind:
    """A server, and what must come of asking it for its front page.

    ``<name>.hostile.test`` behaves like that, and so does every ``<name>.….hostile.test``.
    """

    name: str
    page: Behaviour
    outcome: str = ""
    """What the fetch of the front page ends as; empty: anything that leaves the crawl alive."""
    words: str = ""
    """A part of the result's detail."""
    robots: Behaviour | None = None
    """``None``: it has no robots.txt."""
    scheme: str = "http"
    slow: bool = False
    """Ends by a time-out somewhere on the way, so that a fetch of it alone wants a short one."""
    heavy: bool = False
    """Takes seconds of work, so that the short run leaves it out."""
    door: str = ""
    """The name of a listener of its own, for what happens before a request is read."""
    delay_seconds: float = 0.0
    """The time between requests that its robots.txt asks for, as far as it is granted."""
    seed: bool = False
    """The crawl starts here, too, so that its sitemaps are asked for."""

    @property
    def url(self) -> str:
        """The front page of its first host."""
        return self.url_of(f"{self.name}.hostile.test")

    def url_of(self, host: str) -> str:
        """The front page of one of its hosts."""
        return f"{self.scheme}://{host}/"
