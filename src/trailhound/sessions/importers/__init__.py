"""Foreign records of browsing as sessions: HAR, web archives, browser histories, server logs.

What an importer is, and how to write one, is in :mod:`trailhound.sessions.importers.base`. Here is
how one is found and used.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from trailhound.errors import ConfigError, TrailhoundError, plugin_faults
from trailhound.plugins import IMPORTER, Catalogue, keyword_options
from trailhound.sessions.events import Session
from trailhound.sessions.importers.base import Imported, Importer

_catalogue = Catalogue(IMPORTER)


def importer_names() -> tuple[str, ...]:
    """What ``trailhound import`` offers, in alphabetical order."""
    return _catalogue.names()


def importer(name: str) -> Importer:
    """The importer with this name, or in this Python file; ConfigError when it is broken."""
    part = _catalogue.load(name)
    with _catalogue.blaming(name):
        made: Importer = part()
    _catalogue.check(name, made)
    return made


def options_of(found: Importer) -> Mapping[str, inspect.Parameter]:
    """The options of an importer: the keyword arguments of its ``read``, by name."""
    return keyword_options(found.read)


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
    except plugin_faults() as error:
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
                yield session if _is_ours(self.found) else _checked(session)


def _is_ours(found: Importer) -> bool:
    return type(found).__module__.startswith("trailhound.")


def _checked(session: Session) -> Session:
    """``session``; an error unless it can be read again once it is stored.

    msgspec checks no object that is made, and a topic with such a session could not be learned.
    """
    plain = msgspec.to_builtins(session, builtin_types=(bytes, bytearray, memoryview))
    checked = msgspec.convert(plain, Session)
    for event in checked.events:
        if not math.isfinite(event.time):
            raise ValueError(f"{event.time} is no time of an event")
    msgspec.json.encode(checked)  # fails for half of a character, which no file can hold
    return checked
