"""The texts of links, each held once: most links of a site repeat what others say.

An anchor, an address, the words around a link, a heading, a tag path, a title: each distinct text
of a field is a *phrase* with a number of its own. Its words are found out when it is first seen.

A word is a number, too: a checksum of the term, mixed with one of the field, as a word means
something else in an anchor than in an address, and cut to ``N_BITS``. Terms that meet in one number
share a weight; with a few thousand in use that is rare.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain, filterfalse
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trailhound.strategies.trail.columns import Columns, Flags, Ids, Vector, stretches
from trailhound.text.tokens import END_OF_LINE, MEMO_BYTES, chunk_lines, terms_by_chunk

N_BITS = 18
N_NUMBERS = 1 << N_BITS
MAX_WORDS = 30
"""Of one phrase."""
MANY_WORDS = 10_000
"""From so many on, making a sparse matrix of them pays."""
FIELD_WEIGHTS = {
    "anchor": 1.0,
    "address": 0.7,
    "context": 0.7,
    "heading": 0.5,
    "title": 0.5,
    "place": 0.5,
}
FIELDS = tuple(FIELD_WEIGHTS)
Weights = NDArray[np.float32]
"""Of words, by their numbers."""
Sums = NDArray[np.uint32]

# The words of a long session, and those of links: 14 MB. A full memo starts afresh.
_MEMO_SIZE = 100_000
_MASK = np.uint32(N_NUMBERS - 1)
_END = np.uint32(N_NUMBERS)
_WEIGHTS = np.array(list(FIELD_WEIGHTS.values()))
_SALTS = np.array([crc32(field.encode()) for field in FIELDS], np.uint32) & _MASK


class _Checksums(dict[bytes, bytes]):
    """Of the terms in chunks of text, four bytes each, one after the other."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._terms = terms_by_chunk(language)
        self._begin()

    def _begin(self) -> None:
        self.clear()
        self[END_OF_LINE] = _END.tobytes()

    def __missing__(self, chunk: bytes) -> bytes:
        if len(self) >= _MEMO_SIZE:
            self._begin()
        found = b"".join(map(_packed_sum, self._terms[chunk].split()))
        if len(chunk) <= MEMO_BYTES:
            self[chunk] = found
        return found


def checksums(terms: Iterable[str]) -> Sums:
    """By which words are numbered, whatever their field."""
    return np.array(list(map(_checksum, terms)), np.uint32)


def _checksum(term: str) -> int:
    return crc32(term.encode("utf-8", "replace")) & (N_NUMBERS - 1)


def _packed_sum(term: str) -> bytes:
    return _checksum(term).to_bytes(4, sys.byteorder)


def numbers(field: str, sums: Sums) -> Sums:
    """Of words in a field, given the checksums of their terms."""
    return np.asarray(sums ^ _SALTS[FIELDS.index(field)])


@cache
def _checksums_of(language: str) -> _Checksums:
    return _Checksums(language)


def word_sums(texts: list[str], language: str) -> tuple[Sums, Ids]:
    """Checksums of the words of all texts, and how many each has."""
    chunks = chunk_lines([text.replace("\n", " ") for text in texts], language) if texts else []
    sums = np.frombuffer(b"".join(map(_checksums_of(language).__getitem__, chunks)), np.uint32)
    is_word = sums != _END
    lengths = np.flatnonzero(~is_word)
    lengths[1:] -= lengths[:-1] + 1
    return sums[is_word], lengths


def _read(texts: list[str], language: str) -> tuple[Sums, Ids]:
    """The same of the first words of each."""
    sums, lengths = word_sums(texts, language)
    if lengths.max(initial=0) > MAX_WORDS:
        sums = sums[stretches(np.zeros(len(texts), np.int64), lengths) < MAX_WORDS]
        lengths = np.minimum(lengths, MAX_WORDS)
    return sums, lengths


def _sums_of_few(words: Ids, lengths: Ids, tables: list[Weights]) -> Weights:
    """For each table a row: the sums of what it has for so many words at a time."""
    places = words.astype(np.intp)
    values = np.array([table.take(places) for table in tables])
    sums = np.zeros((len(tables), len(lengths)), np.float32)
    said = lengths > 0
    starts = (np.cumsum(lengths) - lengths)[said]
    if len(starts):
        sums[:, said] = np.add.reduceat(values, starts, axis=1)
    return sums


def _sums_of_many(words: Ids, lengths: Ids, tables: list[Weights]) -> Weights:
    """The same."""
    ends = np.append(0, np.cumsum(lengths))
    ones = np.ones(len(words), np.float32)
    text = sparse.csr_array((ones, words, ends), (len(lengths), N_NUMBERS))
    return np.array([text @ table for table in tables])


