"""Strategies by name. Built-in and third-party ones register through the same entry points.

A strategy under construction needs no package: ``path/to/file.py`` works wherever a name does.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from trailhound.errors import ConfigError, UsageError, unknown_name
from trailhound.strategies.base import Briefing, Strategy

STRATEGY_GROUP = "trailhound.strategies"

_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class StrategyInfo:
    """What ``trailhound strategies`` shows."""

    name: str
    summary: str
    paper: str
    options: Mapping[str, Any]
    """Option names with their defaults."""


@cache
def _strategy_entries() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=STRATEGY_GROUP)}


def strategy_names() -> tuple[str, ...]:
    """All registered names, in alphabetical order."""
    return tuple(sorted(_strategy_entries()))


def describe_strategy(name: str) -> StrategyInfo:
    """A strategy's summary, paper and options."""
    kind = _load(name)
    options = {option.name: option.default for option in _options(kind).values()}
    return StrategyInfo(name, kind.summary, kind.paper, options)


def make_strategy(spec: str, briefing: Briefing) -> Strategy:
    """Build a strategy from ``name`` or ``name:option=value,option=value``."""
    name, texts = parse_spec(spec)
    kind = _load(name)
    declared = _options(kind)
    options: dict[str, Any] = {}
    for key, text in texts.items():
        if key not in declared:
            raise unknown_name(f"option of strategy '{name}'", key, declared)
        options[key] = _convert(spec, declared[key], text)
    strategy: Strategy = kind.from_briefing(briefing, **options)
    return strategy


def check_spec(spec: str) -> None:
    """Raise UsageError unless ``spec`` names a strategy and options that it has."""
    name, texts = parse_spec(spec)
    declared = _options(_load(name))
    for key, text in texts.items():
        if key not in declared:
            raise unknown_name(f"option of strategy '{name}'", key, declared)
        _convert(spec, declared[key], text)


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split ``name:option=value,…`` into the name and its options as typed."""
    # A path may hold a colon of its own (C:\…), so it ends at its suffix.
    path, suffix, rest = spec.partition(".py")
    if suffix and rest[:1] in ("", ":"):
        name, rest = path + suffix, rest[1:]
    else:
        name, _, rest = spec.partition(":")
    options: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(
                f"Strategy '{spec}': '{part}' is not option=value. "
                f"Write it as {name}:option=value,option=value."
            )
        options[key.strip().replace("-", "_")] = value.strip()
    return name.strip(), options


def _load(name: str) -> Any:
    if name.endswith(".py"):
        return _load_file(Path(name))
    entry = _strategy_entries().get(name)
    if entry is None:
        raise unknown_name("strategy", name, strategy_names(), "See 'trailhound strategies'.")
    try:
        return entry.load()
    except Exception as error:
        raise ConfigError(
            f"The strategy '{name}' is registered as {entry.value}, but loading it failed: "
            f"{type(error).__name__}: {error}. Repair or uninstall the package that provides it."
        ) from error


@cache
def _load_file(path: Path) -> Any:
    """The one strategy class that a Python file defines."""
    if not path.is_file():
        raise UsageError(f"There is no strategy file '{path}'. Give the path of a Python file.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"'{path}' cannot be loaded as a Python file.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConfigError(
            f"Running the strategy file '{path}' failed: {type(error).__name__}: {error}."
        ) from error
    own = [kind for kind in vars(module).values() if getattr(kind, "__module__", "") == path.stem]
    kinds = [kind for kind in own if hasattr(kind, "from_briefing")]
    if len(kinds) != 1:
        raise ConfigError(
            f"'{path}' should define one class with a from_briefing method; it has {len(kinds)}."
        )
    return kinds[0]


def _options(kind: Any) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(kind.from_briefing, eval_str=True).parameters
    return {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def _convert(spec: str, option: inspect.Parameter, text: str) -> Any:
    """The typed value of an option, by the annotation of its argument."""
    kind = option.annotation
    try:
        if kind is bool:
            return _BOOLEANS[text.lower()]
        if kind is int or kind is float:
            return kind(text)
        return text
    except (KeyError, ValueError):
        raise UsageError(
            f"Strategy '{spec}': option {option.name} is '{text}', "
            f"but it should be {_example(kind)}."
        ) from None


def _example(kind: Any) -> str:
    return {bool: "true or false", int: "a whole number", float: "a number"}[kind]
