"""The words of the demo web, read from the files in ``data/``: change them there.

``subjects.toml`` says what pages can be about, ``voices.toml`` how each kind of page speaks,
``languages.toml`` what foreign pages say, ``names.toml`` how people and towns are called.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from random import Random
from typing import Any


@dataclass(frozen=True)
class Subject:
    """The words of one subject, by the place they can take in a sentence."""

    key: str
    label: str
    topic: bool
    """Somebody looks for it."""
    near: tuple[str, ...]
    """Keys of subjects that share vocabulary with this one."""
    pools: Mapping[str, tuple[str, ...]]
    """Slot of a sentence to the words that may fill it: see ``voices.toml``."""


@dataclass(frozen=True)
class Voice:
    """How one kind of page speaks: patterns of sentences and of titles."""

    topical: tuple[str, ...] = ()
    """Sentences about the page's subject."""
    small_talk: tuple[str, ...] = ()
    """Sentences that any page of the kind may hold."""
    titles: tuple[str, ...] = ()
    vague_titles: tuple[str, ...] = ()
    """Titles that do not name the subject."""


@dataclass(frozen=True)
class Language:
    """Small talk and navigation labels of a foreign language."""

    sentences: tuple[str, ...]
    """``{0}`` and ``{1}`` take a noun phrase each."""
    phrases: tuple[str, ...]
    titles: tuple[str, ...]
    labels: Mapping[str, str]
    """English navigation label to its translation; those that are missing stay English."""


def read_data(name: str) -> dict[str, Any]:
    """The content of ``data/NAME.toml``."""
    return tomllib.loads((files("trailhound.demo") / f"data/{name}.toml").read_text("utf-8"))


def comma_separated(text: str) -> tuple[str, ...]:
    """Items of a list that may run over several lines."""
    return tuple(" ".join(item.split()) for item in text.split(","))


_SLOTS = {"T": "things", "P": "processes", "Q": "qualities", "S": "settings", "A": "activities"}


def _subject(key: str, entry: Mapping[str, Any]) -> Subject:
    pools = {slot: comma_separated(entry[field]) for slot, field in _SLOTS.items()}
    near = comma_separated(entry["near"])
    return Subject(key, entry["label"], entry.get("topic", False), near, pools)


def _voices(entries: Mapping[str, Any]) -> dict[str, Voice]:
    voices: dict[str, Voice] = {}
    for name, entry in entries.items():
        borrows = entry.pop("borrows", {})
        lines = {field: tuple(text.splitlines()) for field, text in entry.items()}
        for field, lender in borrows.items():
            lines[field] = getattr(voices[lender], field) + lines.get(field, ())
        voices[name] = Voice(**lines)
    return voices


def _language(labels: Mapping[str, str], **lines: str) -> Language:
    return Language(labels=labels, **{name: tuple(lines[name].splitlines()) for name in lines})


SUBJECTS = {key: _subject(key, entry) for key, entry in read_data("subjects").items()}
TOPIC_KEYS = tuple(subject.key for subject in SUBJECTS.values() if subject.topic)
VOICES = _voices(read_data("voices"))
LANGUAGES = {code: _language(**entry) for code, entry in read_data("languages").items()}

_NAMES = {field: tuple(text.split()) for field, text in read_data("names").items()}
FIRST_NAMES, SURNAMES, TOWNS = (_NAMES[name] for name in ("first_names", "surnames", "towns"))

_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def slug(text: str, longest: int | None = None) -> str:
    """``text`` in lower-case ASCII with hyphens, for the path of a URL."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return _NOT_SLUG.sub("-", plain.lower()).strip("-")[:longest].strip("-")


class PeopleNames:
    """Gives out full names, each surname at most once per site until all are used."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._surnames = random.sample(SURNAMES, len(SURNAMES))
        self._given = 0

    def next(self) -> tuple[str, str]:
        """(full name, user name): ``("Mara Ellwood", "ellwood")``."""
        turn, index = divmod(self._given, len(self._surnames))
        self._given += 1
        surname = self._surnames[index]
        user = slug(surname) + (str(turn + 1) if turn else "")
        return f"{self._random.choice(FIRST_NAMES)} {surname}", user
