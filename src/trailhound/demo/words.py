"""What a demo web is made of: its words, read from files in ``data/``, and how large it is.

``subjects.toml`` says what pages can be about, ``voices.toml`` how each kind of page speaks,
``languages.toml`` what foreign pages say, ``names.toml`` how people and towns are called: change
the words there.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from random import Random
from typing import Any

from trailhound.errors import UsageError


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


MOST_UNIVERSITIES = len(read_data("universities")["universities"])


@dataclass(frozen=True)
class DemoWebParameters:
    """Sizes and difficulties of a demo web; the defaults are what ``make demo`` shows.

    Shares and rates lie between 0 and 1. Each difficulty can be swept on its own: pages keep
    their addresses and titles when one changes (except ``vague_titles``, which is about titles).
    """

    topical_locality: float = 0.55
    """Probability that a *related pages* link leads to a page on the same subject. Higher helps
    crawlers that follow pages similar to the targets."""
    hidden_share: float = 0.5
    """Share of university papers that no related link, hub or article points to: they are reached
    only from their author's list of publications, through pages that are off topic."""
    hub_coverage: float = 0.12
    """Share of the members that are not hidden which a directory lists by topic."""
    anchor_noise: float = 0.35
    """Probability that the anchor of a related link or of a listed title says nothing
    (*click here*, *[3]*, *read more*)."""
    hidden_context: float = 0.5
    """Where the anchor says nothing: probability that the words beside it say nothing either."""
    vocabulary_overlap: float = 0.25
    """Share of a page's topical sentences that speak of a neighbouring subject instead."""
    page_vocabulary: float = 0.65
    """Share of its subject's words that one page uses: the lower, the less two pages on one
    subject have in common."""
    topical_text: float = 0.7
    """Share of a page's sentences that are about its subject; the others are small talk of its
    genre (funding, meetings, opening hours)."""
    stepping_stone_leak: float = 0.12
    """Share of sentences on a stepping stone (home page, list of people, list of publications)
    that give away the subject of what lies behind it."""
    vague_titles: float = 0.2
    """Probability that a paper, thread or article has a title that does not name its subject."""
    dead_link_rate: float = 0.025
    """Probability that a related link is dead (404)."""
    redirect_rate: float = 0.04
    """Probability that a related link goes through a redirect, a tenth of these through two."""

    universities: int = 10
    departments_per_university: int = 5
    people_per_department: int = 7
    papers_per_person: int = 3
    """Mean number; from half to one and a half times as many."""
    articles_per_newspaper: int = 80
    threads_per_forum: int = 60
    articles_per_club: int = 26
    products_per_shop: int = 26

    session_targets: int = 18
    """Useful pages in a recorded session, as far as there are so many where she browses."""
    session_visits: int = 190
    """A person gives up after so many page views."""
    session_pages: int = 64
    """She looks at this many different pages or more, as far as there are so many."""
    session_universities: int = 2
    """How much of the web the person knows: universities she looks at."""
    wrong_turn_rate: float = 0.5
    """Probability, per page view, that she follows links that lead nowhere and goes back."""

    readers: int = 400
    """People in the access log; each has two interests and comes three to eight times."""
    read_share: float = 0.33
    """Share of each topic's pages that anybody in the access log opens."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "float" and not 0 <= value <= 1:
                raise UsageError(
                    f"Demo web parameter {field.name} is {value}; it is a share. "
                    "Give a number from 0 to 1."
                )
            if field.type == "int" and value < 1:
                raise UsageError(
                    f"Demo web parameter {field.name} is {value}; it is a count. Give 1 or more."
                )
        if self.universities > MOST_UNIVERSITIES:
            raise UsageError(
                f"Demo web parameter universities is {self.universities}; there are names for "
                f"{MOST_UNIVERSITIES}. Give fewer, or more departments and people."
            )
