"""Settings from all sources, each with its origin."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from trailhound.config.values import from_file, from_program, from_text
from trailhound.errors import ConfigError, UsageError, unknown_name
from trailhound.toml_text import parse_toml

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
        read = from_text if isinstance(value, str) else from_file
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
        found[known[name].key] = _read(known[name], value, name, from_program)
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
        each.key: _read(each, value, f"settings.{each.key}", from_program)
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
        key: (_read(known[key], value, key, from_program), "flag")
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
                found[each.key] = (_read(each, text, variable, from_text), variable)
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
        shown = _SHORT.repr(value)
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
