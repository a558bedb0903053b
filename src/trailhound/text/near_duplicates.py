"""Pages that say the same: fingerprints, and an index that finds the ones close to each other.

A fingerprint is a 64-bit simhash: each feature votes on each bit, so that pages with nearly the
same features differ in few bits. The features are *sentences outside links*, weighted by their
words. That leaves out what mirrors and print versions change, which is the navigation around a
text, and keeps pages of one site apart, which share single words and phrases but not sentences.
Where sentences are not most of what is outside links, all of that votes: the sentences may be the
notice that a site puts above each of its lists. A page without enough sentences (a list, a menu, a
table) is only ever the duplicate of a page with the very same words.

Fingerprints depend on the text alone, so that processes and machines agree on them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from trailhound.records import Link, Page

MAX_DISTANCE = 3
"""Bits in which fingerprints of near duplicates may differ."""

MIN_SENTENCE_WORDS = 5
"""Shorter ones are captions and slogans, which belong to the site and not to the page."""

MIN_SENTENCE_CHARS = 10
"""No sentence fits into less, whatever the script."""

MIN_PROSE_WORDS = 80
"""With fewer words in sentences, a page is told by all of its words."""

MIN_PROSE_SHARE = 0.2
"""As above, for the share of sentences in a page's words: a list's only sentence may be the
site's legal notice."""

MIN_SHARE_OUTSIDE_LINKS = 0.6
"""With a smaller share of sentences in the words outside links, the rest of these votes too. Of
the demo web's pages, no text has less."""

MIN_CHARS = 200
"""Shorter pages (frames, images, "moved", an alphabet of links) say too little to compare."""

_BLOCKS = 4
"""Fingerprints that differ in three bits agree on at least one of four blocks."""
_BLOCK_BITS = 16
_BLOCK_MASK = (1 << _BLOCK_BITS) - 1
_SHIFTS = tuple(range(0, _BLOCKS * _BLOCK_BITS, _BLOCK_BITS))

# How far behind one link the next is looked for: pages with 5,000 links must not cost a second.
_SEARCHED_CHARS = 20_000
# In characters: no language that writes blanks has longer words throughout a sentence.
_LONGEST_MEAN_WORD = 15
# Marks that end a sentence where there is no full stop: Chinese and Japanese, Hindi, Urdu.
_OTHER_FULL_STOPS = ("。", "।", "۔")


def fingerprint(page: Page) -> int | None:
    """The simhash of what a page says, from 0 to 2⁶⁴ - 1; ``None`` when it says too little."""
    words = page.text.count(" ") + 1
    pieces = list(_pieces(_between_links(page.text, page.links)))
    sentences = [(piece.text, piece.weight) for piece in pieces if piece.is_sentence]
    prose_words = sum(weight for _, weight in sentences)
    if prose_words >= max(MIN_PROSE_WORDS, MIN_PROSE_SHARE * words):
        outside_links = sum(piece.weight for piece in pieces)
        if prose_words >= MIN_SHARE_OUTSIDE_LINKS * outside_links:
            return _simhash(sentences)
        return _simhash([(piece.text, piece.weight) for piece in pieces])
    if len(page.text) < MIN_CHARS:
        return None
    return int.from_bytes(_hash(page.text), "big")


def _between_links(text: str, links: Iterable[Link]) -> Iterator[str]:
    """The stretches of ``text`` before, between and behind the words of links."""
    position = 0
    for link in links:
        end = position + _SEARCHED_CHARS
        found = text.find(link.anchor, position, end) if link.anchor else -1
        if found >= 0:
            yield text[position:found]
            position = found + len(link.anchor)
    yield text[position:]


class _Piece(NamedTuple):
    text: str
    weight: int
    """Its number of words."""
    is_sentence: bool


