"""Settings from all sources, each with its origin, from what a person writes to what one holds.

Files are TOML, read in time that grows with the text alone: the standard library's parser compares
the parts of a dotted key (``a.b.c = 1``) with each other, and 100 KB of them would take it minutes.
"""

from __future__ import annotations

import math
import re
import reprlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path, PurePath
from typing import Any, get_args

import msgspec

from trailhound.config.settings import (
    OLD_NAMES,
    PREFIX,
    Setting,
    Settings,
    all_settings,
    variable_of,
    with_new_names,
)
from trailhound.errors import ConfigError, UsageError, unknown_name

MAX_KEY_PARTS = 32
MAX_CHARS = 500_000
"""More is no file that somebody wrote, and its tables would take a hundred times the memory."""

_STRING_OR_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*+"|'[^'\n]*+'|#[^\n]*+''', re.DOTALL
)
_LONG_KEY = re.compile(rf"(?:\.[^.\n=,\]}}]*+){{{MAX_KEY_PARTS}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """The tables in ``text``; ``ValueError`` or ``RecursionError`` when it is no sensible TOML."""
    if len(text) > MAX_CHARS:
        raise ValueError(f"it is longer than {MAX_CHARS:,} characters")
    # Outside of texts a number has one dot, and only keys have more.
    if "." in text and _LONG_KEY.search(_STRING_OR_COMMENT.sub('""', text)):
        raise ValueError(f"a key has more than {MAX_KEY_PARTS} parts")
    return tomllib.loads(text)


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


def _from_text(text: str, kind: Any) -> Any:
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


def _from_program(value: Any, kind: Any) -> Any:
    """What a program says; ``ValueError`` when it makes no sense."""
    if _holds(kind, tuple):
        several = (value,) if isinstance(value, str | PurePath) else value
        if not isinstance(several, Iterable):
            raise ValueError("expected a text, or several")
        value = [str(each) if isinstance(each, PurePath) else each for each in several]
    elif isinstance(value, PurePath):
        value = str(value)
    elif not isinstance(value, int | float) and isinstance(value, Real):
        value = int(value) if isinstance(value, Integral) else float(value)  # of NumPy's own kinds
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


FILE_NAME = "trailhound.toml"
FILE_VARIABLE = "TRAILHOUND_CONFIG"
OTHER_VARIABLES = frozenset({FILE_VARIABLE, "TRAILHOUND_WORKSPACE", "TRAILHOUND_CORPORA"})
"""Of the environment, with a meaning beside the settings."""
_VARIABLES_OF_TESTS = frozenset({"TRAILHOUND_E2E_TOPICS", "TRAILHOUND_SCREENSHOTS"})


class _ShortRepr(reprlib.Repr):
    """Also of numbers that Python refuses to write in digits."""

    def repr_int(self, x: int, level: int) -> str:
        return super().repr_int(x, level) if x.bit_length() < 10_000 else "a number without end"


_SHORT = _ShortRepr()
_SHORT.maxstring = _SHORT.maxother = 200


def in_short(value: object) -> str:
    """For messages: the ``repr`` of whatever somebody gave, cut where it is long."""
    return _SHORT.repr(value)


@dataclass(frozen=True)
class Configuration:
    """Settings, and where each came from: ``default``, a file, a variable, or a flag."""

    settings: Settings
    origins: Mapping[str, str]
    """By ``section.name``."""


def find_file(chosen: Path | None, environment: Mapping[str, str], folder: Path) -> Path | None:
    """The file in use: ``chosen``, else that of ``TRAILHOUND_CONFIG``, else one in ``folder``."""
    named = chosen or (Path(text) if (text := environment.get(FILE_VARIABLE, "").strip()) else None)
    if named is not None:
        if not named.is_file():
            raise ConfigError(f"There is no configuration file {named}. Check its name.")
        return named
    usual = folder / FILE_NAME
    return usual if usual.is_file() else None


def configure(
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> Configuration:
    """Put the sources together. ``flags`` are by ``section.name``; ``None`` is not given.

    ConfigError when a source names what does not exist, or a value that cannot be.
    """
    found = {
        **(_from_file(file) if file is not None else {}),
        **_from_environment(environment or {}),
        **_from_flags(flags or {}),
    }
    check_variables(environment or {})
    settings = Settings().changed({key: value for key, (value, _) in found.items()})
    origins = {each.key: found.get(each.key, (None, "default"))[1] for each in all_settings()}
    return Configuration(settings, origins)


def from_assignments(texts: Iterable[str]) -> dict[str, Any]:
    """Values by ``section.name``, from what a person wrote: ``crawl.avoid_traps=false``."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"'{text}' sets nothing. Write it as crawl.avoid_traps=false.")
        found[OLD_NAMES.get(key.strip(), key.strip())] = value
    return checked_settings(found)


def checked_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by ``section.name``, as the settings hold them; a text is read as in a variable."""
    known = {each.key: each for each in all_settings()}
    found = {}
    for name, value in values.items():
        if name not in known:
            hint = "See 'trailhound config show'."
            raise ConfigError(str(unknown_name("setting", name, known, hint)))
        read = _from_text if isinstance(value, str) else from_file
        found[name] = _read(known[name], value, name, read)
    return found


def by_section(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that a program names alone, such as ``scope``, by ``section.name``.

    ``judge`` stands for ``judge.kind``. One text will do where several are meant.
    """
    known = {each.key.partition(".")[2]: each for each in all_settings()}
    known["judge"] = known.pop("kind")
    renamed = {old.partition(".")[2]: new.partition(".")[2] for old, new in OLD_NAMES.items()}
    found = {}
    for name, value in values.items():
        if name in renamed:
            raise UsageError(f"The setting '{name}' is called '{renamed[name]}' now.")
        if name not in known:
            raise unknown_name("setting", name, known)
        found[known[name].key] = _read(known[name], value, name, _from_program)
    return found


def said_in(settings: Any) -> dict[str, Any]:
    """What differs from the defaults, by ``section.name``: msgspec checks no object that is made.

    One text will do where several are meant.
    """
    _check_kind(settings, Settings, "settings")
    usual = Settings()
    for section in msgspec.structs.fields(Settings):
        _check_kind(getattr(settings, section.name), section.type, f"settings.{section.name}")
    return {
        each.key: _read(each, value, f"settings.{each.key}", _from_program)
        for each in all_settings()
        if (value := settings.value(each.key)) != usual.value(each.key)
    }


def _check_kind(value: Any, kind: type, where: str) -> None:
    if not isinstance(value, kind):
        raise ConfigError(
            f"{where} is of the type {type(value).__name__}, and it should be {kind.__name__}: "
            "settings=Settings(crawl=CrawlSettings(max_requests=500), fetch=FetchSettings(…))."
        )


def check_variables(environment: Iterable[str]) -> None:
    """ConfigError for variables that begin like ours and mean nothing, with likely corrections."""
    known = {each.variable for each in all_settings()} | OTHER_VARIABLES
    accepted = known | _VARIABLES_OF_TESTS | set(map(variable_of, OLD_NAMES))
    ours = (name for name in environment if name.startswith(PREFIX))
    strange = sorted(name for name in ours if name not in accepted)
    if strange:
        told = (str(unknown_name("variable of the environment", name, known)) for name in strange)
        raise ConfigError(" ".join(told))


def _from_flags(flags: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
    known = {each.key: each for each in all_settings()}
    return {
        key: (_read(known[key], value, key, _from_program), "flag")
        for key, value in flags.items()
        if value is not None
    }


def _from_environment(environment: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    old = {new: variable_of(name) for name, new in OLD_NAMES.items()}
    found = {}
    for each in all_settings():
        for variable in (each.variable, old.get(each.key, each.variable)):
            text = environment.get(variable, "")
            if text.strip():
                found[each.key] = (_read(each, text, variable, _from_text), variable)
                break
    return found


def _from_file(path: Path) -> dict[str, tuple[Any, str]]:
    known = {each.key: each for each in all_settings()}
    sections = {key.partition(".")[0] for key in known}
    found = {}
    for section, content in with_new_names(_read_toml(path)).items():
        if section not in sections:
            raise _unknown(path, "section", section, sections)
        if not isinstance(content, dict):
            raise ConfigError(f"{path}: '{section}' is a section. Write [{section}] on a line.")
        names = {key.partition(".")[2] for key in known if key.startswith(f"{section}.")}
        for name, value in content.items():
            if name not in names:
                raise _unknown(path, f"setting in [{section}]", name, names)
            key = f"{section}.{name}"
            found[key] = (_read(known[key], value, f"{path}: {key}", from_file), str(path))
    return found


def _read(setting: Setting, value: Any, where: str, read: Any) -> Any:
    try:
        return read(value, setting.type)
    except (ValueError, RecursionError) as error:
        shown = in_short(value)
        raise ConfigError(f"{where} is {shown}: {error}. {setting.description}") from error
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error


def _unknown(path: Path, kind: str, name: str, known: Iterable[str]) -> ConfigError:
    return ConfigError(f"{path}: {unknown_name(kind, name, known)}")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}. Check that you may read it."
        ) from error
    # Beside wrong TOML: no UTF-8, a number without end, lists in lists in lists.
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no valid TOML: {error}.") from error
