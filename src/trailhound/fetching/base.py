"""What a fetcher is: the only difference between the live web and a recorded one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, Self, runtime_checkable

from trailhound.config.settings import FetchSettings
from trailhound.fetching.politeness import Politeness
from trailhound.records import FetchResult

NO_REQUEST_LEFT = "no time or request was left to follow it"
REDIRECT_STATUSES = frozenset([301, 302, 303, 307, 308])


class Validators(NamedTuple):
    """What a server said about the version of a page that we have."""

    etag: str = ""
    last_modified: str = ""


class MayGoOn(Protocol):
    """Asked before each further request that a fetch would make; it counts that request.

    ``target`` is where a redirect leads: what the crawl has already is not asked for again.
    """

    def __call__(self, target: str = "", /) -> bool:
        """Whether to make it."""
        ...


def always(target: str = "", /) -> bool:
    """For fetches without a budget."""
    del target
    return True


class Fetcher(Protocol):
    """Gets one URL. What the web does wrong is the result's outcome, never an exception."""

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        """Ask for ``url`` (canonical) and follow its redirects, as long as ``may_go_on``.

        Where that ends it, the outcome is ``POSTPONED`` and final; ``final_url`` is where to go on.
        """
        ...

    async def close(self) -> None:
        """Release connections or files."""
        ...


@runtime_checkable
class Hampered(Protocol):
    """A fetcher that may find out that it cannot do part of its work."""

    @property
    def trouble(self) -> str:
        """What it cannot do and why, as a sentence; empty while nothing is amiss."""
        ...

    @property
    def is_in_vain(self) -> bool:
        """Whether nothing of what was asked for has been done."""
        ...


@runtime_checkable
class Excluding(Protocol):
    """A scope that knows what must never be asked for, be it but a script of a page in scope."""

    def excludes(self, url: str) -> bool:
        """Whether ``url`` is that."""
        ...


def is_excluded(scope: object, url: str) -> bool:
    """Whether ``scope`` knows that ``url`` must never be asked for."""
    return isinstance(scope, Excluding) and scope.excludes(url)


class FetcherKind(Protocol):
    """How a fetcher is made; its class registers under ``trailhound.fetchers``.

    Further arguments of ``from_settings`` that are keyword-only are its options. A line of
    ``summary`` on the class is shown by ``trailhound plugins``.
    """

    @classmethod
    def from_settings(
        cls,
        settings: FetchSettings,
        politeness: Politeness,
        in_scope: Callable[[str], bool] | None,
    ) -> Self:
        """The fetcher of one crawl.

        The engine keeps hosts apart in any case: one fetch at a time, and the host's delay between
        two. A fetcher that asks more than one host, or knows addresses, takes a turn of
        ``politeness`` for each request of its own.
        """
        ...
