"""Topics of any corpus, named in a TOML file: by addresses, patterns of addresses, or words."""

from __future__ import annotations

import fnmatch
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from trailhound.config.layers import parse_toml
from trailhound.errors import ConfigError, SessionError, TopicError, UsageError, unknown_name
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics.base import Draft, TopicSource
from trailhound.lab.topics.labels import walked_session
from trailhound.sessions.events import Session
from trailhound.sessions.files import read_session
from trailhound.urls import canonicalize

_log = logging.getLogger(__name__)

Pattern = re.Pattern[str]

EXAMPLE = """\
# topics.toml: what to look for in a recorded web
[topics.beekeeping]
url_patterns = ["https://*.example.org/bees/*"]  # or urls, url_regexes
words = ["honey"]                                # or text_regexes
start = "https://www.example.org/"               # or session = "bees.jsonl"
seeds = ["https://www.example.org/links"]        # may be left out
"""
"""A smallest topics file, for error messages and the documentation."""
_HINT = f"A topics file looks like this:\n{EXAMPLE}"

MAX_PATTERN_CHARS = 10_000
"""Of a glob or a word: compiled, a character takes 500 bytes."""

# From here on, scripts are written without spaces (CJK and its neighbours): no word borders.
_FIRST_UNSPACED = "\u2e80"


@dataclass(frozen=True)
class PagePredicate:
    """Conditions on a page. Those that are given must all hold."""

    url_patterns: tuple[Pattern, ...] = ()
    """One of them must occur in the URL."""
    words: tuple[Pattern, ...] = ()
    """Each of them must occur in title or text."""
    text_patterns: tuple[Pattern, ...] = ()
    """One of them must occur in title or text."""

    def is_empty(self) -> bool:
        """Whether there is no condition, which stands for no page rather than for all."""
        return not (self.url_patterns or self.words or self.text_patterns)

    def fits(self, url: str, read: Callable[[], str]) -> bool:
        """Whether a page does; its title and text are read only if the address does not decide."""
        if self.is_empty() or not _one_of(self.url_patterns, url):
            return False
        if not self.words and not self.text_patterns:
            return True
        text = read()
        return all(word.search(text) for word in self.words) and _one_of(self.text_patterns, text)


def _one_of(patterns: Sequence[Pattern], text: str) -> bool:
    return not patterns or any(each.search(text) for each in patterns)


def fitting_pages(corpus: Corpus, predicates: Sequence[PagePredicate]) -> list[frozenset[int]]:
    """For each predicate, the numbers of the pages that fit.

    All are tried in one pass: reading a page costs more than trying it.
    """

    def text_of(number: int) -> str:
        page = corpus.page_by_id(number)
        return f"{page.title}\n{page.text}"

    found: list[set[int]] = [set() for _ in predicates]
    for number, url in enumerate(corpus.page_urls):
        read = cache(partial(text_of, number))
        for predicate, fitting in zip(predicates, found, strict=True):
            if predicate.fits(url, read):
                fitting.add(number)
    return [frozenset(each) for each in found]


def glob_pattern(glob: str) -> Pattern:
    """``*`` stands for any characters, ``?`` for one; the whole URL must fit."""
    return re.compile(rf"\A{fnmatch.translate(glob)}")


def word_pattern(word: str) -> Pattern:
    """A word or phrase, whole and in either case; part of a word in scripts without spaces."""
    escaped = r"\s+".join(re.escape(part) for part in word.split())
    if any(character >= _FIRST_UNSPACED for character in word):
        return re.compile(escaped, re.IGNORECASE)
    return re.compile(rf"(?<!\w){escaped}(?!\w)", re.IGNORECASE)


def compiled(expressions: Sequence[str], where: str, flags: int = 0) -> tuple[Pattern, ...]:
    """Regular expressions from a file; ``where`` names the place in the error."""
    patterns = []
    for expression in expressions:
        try:
            patterns.append(re.compile(expression, flags))
        except re.error as error:
            raise ConfigError(
                f"{where}: '{expression}' is no regular expression ({error}). "
                "Escape special characters with a backslash, and write it in 'single quotes'."
            ) from error
    return tuple(patterns)


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
    written: TopicTable
    predicate: PagePredicate
    session: Path | None
    """A recorded session; without one, the session is a simulated walk."""


def read_topics_file(path: Path) -> dict[str, FileTopic]:
    """All topics of a file by name, in the order of the file."""
    content = _parsed(path)
    for key in content:
        if key != "topics":
            raise unknown_name(f"key in {path}", key, ["topics"], _HINT)
    tables = content.get("topics")
    if not isinstance(tables, dict) or not tables:
        raise ConfigError(f"{path} names no topic. {_HINT}")
    return {name: _topic(path, name, table) for name, table in tables.items()}


