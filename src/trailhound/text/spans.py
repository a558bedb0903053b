"""Marked text to words: the text of a page, and the words of any span and around it."""

from __future__ import annotations

import re
from itertools import accumulate

from trailhound.text.document_walk import MARK

CONTEXT_WORDS = 10
# A window that holds ten ordinary words and the blanks that indent them in the source.
CONTEXT_CHARS = 400
# Most often ten words need no more than this.
_SHORT_CONTEXT_CHARS = 120
MAX_SPAN_CHARS = 500

# Control characters but white space and our own mark, and invisible characters.
_CONTROLS = re.compile(
    "[\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


class MarkedText:
    """A page's text, addressed by the marks that the walk put into it.

    ``pieces`` are the walk's pieces of text and marks, ``hidden`` its pairs of marks around text
    that is not shown: such text is missing from :attr:`shown`, but spans may lie in it.
    """

    def __init__(self, pieces: list[str], hidden: list[tuple[int, int]]) -> None:
        text = "".join(pieces)
        # Part k stands between marks k-1 and k, so mark k stands at the end of part k.
        parts = text.split(MARK)
        self._all, self._positions = _joined(parts)
        words = " ".join(self._all.split())
        if not words.isprintable():
            parts = _CONTROLS.sub("", text).split(MARK)
            self._all, self._positions = _joined(parts)
            words = collapse(words)
        self._shown, self._shown_positions = self._all, self._positions
        if hidden:
            self._shown, self._shown_positions = _joined(_without_hidden(parts, hidden))
            words = " ".join(self._shown.split())
        self.shown = words
        """The visible text, white space collapsed."""

    def words(self, start: int, end: int) -> str:
        """The words between two marks, shown or not."""
        first, last = self._positions[start], self._positions[end]
        return " ".join(self._all[first : min(last, first + MAX_SPAN_CHARS)].split())

    def before(self, mark: int) -> str:
        """Up to ten visible words in front of a mark."""
        shown, end = self._shown, self._shown_positions[mark]
        words = shown[max(0, end - _SHORT_CONTEXT_CHARS) : end].rsplit(None, CONTEXT_WORDS)
        if len(words) <= CONTEXT_WORDS:
            start = max(0, end - CONTEXT_CHARS)
            words = shown[start:end].rsplit(None, CONTEXT_WORDS)
            # Not more than ten, and the window cut the first one in two.
            if len(words) <= CONTEXT_WORDS and start and not shown[start - 1].isspace():
                del words[:1]
        return " ".join(words[-CONTEXT_WORDS:])

    def after(self, mark: int) -> str:
        """Up to ten visible words behind a mark."""
        shown, start = self._shown, self._shown_positions[mark]
        words = shown[start : start + _SHORT_CONTEXT_CHARS].split(None, CONTEXT_WORDS)
        if len(words) <= CONTEXT_WORDS:
            end = start + CONTEXT_CHARS
            words = shown[start:end].split(None, CONTEXT_WORDS)
            if len(words) <= CONTEXT_WORDS and shown[end : end + 1].strip():
                del words[-1:]
        return " ".join(words[:CONTEXT_WORDS])


def collapse(text: str) -> str:
    """``text`` with each run of white space as one blank, none at the ends, and no controls.

    Control, direction and zero-width characters would reach terminals and reports; soft hyphens
    would cut words. The joiners of Persian and Indic words stay.
    """
    joined = " ".join(text.split())
    return joined if joined.isprintable() else " ".join(_CONTROLS.sub("", joined).split())


def _joined(parts: list[str]) -> tuple[str, list[int]]:
    """The parts as one text, and where in it each part ends."""
    return "".join(parts), list(accumulate(map(len, parts)))


def _without_hidden(parts: list[str], hidden: list[tuple[int, int]]) -> list[str]:
    """The parts, with those inside hidden spans emptied; spans may be nested."""
    steps = [0] * (len(parts) + 1)
    for start, end in hidden:
        steps[start + 1] += 1
        steps[end + 1] -= 1
    depths = accumulate(steps[: len(parts)])
    return ["" if depth else part for part, depth in zip(parts, depths, strict=True)]
