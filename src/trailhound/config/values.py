"""Single values: from what a person writes to what a setting holds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, get_args

import msgspec

from trailhound.errors import ConfigError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?\s*[smhd]\s*)+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([smhd])")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?")
_MOST = 2**63 - 1
_BOOLEANS = dict.fromkeys(("true", "yes", "on", "1"), True)
_BOOLEANS |= dict.fromkeys(("false", "no", "off", "0"), False)


def parse_duration(text: str) -> float:
    """Seconds in ``90``, ``90s``, ``10m``, ``2h``, ``1h30m``, ``1 h 30 m``, ``1d``."""
    plain = text.strip().lower()
    if _DURATION.fullmatch(plain):
        return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(plain))
    try:
        return float(plain)
    except ValueError:
        raise ConfigError(
            f"'{text}' is no length of time. Write seconds, or for example 90s, 10m, 2h, 1h30m."
        ) from None


def parse_size(text: str) -> int:
    """Bytes in ``500000000``, ``500MB``, ``1.5 GB``, ``2GiB``."""
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None:
        raise ConfigError(f"'{text}' is no size. Write bytes, or for example 500MB, 2GB.")
    step = 1024 if found[3] else 1000
    return int(sized(int(float(found[1]) * step ** " kmgt".index(found[2] or " "))))


def from_text(text: str, kind: Any) -> Any:
    """What a variable of the environment says; ``ValueError`` when it makes no sense."""
    if _holds(kind, tuple):
        between = r"\s*\n\s*" if _is_noted(kind, "lines") else r"[,\s]+"
        return tuple(filter(None, re.split(between, text.strip())))
    if _holds(kind, bool):
        try:
            return _BOOLEANS[text.strip().lower()]
        except KeyError:
            raise ValueError("write true or false") from None
    return _checked(text, kind, strict=False)


def from_file(value: Any, kind: Any) -> Any:
    """What a TOML file says; ``ValueError`` when it makes no sense."""
    if _holds(kind, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(sized(value))
    return _checked(value, kind, strict=True)


def from_program(value: Any, kind: Any) -> Any:
    """What a program says; ``ValueError`` when it makes no sense."""
    if _holds(kind, tuple):
        several = (value,) if isinstance(value, str | PurePath) else value
        if not isinstance(several, Iterable):
            raise ValueError("expected a text, or several")
        value = [str(each) if isinstance(each, PurePath) else each for each in several]
    elif isinstance(value, PurePath):
        value = str(value)
    return from_file(value, kind)


def _checked(value: Any, kind: Any, *, strict: bool) -> Any:
    if isinstance(value, str) and _is_noted(kind, "duration"):
        value = parse_duration(value)
    elif isinstance(value, str) and _is_noted(kind, "size"):
        value = parse_size(value)
    try:
        found = sized(msgspec.convert(value, kind, strict=strict))
    except msgspec.ValidationError as error:
        if _is_noted(kind, "duration") and " > 0.0" in str(error):
            told = "write more than no time at all, for example 90s, 10m or 2h"
            raise ValueError(told) from error
        raise ValueError(_in_words(error)) from error
    if isinstance(found, float) and math.isinf(found) and not _is_noted(kind, "duration"):
        raise ValueError("write a number that has an end")
    return found


def sized(value: Any) -> Any:
    """``value``; ``ValueError`` for a whole number that neither a store nor a float can hold."""
    if isinstance(value, int) and abs(value) > _MOST:
        raise ValueError(f"write a number up to {_MOST}")
    return value


def _in_words(error: msgspec.ValidationError) -> str:
    """``expected int >= 1``: msgspec's words without its marks."""
    words = str(error).partition(" - at ")[0].replace("`", "").replace(" | null", "")
    return words[:1].lower() + words[1:]


def _holds(kind: Any, wanted: type) -> bool:
    """Whether a type is ``wanted``, below its annotations and beside ``None``."""
    if kind is wanted or getattr(kind, "__origin__", None) is wanted:
        return True
    return any(_holds(part, wanted) for part in _parts(kind))


def _is_noted(kind: Any, what: str) -> bool:
    """Whether a type is a length of time or a size, which people write with a unit."""
    notes = getattr(kind, "__metadata__", ())
    if any((note.extra or {}).get(what) for note in notes):
        return True
    return any(_is_noted(part, what) for part in _parts(kind))


def _parts(kind: Any) -> list[Any]:
    return [part for part in get_args(kind) if not isinstance(part, msgspec.Meta)]
