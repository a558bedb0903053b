"""The language of a page: what it declares, else what its words look like."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_log = logging.getLogger(__name__)

# Enough for a sure guess; the classifier costs half a microsecond per character.
SAMPLE_CHARS = 320
# Below this many letters a guess is a coin toss.
MIN_LETTERS = 24
# Lists of names and numbers look like any language: on 800 pages of American universities every
# wrong guess stayed below this.
MIN_PROBABILITY = 0.5

# A disk that is full may have room again; each attempt costs what reading the model does.
PAGES_TO_RETRY = 100

loading: Callable[[], AbstractContextManager[None]] = nullcontext
"""Around reading the model: a process whose memory is limited for pages lets it through."""

_PRIMARY_TAG = re.compile(r"\s*([A-Za-z]{2,3})(?![A-Za-z])")
# Withdrawn codes, and three-letter ones seen in lang attributes, to the current two letters.
_CURRENT_CODES = {
    "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "ces": "cs", "chi": "zh",
    "deu": "de", "eng": "en", "fra": "fr", "fre": "fr", "ger": "de", "ita": "it", "jpn": "ja",
    "kor": "ko", "nld": "nl", "pol": "pl", "por": "pt", "rus": "ru", "spa": "es", "swe": "sv",
    "tur": "tr", "ukr": "uk", "zho": "zh",
}  # fmt: skip


def declared_language(*values: str | None) -> str:
    """The first two-letter code that ``lang`` or ``content-language`` values name, or ``""``."""
    for value in values:
        tag = _PRIMARY_TAG.match(value or "")
        if tag is None:
            continue
        code = _CURRENT_CODES.get(tag[1].lower(), tag[1].lower())
        if len(code) == 2 and code != "xx":
            return code
    return ""


def detect_language(text: str) -> str:
    """The language of ``text`` as a two-letter code; ``""`` when there is too little to tell."""
    sample = _sample(text)
    if sum(map(str.isalpha, sample)) < _letters_needed(sample):
        return ""
    identifier = _model.identifier()
    if identifier is None:
        return ""
    code, probability = identifier.classify(sample)
    return str(code) if probability >= MIN_PROBABILITY and len(code) == 2 else ""


class _Model:
    """The classifier, while it can be read: it is unpacked into a temporary file."""

    def __init__(self) -> None:
        self._pages_to_wait = 0
        self._has_warned = False

    def identifier(self) -> LanguageIdentifier | None:
        """``None`` while it cannot be read, which is tried again some pages later."""
        if self._pages_to_wait:
            self._pages_to_wait -= 1
            return None
        try:
            return _identifier()
        except OSError as error:
            self._pages_to_wait = PAGES_TO_RETRY
            if not self._has_warned:
                _log.warning("Languages of pages are not guessed for now: %s", error)
            self._has_warned = True
            return None


_model = _Model()


@cache
def _identifier() -> LanguageIdentifier:
    # Reading the model takes 0.7 s and 30 MB: only when a page leaves no other way.
    with loading():
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _sample(text: str) -> str:
    """A piece from the first half: beyond the navigation, before the footer."""
    start = min(len(text) // 4, 2000)
    return text[start : start + SAMPLE_CHARS]


def _letters_needed(sample: str) -> int:
    """One Chinese character says as much as three letters."""
    return MIN_LETTERS if sample.isascii() else MIN_LETTERS // 3
