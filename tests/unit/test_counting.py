"""One is never a plural."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import trailhound
from trailhound.counting import counted, plural

ROOT = Path(trailhound.__file__).parent
COUNTED_BY_HAND = re.compile(
    r"\{(len\([^{}]*\)|[^{}]*:,)\} (relevant |visited |more |new )?"
    r"(hosts|pages|requests|targets|queries|topics|sessions|visits|links|rounds|copies)\b(?!/)"
)
SURELY_MORE = "MAX_PAGES:,} pages"


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (0, "page", "0 pages"),
        (1, "page", "1 page"),
        (2, "page", "2 pages"),
        (1200, "relevant page", "1,200 relevant pages"),
        (1, "query", "1 query"),
        (2, "query", "2 queries"),
        (3, "copy", "3 copies"),
        (2, "day", "2 days"),
        (1, "person", "1 person"),
        (2, "person", "2 people"),
        (2, "fetch", "2 fetches"),
        (2, "access", "2 accesses"),
    ],
)
def test_counts_agree_with_their_nouns(count: int, noun: str, words: str) -> None:
    assert counted(count, noun) == words


def test_plurals_without_a_number() -> None:
    assert plural("entry") == "entries"


def test_nothing_that_can_be_one_is_counted_by_hand() -> None:
    found = [
        f"{path.name}:{number}: {line.strip()}"
        for path in ROOT.rglob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if COUNTED_BY_HAND.search(line) and SURELY_MORE not in line
    ]
    assert not found