def digest_of_topics(path: Path) -> str:
    """Another one when the file has changed, or a session that it names."""
    sessions = [topic.session for topic in read_topics_file(path).values() if topic.session]
    contents = [path.read_bytes()]
    for session in sessions:
        with suppress(OSError):  # it is told of when its topic is built
            contents.append(session.read_bytes())
    digests = [sha256(content).hexdigest() for content in contents]
    return digests[0] if not sessions else sha256("\n".join(digests).encode()).hexdigest()


def _parsed(path: Path) -> Mapping[str, Any]:
    try:
        return parse_toml(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise ConfigError(f"There is no topics file {path}. Check the name.") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"The topics file {path} cannot be read: {reason}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text ({error.reason}). Save it as such.") from error
    except (ValueError, RecursionError) as error:  # its message ends in "(at line 3, column 7)"
        raise ConfigError(f"{path} is not valid TOML: {error}. {_HINT}") from error


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
    return FileTopic(name, written, predicate, session)


def _checked(where: str, table: object) -> TopicTable:
    """The table with every key known and every value of the right type."""
    if not isinstance(table, dict):
        raise ConfigError(f"{where} must be a table. {_HINT}")
    for key in table:
        if key not in TopicTable.__struct_fields__:
            raise unknown_name(f"key in {where}", key, TopicTable.__struct_fields__)
    try:
        # A single text where a list is meant is a list of one.
        lists = {
            key: [value] if isinstance(value, str) and key not in ("session", "start") else value
            for key, value in table.items()
        }
        written = msgspec.convert(lists, TopicTable)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ConfigError(f'{where}: {error}. Write text in quotes, lists as ["…"].') from error
    if written.session is not None and written.start is not None:
        raise ConfigError(
            f"{where} has a session and a start. Keep the session, or the start page of a walk."
        )
    if any(len(each) > MAX_PATTERN_CHARS for each in (*written.url_patterns, *written.words)):
        raise ConfigError(f"{where}: a pattern is longer than {MAX_PATTERN_CHARS:,} characters.")
    if any(not word.strip() for word in written.words):
        raise ConfigError(f"{where}: words holds an empty word, which every page has. Remove it.")
    return written


def _recorded(topic: FileTopic) -> Session | None:
    if topic.session is None:
        return None
    try:
        return read_session(topic.session)
    except (SessionError, UsageError) as error:
        raise TopicError(f"Topic '{topic.name}' cannot have its session. {error}") from error


class FileTopics(TopicSource):
    """The topics of one file. All of them are listed; a topic's faults show when it is built."""

    def __init__(self, corpus: Corpus, path: Path) -> None:
        super().__init__(corpus)
        self._topics = read_topics_file(path)

    def _candidates(self) -> Sequence[str]:
        return list(self._topics)

    def _check(self, name: str) -> None:
        """Nothing: finding a topic's pages may mean reading the whole corpus."""

    def _draft(self, name: str, rng: np.random.Generator) -> Draft:
        topic = self._topics[name]
        members = self._members(topic)
        if not members:
            raise TopicError(
                f"Topic '{name}' is empty: no recorded page fits it. Check its URLs and patterns "
                "against the corpus, in full and with their scheme."
            )
        session = _recorded(topic) or self._walk(topic, members, rng)
        given = tuple(self._page(name, "seed", url) for url in topic.written.seeds)
        return Draft(name, session, members, frozenset(), given_seeds=given, insists=True)

    def _members(self, topic: FileTopic) -> frozenset[int]:
        listed = [self._find(url) for url in topic.written.urls]
        if None in listed:
            _log.warning(
                "%d of the %d URLs listed for topic '%s' are not in the corpus.",
                listed.count(None),
                len(listed),
                topic.name,
            )
        known = frozenset(page for page in listed if page is not None)
        return (known | self._fitting[topic.name]) - self._assembler.closed

    @cached_property
    def _fitting(self) -> dict[str, frozenset[int]]:
        """For each topic, the pages that fit its patterns and words."""
        predicates = [topic.predicate for topic in self._topics.values()]
        return dict(zip(self._topics, fitting_pages(self._corpus, predicates), strict=True))

    def _walk(self, topic: FileTopic, members: frozenset[int], rng: np.random.Generator) -> Session:
        written = topic.written.start
        start = None if written is None else self._page(topic.name, "start page", written)
        return walked_session(self._corpus, topic.name, members, start, rng)

    def _page(self, topic: str, role: str, url: str) -> int:
        page = self._find(url)
        if page is None:
            raise TopicError(
                f"The {role} {url} of topic '{topic}' is not in the corpus. Name a recorded page."
            )
        return page

    def _find(self, url: str) -> int | None:
        canonical = canonicalize(url)
        return None if canonical is None else self._corpus.page_id(canonical)
