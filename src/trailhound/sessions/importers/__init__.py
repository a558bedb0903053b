"""Foreign records of browsing as sessions: HAR, web archives, browser histories, server logs.

What an importer is, and how to write one, is in :mod:`trailhound.sessions.importers.base`. Here is
how one is found and used.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from trailhound.errors import ConfigError, TrailhoundError
from trailhound.plugins import Catalogue
from trailhound.sessions.events import Session
from trailhound.sessions.importers.base import Imported, Importer

_PARTS = ("name", "summary", "reads", "read")


def importer_names() -> tuple[str, ...]:
    """What ``trailhound import`` offers, in alphabetical order."""
    return _catalogue.names()


def importer(name: str) -> Importer:
    """The importer with this name, or in this Python file; ConfigError when it is broken."""
    part = _catalogue.load(name)
    try:
        made: Importer = part()
    except Exception as error:
        raise ConfigError(
            f"The importer '{name}' cannot be made: {type(error).__name__}: {error}. It should be "
            "a class without arguments. Repair or uninstall the package that provides it."
        ) from error
    missing = [each for each in _PARTS if not hasattr(made, each)]
    if missing:
        raise ConfigError(
            f"The importer '{name}' has no '{missing[0]}', which every importer needs. Repair or "
            "uninstall the package that provides it."
        )
    return made


def options_of(found: Importer) -> Mapping[str, inspect.Parameter]:
    """The options of an importer: the keyword arguments of its ``read``, by name."""
    parameters = inspect.signature(found.read, eval_str=True).parameters
    return {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def read_recording(
    found: Importer, source: Path, topic: str, options: Mapping[str, Any]
) -> Imported:
    """What the importer finds in ``source``; ConfigError when it breaks, now or on the way."""
    with _naming(found, source):
        imported = found.read(source, topic, **options)
        if not isinstance(imported, Imported):
            raise TypeError(f"Imported is needed, not {type(imported).__name__}")
        return Imported(_CheckedSessions(found, source, imported.sessions), imported.tally)


@contextmanager
def _naming(found: Importer, source: Path) -> Iterator[None]:
    try:
        yield
    except TrailhoundError:
        raise
    except Exception as error:
        raise ConfigError(
            f"The importer '{found.name}' broke while it read {source}: {type(error).__name__}: "
            f"{error}. Report it to whoever provides {type(found).__module__}."
        ) from error


@dataclass(frozen=True)
class _CheckedSessions:
    """An importer may read the recording only while its sessions are gone through."""

    found: Importer
    source: Path
    sessions: Iterable[Session]

    def __iter__(self) -> Iterator[Session]:
        with _naming(self.found, self.source):
            for session in self.sessions:
                if not isinstance(session, Session):
                    raise TypeError(f"Session is needed, not {type(session).__name__}")
                yield session


def _find(module: ModuleType, path: Path) -> Any:
    """The one importer that a Python file defines."""
    own = [each for each in vars(module).values() if isinstance(each, type)]
    found = [
        each
        for each in own
        if each.__module__ == module.__name__ and all(hasattr(each, part) for part in _PARTS)
    ]
    if len(found) != 1:
        raise ConfigError(
            f"'{path}' should define one importer, a class with {', '.join(_PARTS)}; it has "
            f"{len(found)}."
        )
    return found[0]


_catalogue = Catalogue("importer", "trailhound.importers", _find, "trailhound import --help")