class Phrases:
    """All phrases that the links at hand are made of."""

    def __init__(self) -> None:
        self.columns = Columns(
            {"first_word": "i4", "n_words": "i4", "weight": "f4", "likeness": "f4", "models": "f4"},
            likeness=3,
            models=2,
        )
        """``weight`` is that of each word: of the field, over the root of the phrase's length.

        ``likeness`` are sums that :class:`WantedWords` makes of the words, ``models`` is what the
        two models say of them, each word by its weight.
        """
        self.words = Columns({"number": "i4"})
        self._known: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)

    def find(self, texts: Mapping[str, list[str]], language: str) -> list[list[int]]:
        """The phrases of texts by field, in the order of ``FIELDS``.

        Those that are new come last in the columns.
        """
        known = [self._known[field, language] for field in FIELDS]
        said = [texts[field] for field in FIELDS]
        new = [
            list(dict.fromkeys(filterfalse(old.__contains__, each)))
            for old, each in zip(known, said, strict=True)
        ]
        first = self._add(new, language) if any(new) else 0
        for old, fresh in zip(known, new, strict=True):
            old.update(zip(fresh, range(first, first + len(fresh)), strict=True))
            first += len(fresh)
        return [list(map(old.__getitem__, each)) for old, each in zip(known, said, strict=True)]

    def _add(self, new: list[list[str]], language: str) -> int:
        """Read the words of new phrases by field; the number of the first."""
        columns, sizes = self.columns, [len(fresh) for fresh in new]
        *spoken, places = new
        sums, lengths = _read(list(chain.from_iterable(spoken)), language)
        sums = np.append(sums, checksums(places))  # a tag path is one word
        lengths = np.append(lengths, np.ones(len(places), np.int64))
        start, first = self.words.add(len(sums)), columns.add(len(lengths))
        salts = np.repeat(np.repeat(_SALTS, sizes), lengths)
        self.words["number"][start : self.words.size] = sums ^ salts
        columns["first_word"][first : columns.size] = start + np.cumsum(lengths) - lengths
        columns["n_words"][first : columns.size] = lengths
        weights = np.repeat(_WEIGHTS, sizes) / np.sqrt(np.maximum(lengths, 1))
        columns["weight"][first : columns.size] = weights
        return first

    def sum_up(self, first: int, **tables: Iterable[Weights]) -> None:
        """Fill columns of the phrases from one on: sums over words, looked up by their numbers.

        A table for each number of a column.
        """
        lengths = self.columns["n_words"][first : self.columns.size]
        words = self.words["number"][self.words.size - int(lengths.sum()) : self.words.size]
        sum_words = _sums_of_few if len(words) < MANY_WORDS else _sums_of_many
        sums = sum_words(words, lengths, list(chain.from_iterable(tables.values()))).T
        for column in tables:
            filled = self.columns[column][first : self.columns.size]
            filled[:], sums = sums[:, : filled.shape[1]], sums[:, filled.shape[1] :]
        if "models" in tables:
            weights = self.columns["weight"][first : self.columns.size]
            self.columns["models"][first : self.columns.size] *= weights[:, None]

    def words_of(self, phrases: Ids) -> tuple[Ids, Vector]:
        """Numbers and weights of all words of some."""
        lengths = self.columns["n_words"][phrases]
        rows = stretches(self.columns["first_word"][phrases], lengths)
        return self.words["number"][rows], np.repeat(self.columns["weight"][phrases], lengths)

    def sums_of(self, phrases: Ids) -> tuple[Sums, Ids]:
        """Checksums of the words of links, and how many each phrase has.

        A row for each link, a column for each of the first fields.
        """
        lengths = self.columns["n_words"].take(phrases)
        rows = stretches(self.columns["first_word"].take(phrases).ravel(), lengths.ravel())
        salts = np.broadcast_to(_SALTS[: phrases.shape[1]], phrases.shape)
        salts = np.repeat(salts.ravel(), lengths.ravel())
        return self.words["number"].take(rows).astype(np.uint32) ^ salts, lengths

    def keep(self, used: Flags) -> Ids:
        """Forget the others; the new number of each, -1 for those."""
        lengths = self.columns["n_words"][: self.columns.size]
        self.words.keep(np.repeat(used, lengths))
        renumbered = self.columns.keep(used)
        lengths = self.columns["n_words"][: self.columns.size]
        self.columns["first_word"][: self.columns.size] = np.cumsum(lengths) - lengths
        for known in self._known.values():
            kept = {text: int(renumbered[phrase]) for text, phrase in known.items()}
            known.clear()
            known.update((text, phrase) for text, phrase in kept.items() if phrase >= 0)
        return renumbered