def _pieces(stretches: Iterable[str]) -> Iterator[_Piece]:
    """The sentences that are complete within a stretch, and whatever else is there.

    Questions and exclamations go with the sentence behind them: it is enough that copies of a text
    are cut alike.
    """
    for stretch in stretches:
        # What follows the last full stop is not a sentence.
        *complete, rest = _cut(stretch) if len(stretch) >= MIN_SENTENCE_CHARS else (stretch,)
        for text in filter(None, map(str.strip, complete)):
            weight = _words(text)
            yield _Piece(text, weight, weight >= MIN_SENTENCE_WORDS)
        if rest := rest.strip():
            yield _Piece(rest, _words(rest), False)


def _cut(stretch: str) -> list[str]:
    """What is before, between and behind the full stops."""
    if not stretch.isascii():
        for mark in _OTHER_FULL_STOPS:
            stretch = stretch.replace(mark, ". ")
    return (stretch + " ").split(". ")


def _words(sentence: str) -> int:
    """The length in words; scripts without blanks have about two characters to a word."""
    blanks = sentence.count(" ")
    if blanks * _LONGEST_MEAN_WORD >= len(sentence) or sentence.isascii():
        return blanks + 1
    return len(sentence) // 2


def _simhash(features: Iterable[tuple[str, int]]) -> int:
    """The bits on which more than half of the weight agrees."""
    texts, weights = zip(*features, strict=True)
    hashes = np.frombuffer(b"".join(map(_hash, texts)), np.uint8).reshape(-1, 8)
    votes = np.array(weights, np.float32) @ np.unpackbits(hashes, axis=1)
    return int.from_bytes(np.packbits(2 * votes > sum(weights)).tobytes(), "big")


def _hash(feature: str) -> bytes:
    return blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()


class NearDuplicates:
    """Fingerprints of the pages seen so far, each with a number of the caller's.

    Finding is exact up to ``MAX_DISTANCE`` bits. Looking a page up compares it with those that
    share one of its four blocks: 61 out of a million.
    """

    def __init__(self) -> None:
        self._fingerprints = array("Q")
        self._numbers = array("Q")
        # For each block, from its bits to the positions of the fingerprints that have them.
        self._tables: tuple[dict[int, array[int]], ...] = tuple({} for _ in _SHIFTS)

    def __len__(self) -> int:
        """Number of different fingerprints."""
        return len(self._fingerprints)

    def find(self, fingerprint: int) -> int | None:
        """The number of the page nearest to ``fingerprint``, ``None`` when none is near.

        Among equally near ones it is the smallest number.
        """
        nearest = min(self._near(fingerprint, MAX_DISTANCE), default=None)
        return None if nearest is None else nearest[1]

    def add(self, fingerprint: int, number: int) -> None:
        """Remember a page. Of pages with one fingerprint, the first counts."""
        if any(self._near(fingerprint, 0)):
            return
        position = len(self._fingerprints)
        self._fingerprints.append(fingerprint)
        self._numbers.append(number)
        for table, shift in zip(self._tables, _SHIFTS, strict=True):
            block = fingerprint >> shift & _BLOCK_MASK
            if block in table:
                table[block].append(position)
            else:
                table[block] = array("I", [position])

    def to_bytes(self) -> bytes:
        """The index as it can be stored: 16 bytes a page, little-endian."""
        return np.array([self._fingerprints, self._numbers], dtype="<u8").T.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> NearDuplicates:
        """The index that :meth:`to_bytes` gave."""
        index = cls()
        for fingerprint, number in np.frombuffer(data, "<u8").reshape(-1, 2).tolist():
            index.add(fingerprint, number)
        return index

    def _near(self, fingerprint: int, most: int) -> Iterator[tuple[int, int]]:
        """Distance and number of each page within ``most`` bits; some come more than once."""
        for table, shift in zip(self._tables, _SHIFTS, strict=True):
            for position in table.get(fingerprint >> shift & _BLOCK_MASK, ()):
                distance = (self._fingerprints[position] ^ fingerprint).bit_count()
                if distance <= most:
                    yield distance, self._numbers[position]
