"""Fetchers, frontiers and sinks by name, as the settings of a crawl name them.

Built-in and third-party ones register through the same entry points; ``path/to/file.py`` works
wherever a name does. What each must do is beside its protocol: :mod:`trailhound.fetching.base`,
:mod:`trailhound.frontier.base`, :mod:`trailhound.crawling.sinks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from trailhound.config.settings import FetchSettings, Settings
from trailhound.crawling.answers import Troubles, is_ours
from trailhound.crawling.driving import run_alone
from trailhound.crawling.sinks import Sink, close_sinks
from trailhound.errors import FrontierError, TrailhoundError, UsageError, plugin_faults
from trailhound.fetching.base import Fetcher
from trailhound.fetching.politeness import Politeness
from trailhound.frontier.base import Frontier
from trailhound.plugins import FETCHER, FRONTIER, SINK, Catalogue

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

_fetchers = Catalogue(FETCHER)
_frontiers = Catalogue(FRONTIER)
_sinks = Catalogue(SINK)


def check_parts(settings: Settings) -> None:
    """UsageError or ConfigError unless there are such a fetcher, frontier and sinks."""
    _fetchers.resolve(_fetcher_spec(settings.fetch))
    _frontiers.resolve(settings.crawl.frontier)
    for spec in settings.output.sinks:
        _sinks.resolve(spec)


def make_fetcher(
    settings: FetchSettings,
    politeness: Politeness,
    in_scope: Callable[[str], bool] | None,
    resolver: AbstractResolver | None = None,
) -> Fetcher:
    """The fetcher of one crawl; only those over HTTP can have a ``resolver``."""
    spec, parts = _fetcher_spec(settings), (settings, politeness, in_scope)
    made: Fetcher = _fetchers.make(spec, *parts, *([] if resolver is None else [resolver]))
    return made


def _fetcher_spec(settings: FetchSettings) -> str:
    """The fetcher that is named, or the one that renders, when that is wanted."""
    if settings.render == "never" or settings.fetcher.partition(":")[0] == "browser":
        return settings.fetcher
    if settings.is_over_http:
        return "browser"
    raise UsageError(
        f"--render {settings.render} is for pages over HTTP, and this crawl has the fetcher "
        f"'{settings.fetcher}'. Leave one of them out."
    )


def open_frontier(spec: str, path: Path | None) -> Frontier:
    """The frontier that is kept in ``path``."""
    opened: Frontier = _frontiers.make(spec, path)
    return opened if is_ours(opened) else cast(Frontier, _BlamedFrontier(opened, spec))


def open_sinks(specs: Iterable[str], topic: str, folder: Path | None) -> list[Sink]:
    """The sinks of one crawl, in order; when one cannot be had, none is left open."""
    opened: list[Sink] = []
    try:
        for spec in specs:
            sink: Sink = _sinks.make(spec, topic, folder)
            opened.append(sink)
    except BaseException:
        run_alone(close_sinks(opened, Troubles()))
        raise
    return opened


class _BlamedFrontier:
    """A frontier of somebody else: whatever goes wrong in it is an error that names it."""

    def __init__(self, inner: Frontier, spec: str) -> None:
        self._inner = inner
        self._spec = spec

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._inner, name)

        def blamed(*arguments: Any, **options: Any) -> Any:
            try:
                return method(*arguments, **options)
            except TrailhoundError:
                raise
            except plugin_faults() as error:
                raise FrontierError(
                    f"The frontier '{self._spec}' failed in {name}: {type(error).__name__}: "
                    f"{error}. No crawl can go on without its frontier; the pages that were found "
                    "are kept. Repair it and resume."
                ) from error

        setattr(self, name, blamed)
        return blamed
