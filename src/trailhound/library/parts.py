"""Parts of a crawl as a program gives them: by name, or as objects, which are looked at first."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trailhound.config.layers import in_short
from trailhound.errors import UsageError
from trailhound.judges.rules import PredicateJudge

_NEEDS = {
    "strategy": ("score_links", "observe"),
    "judge": ("judge",),
    "fetcher": ("fetch", "close"),
    "sinks": ("keep", "close"),
    "resolver": ("resolve", "close"),
}
"""What an object must have, by the argument that it is given as."""


def split_parts(
    strategy: Any, judge: Any, fetcher: Any, resolver: Any, sinks: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Objects by part, and settings by name. Objects have a name there, too, for the record.

    UsageError for what cannot be such a part.
    """
    objects: dict[str, Any] = {}
    values: dict[str, Any] = {}
    of_own: dict[str, str] = {}
    for part, given in (("strategy", strategy), ("judge", judge), ("fetcher", fetcher)):
        if isinstance(given, str | Path):
            values[part] = str(given)
        elif given is not None:
            objects[part] = _judge(given) if part == "judge" else _checked(part, given)
            of_own[part] = _name(given)
    for part in objects.keys() - {"fetcher"}:
        values[part] = str(getattr(objects[part], "name", type(objects[part]).__name__))
    if resolver is not None:
        objects["resolver"] = _checked("resolver", resolver)
        of_own["resolver"] = _name(resolver)
    several = _several(sinks)
    if names := [str(sink) for sink in several if isinstance(sink, str | Path)]:
        values["sinks"] = names
    own = [sink for sink in several if not isinstance(sink, str | Path)]
    objects["sinks"] = [_checked("sinks", sink) for sink in own]
    if own:
        of_own["sinks"] = ", ".join(map(_name, own))
    objects["names"] = of_own
    return objects, values


def _name(given: Any) -> str:
    """Of a class or a function, or the one that an object has given itself."""
    own = getattr(given, "name", None) or getattr(given, "__name__", None)
    return own if isinstance(own, str) else type(given).__name__


def _several(sinks: Any) -> list[Any]:
    """One will do, too."""
    if isinstance(sinks, str | Path) or not isinstance(sinks, Iterable):
        return [sinks]
    return list(sinks)


def _judge(given: Any) -> Any:
    if not isinstance(given, type) and not hasattr(given, "judge") and callable(given):
        return PredicateJudge(given)
    return _checked("judge", given)


def _checked(part: str, given: Any) -> Any:
    if isinstance(given, type):
        name = getattr(given, "name", None)
        by_name = f", or its name: {part}='{name}'" if isinstance(name, str) else ""
        raise UsageError(
            f"{part}: {given.__name__} is a class. Give an object that was made of it{by_name}."
        )
    missing = [name for name in _NEEDS[part] if not callable(getattr(given, name, None))]
    if missing:
        raise UsageError(
            f"{part}: {in_short(given)} has no '{missing[0]}'. Give {_wanted(part)} "
            f"({', '.join(_NEEDS[part])})."
        )
    return given


def _wanted(part: str) -> str:
    if part == "resolver":
        return "an object with all that a resolver needs"
    if part == "judge":
        return "a name, a function of a page, or an object with all that a judge needs"
    return f"a name, or an object with all that a {part.removesuffix('s')} needs"
