"""Reading a topics file (TOML): what topics there are, checked key by key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from trailhound.errors import ConfigError, unknown_name
from trailhound.lab.topics.predicates import (
    PagePredicate,
    compiled,
    glob_pattern,
    word_pattern,
)

EXAMPLE = """\
# topics.toml: what to look for in a recorded web
[topics.beekeeping]
url_patterns = ["https://*.example.org/bees/*"]  # or urls, url_regexes
words = ["honey"]                                # or text_regexes
start = "https://www.example.org/"               # or session = "bees.jsonl"
seeds = ["https://www.example.org/links"]        # may be left out
"""
"""A smallest topics file, for error messages and the documentation."""


class TopicTable(msgspec.Struct, frozen=True):
    """One ``[topics.NAME]`` table as written."""

    urls: tuple[str, ...] = ()
    url_patterns: tuple[str, ...] = ()
    url_regexes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    text_regexes: tuple[str, ...] = ()
    session: str | None = None
    start: str | None = None
    seeds: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileTopic:
    """One topic of a file."""

    name: str
    urls: tuple[str, ...]
    predicate: PagePredicate
    session: Path | None
    """A recorded session; without one, the session is a simulated walk from ``start``."""
    start: str | None
    seeds: tuple[str, ...]


def read_topics_file(path: Path) -> dict[str, FileTopic]:
    """All topics of a file by name, in the order of the file."""
    content = _parsed(path)
    for key in content:
        if key != "topics":
            raise unknown_name(f"key in {path}", key, ["topics"], _hint())
    tables = content.get("topics")
    if not isinstance(tables, dict) or not tables:
        raise ConfigError(f"{path} names no topic. {_hint()}")
    return {name: _topic(path, name, table) for name, table in tables.items()}


def _parsed(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise ConfigError(f"There is no topics file {path}. Check the name.") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"The topics file {path} cannot be read: {reason}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text ({error.reason}). Save it as such.") from error
    except tomllib.TOMLDecodeError as error:  # its message ends in "(at line 3, column 7)"
        raise ConfigError(f"{path} is not valid TOML: {error}. {_hint()}") from error


def _topic(path: Path, name: str, table: object) -> FileTopic:
    where = f"[topics.{name}] of {path}"
    written = _checked(where, table)
    url_patterns = [glob_pattern(glob) for glob in written.url_patterns]
    url_patterns += compiled(written.url_regexes, f"url_regexes in {where}")
    texts = compiled(written.text_regexes, f"text_regexes in {where}", re.I | re.M)
    words = tuple(word_pattern(word) for word in written.words)
    predicate = PagePredicate(tuple(url_patterns), words, texts)
    if not written.urls and predicate.is_empty():
        raise ConfigError(
            f"{where} does not say which pages it is about. Give urls, url_patterns, "
            "url_regexes, words or text_regexes."
        )
    session = None if written.session is None else path.parent / written.session
    return FileTopic(name, written.urls, predicate, session, written.start, written.seeds)


def _checked(where: str, table: object) -> TopicTable:
    """The table with every key known and every value of the right type."""
    if not isinstance(table, dict):
        raise ConfigError(f"{where} must be a table. {_hint()}")
    for key in table:
        if key not in TopicTable.__struct_fields__:
            raise unknown_name(f"key in {where}", key, TopicTable.__struct_fields__)
    try:
        written = msgspec.convert(_lists(table), TopicTable)
    except msgspec.ValidationError as error:
        raise ConfigError(f'{where}: {error}. Write text in quotes, lists as ["…"].') from error
    if written.session is not None and written.start is not None:
        raise ConfigError(
            f"{where} has a session and a start. Keep the session, or the start page of a walk."
        )
    if any(not word.strip() for word in written.words):
        raise ConfigError(f"{where}: words holds an empty word, which every page has. Remove it.")
    return written


def _lists(table: Mapping[str, Any]) -> dict[str, Any]:
    """A single text where a list is meant is a list of one."""
    single = ("session", "start")
    return {
        key: [value] if isinstance(value, str) and key not in single else value
        for key, value in table.items()
    }


def _hint() -> str:
    return f"A topics file looks like this:\n{EXAMPLE}"
