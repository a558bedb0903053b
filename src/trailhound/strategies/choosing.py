"""Strategies by name. Built-in and third-party ones register through the same entry points.

A strategy under construction needs no package: ``path/to/file.py`` works wherever a name does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

from trailhound.errors import ConfigError, UsageError
from trailhound.plugins import STRATEGY, Catalogue
from trailhound.strategies.base import Briefing, Strategy

_catalogue = Catalogue(STRATEGY)


@dataclass(frozen=True)
class StrategyInfo:
    """What ``trailhound strategies`` shows."""

    name: str
    summary: str
    paper: str
    options: Mapping[str, Any]
    """Option names with their defaults."""


def strategy_names() -> tuple[str, ...]:
    """All registered names, in alphabetical order."""
    return _catalogue.names()


def describe_strategy(name: str) -> StrategyInfo:
    """A strategy's summary, paper and options."""
    kind = _catalogue.load(name)
    return StrategyInfo(name, kind.summary, kind.paper, _catalogue.options(name))


async def strategy_for(spec: str, briefing: Briefing) -> Strategy:
    """Build a strategy from ``name`` or ``name:option=value,option=value``.

    One that must ask its sources to learn does so here.
    """
    kind, options = _catalogue.resolve(spec)
    with _catalogue.blaming(spec):
        made = kind.from_briefing(briefing, **options)
        strategy: Strategy = await made if isawaitable(made) else made
    _catalogue.check(spec, strategy)
    return strategy


def make_strategy(spec: str, briefing: Briefing) -> Strategy:
    """The same where nothing has to be waited for: sources that are files, or none."""
    making = strategy_for(spec, briefing)
    try:
        making.send(None)
    except StopIteration as made:
        strategy: Strategy = made.value
        return strategy
    making.close()
    raise UsageError(
        f"The strategy '{spec}' asks a source over the network before it can be used. Await "
        "strategy_for() instead of calling make_strategy()."
    )


def check_spec(spec: str) -> None:
    """Raise UsageError unless ``spec`` names a strategy and options that it has."""
    _catalogue.resolve(spec)


def check_live_spec(spec: str) -> None:
    """Raise UsageError unless a crawl of the live web can be made with ``spec``."""
    name, _ = parse_spec(spec)
    if name not in strategy_names() and not name.endswith(".py"):
        raise _catalogue.unknown(name, live_strategy_names())
    kind, _ = _catalogue.resolve(spec)
    if _says(kind, "lab_only"):
        raise UsageError(
            f"The strategy '{name}' is for the lab only (trailhound lab run): it needs answers "
            "that nobody has for the live web. For a crawl, choose another: "
            f"{', '.join(live_strategy_names())}."
        )


def live_strategy_names() -> tuple[str, ...]:
    """All names but those of strategies that work in the lab only."""
    return tuple(name for name in strategy_names() if not _says(_loaded(name), "lab_only"))


def _loaded(name: str) -> Any:
    try:
        return _catalogue.load(name)
    except ConfigError:  # a broken package; whoever asks for it will hear of it
        return None


def _says(kind: Any, attribute: str) -> bool:
    return bool(getattr(kind, attribute, False))


def declares(spec: str, attribute: str) -> bool:
    """Whether a strategy's class says so of itself: ``needs_trace``, ``remembers_states``, …

    See :class:`~trailhound.strategies.base.Strategy` for what a class may say.
    """
    return _says(_catalogue.resolve(spec)[0], attribute)


def asks_for_trace(spec: str) -> bool:
    """Whether a strategy is to have a trace that nobody has named.

    One with an option ``trace`` can do without, and has to be told ``trace=true``.
    """
    name, _ = parse_spec(spec)
    _, options = _catalogue.resolve(spec)
    return "trace" not in _catalogue.options(name) or options.get("trace") is True


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split ``name:option=value,…`` into the name and its options as typed."""
    return _catalogue.parse(spec)
