"""Two logistic models of links, over the same description: is it wanted, does it lead there?

With features x, words t (each field of length one) and weights of both, the margin of a link is
``f = w · x + v · t``, and over all examples i of weight s_i and label y_i in [0, 1] ::

    |w - w₀|² / 2 + |v|² / 2 + Σ_i s_i (log(1 + exp f_i) - y_i f_i)

is made least by a few steps (:func:`descend`) from where the last fit ended. w₀ are the weights
that are right before anything was learned.

The first model's label is the relevance of the page behind the link, its answer the chance p to be
wanted. The second's label tells how many relevant pages that page has links to in turn, h of at
most H, and counts the more the more of them were fetched, ``seen / (seen + 3)``. Its answer q
stands for m finds behind the page ::

    q = log(1 + h) / log(1 + H),    m = (1 + H)^q - 1

A link is worth the logarithm of ``(p + hub m) / (1 + hub m)``: the finds that come of it for each
request, if ``hub`` of those behind it are asked for.

What the table counts of fetched pages is more than the judge's word (:meth:`LinkModel.believed`).
"""

from __future__ import annotations

import msgspec
import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from trailhound.strategies.trail.columns import (
    Columns,
    Ids,
    Integers,
    Matrix,
    Reals,
    Vector,
    renumbered,
)
from trailhound.strategies.trail.descent import descend
from trailhound.strategies.trail.features import (
    N_FEATURES,
    NAMES,
    PRIOR_WEIGHTS,
    describe,
    hits_in_company,
)
from trailhound.strategies.trail.link_table import N_LIKE, LinkTable
from trailhound.strategies.trail.meaning import N_DIRECTIONS, N_MEANINGS
from trailhound.strategies.trail.phrases import N_NUMBERS, Weights

FIRST_STEPS = 40
STEPS = 5
LEAST_EXAMPLES = 5
MAX_EXAMPLES = 3_000
"""Fetched pages that are learned from: the newest, and those of the session."""
LEADING_BIAS = -2.0
MOST_BEHIND = 10.0
"""Finds behind one page that are counted."""
BEHIND_FOR_A_MARK = 3.0
"""The same for each mark, where there are few: little to count by was taught the judge then."""
TRUST_IN_LINKS = 0.5
"""What the links to a page have promised counts so much beside the judge's word."""
MOST_PROMISED = 2.0
"""Log odds above the mean or below that a link is heard with."""
SUREST = 0.999
"""A judge may say 0 or 1."""

_IS_BIAS = np.arange(N_FEATURES) == NAMES.index("bias")
_SCALE: Vector = np.where(_IS_BIAS, 3.0, 1.0)
"""The bias may go three times as far as others at the same cost."""
_N_NAMED = len(NAMES)
_COUNTS = ("count", "led", "sure")
_Text = sparse.csr_array


class KeptModel(msgspec.Struct, frozen=True):
    """What was learned, as it is written down: arrays as bytes."""

    heads: list[tuple[bytes, bytes, bytes]]
    """Of each model the weights of features, then numbers and weights of words."""
    labels: bytes
    rows: bytes
    lengths: bytes
    words: bytes
    weights: bytes
    names: tuple[str, ...] = ()
    """Of the features."""
    counts: bytes = b""
    """Of each example how much it counts, whether it led to what is wanted, and how sure that is.

    Three numbers one after the other; records of an earlier version have none.
    """
    basis: int = 0
    """Of what words mean: the numbers behind the names, in rows and weights; 0 for none."""


class Head:
    """The weights of one model."""

    def __init__(self, prior: Vector) -> None:
        self.prior = prior
        self.weights = prior.copy()
        self.words = np.zeros(N_NUMBERS, np.float32)

    def fit(
        self, rows: Matrix, text: _Text, columns: Integers, labels: Vector, counts: Vector
    ) -> None:
        """Learn from examples, ``counts`` times each; ``columns`` are the numbers of words."""
        d = rows.shape[1]
        scaled, fixed, across = rows * _SCALE, rows @ self.prior, text.T

        def loss(parameters: Vector) -> tuple[float, Vector]:
            margins = fixed + scaled @ parameters[:d] + text @ parameters[d:]
            value = counts @ (np.logaddexp(0, margins) - labels * margins)
            slopes = counts * (expit(margins) - labels)
            gradient = np.concatenate([scaled.T @ slopes, across @ slopes]) + parameters
            return float(value + parameters @ parameters / 2), gradient

        start = np.concatenate([(self.weights - self.prior) / _SCALE, self.words[columns]])
        chances = expit(fixed + scaled @ start[:d] + text @ start[d:])
        bends = counts * chances * (1 - chances)
        squares = np.concatenate([(scaled**2).T @ bends, across.power(2) @ bends])
        steps = STEPS if self.words.any() else FIRST_STEPS
        found = descend(loss, start, 1 + squares, steps)
        self.weights = self.prior + _SCALE * found[:d]
        self.words[:] = 0.0
        self.words[columns] = found[d:]


class LinkModel:
    """Learns from how links were described and turned out; says what others are worth."""

    def __init__(self, table: LinkTable, hub: float, basis: int, marks: int) -> None:
        self.table = table
        self._basis = basis
        """Of the vectors that say what words mean."""
        self.hub = hub
        """Of the relevant pages behind a page, how many it is credited with."""
        self._most_behind = min(MOST_BEHIND, BEHIND_FOR_A_MARK * max(marks, 1))
        leading = np.where(_IS_BIAS, LEADING_BIAS, 0.0)
        self.wanted, self.leading = Head(PRIOR_WEIGHTS), Head(leading)
        self._examples = Columns(
            {"node": "i4", "label": "f8", "row": "f8", "first_word": "i4", "n_words": "i4"}
            | {"count": "f8", "led": "f8", "sure": "f8"},
            fill={"count": 1},
            row=N_FEATURES,
        )
        self._words = Columns({"number": "i4", "weight": "f4"})
        self._from_session = 0

    def add(self, node: int, label: float, row: Vector) -> None:
        """An example: what a link was described as, with its words as they are now."""
        numbers, weights = self.table.words_of(node)
        self.add_described(node, label, row, numbers, weights)

    def add_described(
        self, node: int, label: float, row: Reals, numbers: Integers, weights: Reals
    ) -> None:
        """An example whose words are given; ``node`` is -1 where the page is not known."""
        place, start = self._examples.add(), self._words.add(len(numbers))
        self._words["number"][start : self._words.size] = numbers
        self._words["weight"][start : self._words.size] = weights
        examples = self._examples
        examples["node"][place], examples["label"][place] = node, label
        examples["row"][place] = row
        examples["first_word"][place], examples["n_words"][place] = start, len(numbers)

    def end_session(self) -> None:
        """The examples so far are those of the session; they stay."""
        self._from_session = self._examples.size
        self.fit()

    def renumber(self, numbers: Ids) -> None:
        """Follow the table in what it has forgotten."""
        nodes = self._examples["node"]
        nodes[: self._examples.size] = renumbered(nodes[: self._examples.size], numbers)

    def fit(self) -> None:
        """Learn from all examples; the links at hand are read anew."""
        if self._examples.size > MAX_EXAMPLES:
            self._forget_examples()
        if self._examples.size < LEAST_EXAMPLES:
            return
        examples, n = self._examples, self._examples.size
        numbers, weights = (self._words[name][: self._words.size] for name in ("number", "weight"))
        columns, compact = _common(numbers)
        ends = np.append(examples["first_word"][:n], self._words.size)
        known = np.append(0, np.cumsum(compact >= 0))
        weights = weights[compact >= 0].astype(np.float64)
        text = sparse.csr_array((weights, compact[compact >= 0], known[ends]), (n, len(columns)))
        rows, labels = examples["row"][:n], examples["label"][:n]
        self.wanted.fit(rows, text, columns, labels, examples["count"][:n])
        self._see_where_they_led()
        sure = examples["count"][:n] * examples["sure"][:n]
        read = np.flatnonzero(sure)
        if self.hub and len(read) >= LEAST_EXAMPLES:
            led = examples["led"][:n]
            self.leading.fit(rows[read], text[read], columns, led[read], sure[read])
        self._read_anew()

    def _see_where_they_led(self) -> None:
        """What came of the links of pages at hand; of others, what was last known stays."""
        examples, n = self._examples, self._examples.size
        node = examples["node"][:n]
        pages = np.where(node >= 0, self.table.nodes["page"][np.maximum(node, 0)], -1)
        read = np.flatnonzero(pages >= 0)
        counts = self.table.pages["counts"][pages[read]].T
        behind = np.clip(hits_in_company(counts, self.table.base_rate), 0.0, self._most_behind)
        examples["led"][read] = np.log1p(behind) / np.log1p(self._most_behind)
        examples["sure"][read] = counts[1] / (counts[1] + 3)

    def _read_anew(self) -> None:
        self.table.phrases.sum_up(0, models=self.tables)
        self.read(0, self.table.links.size)

    def _forget_examples(self) -> None:
        size = self._examples.size
        oldest = self._from_session + (size - self._from_session) // 2
        places = np.arange(size)
        kept = (places < self._from_session) | (places >= oldest)
        lengths = self._examples["n_words"][:size]
        self._words.keep(np.repeat(kept, lengths))
        self._examples.keep(kept)
        lengths = self._examples["n_words"][: self._examples.size]
        self._examples["first_word"][: self._examples.size] = np.cumsum(lengths) - lengths

    @property
    def tables(self) -> list[Weights]:
        """What each word adds to a phrase's column ``models``."""
        return [self.wanted.words, self.leading.words]

    def read(self, first: int, last: int) -> None:
        """What the phrases of some links say together."""
        links, said = self.table.links, self.table.phrases.columns["models"]
        read = links["phrases"][first:last].T
        links["words"][first:last, N_LIKE:] = sum(said.take(field, axis=0) for field in read)

    def score(self, nodes: Ids) -> Vector:
        """The logarithm of the finds that come of each address, for each request."""
        return self._score(*describe(self.table, nodes))[0]

    def _score(self, rows: Matrix, words: Matrix) -> tuple[Vector, Vector]:
        """The same of what was described, and p."""
        wanted = np.maximum(expit(rows @ self.wanted.weights + words[:, 0]), 1e-9)
        if not self.hub:
            return np.log(wanted), wanted
        leading = expit(rows @ self.leading.weights + words[:, 1])
        asked = self.hub * np.expm1(np.log1p(self._most_behind) * leading)
        return np.log((wanted + asked) / (1 + asked)), wanted

    def score_and_parts(self, rows: Matrix, words: Matrix) -> tuple[Vector, Matrix]:
        """The same of what was described, and what moved it.

        That is each feature by its weight, what the words mean near the link and around it, the
        words themselves, and the part of q.
        """
        score, wanted = self._score(rows, words)
        named, meant = rows[:, :_N_NAMED], rows[:, _N_NAMED:]
        weights = self.wanted.weights
        meant = (meant * weights[_N_NAMED:]).reshape(len(rows), 2, N_DIRECTIONS).sum(axis=2)
        parts = named * weights[:_N_NAMED], meant, words[:, 0], score - np.log(wanted)
        return score, np.column_stack(parts)

    def believed(self, judged: float, row: Vector, words: Vector) -> float:
        """How relevant a page is taken to be, by the judge and by how its links were described.

        Two views of one page that hardly share their mistakes: its odds are the judge's, times what
        its links promised above the mean to the power of ``TRUST_IN_LINKS``. The models learn from
        the judge's word alone, so that none is its own teacher.
        """
        promised = row @ self.wanted.weights + words[0] - logit(self.table.base_rate)
        heard = TRUST_IN_LINKS * np.clip(promised, -MOST_PROMISED, MOST_PROMISED)
        return float(expit(logit(np.clip(judged, 1 - SUREST, SUREST)) + heard))

    def keep(self) -> KeptModel:
        """All that was learned on the way."""
        self._see_where_they_led()
        first, examples, words = self._from_session, self._examples, self._words
        span = slice(first, examples.size)
        start = slice(int(examples["n_words"][:first].sum()), words.size)
        counts = np.column_stack([examples[name][span] for name in _COUNTS])
        width = _width(_N_NAMED, self._basis)
        return KeptModel(
            [_kept_head(head, width) for head in (self.wanted, self.leading)],
            examples["label"][span].tobytes(),
            examples["row"][span, :width].astype("f4").tobytes(),
            examples["n_words"][span].tobytes(),
            words["number"][start].tobytes(),
            words["weight"][start].tobytes(),
            NAMES,
            counts.astype("f4").tobytes(),
            self._basis,
        )

    def take(self, kept: KeptModel) -> None:
        """Go on from what was kept; ValueError when it does not fit together."""
        heads = self._kept_heads(kept)
        self._take_examples(kept)
        self.wanted, self.leading = heads
        self._read_anew()

    def inherit(self, kept: KeptModel, *, in_full: bool) -> None:
        """Begin with the examples of an earlier crawl behind those of the session.

        Unless ``in_full`` they have no more of a say, together, than the session's own, and
        weights are found from there; ValueError when they do not fit together.
        """
        heads = self._kept_heads(kept)
        n = self._take_examples(kept)
        if in_full:
            self.wanted, self.leading = heads
        else:
            share = min(1.0, self._from_session / max(n, 1))
            self._examples["count"][self._from_session : self._examples.size] *= share
        self.fit()

    def _kept_heads(self, kept: KeptModel) -> list[Head]:
        if kept.names != NAMES[: len(kept.names)]:
            raise ValueError("links were described by other features")
        heads = []
        for head, (weights, numbers, words) in zip(
            (self.wanted, self.leading), kept.heads, strict=True
        ):
            taken = Head(head.prior)
            taken.weights[:] = self._placed(kept, np.frombuffer(weights, "f8"), head.prior)
            taken.words[np.frombuffer(numbers, "i4")] = np.frombuffer(words, "f4")
            heads.append(taken)
        return heads

    def _placed(self, kept: KeptModel, numbers: Reals, otherwise: Reals) -> Reals:
        """What was kept of each feature; ``otherwise`` of those that have come since.

        What words mean by another session is left out.
        """
        known = len(kept.names) or _N_NAMED
        numbers = numbers.reshape(*otherwise.shape[:-1], _width(known, kept.basis))
        placed = otherwise.copy()
        placed[..., :known] = numbers[..., :known]
        if kept.basis and kept.basis == self._basis:
            placed[..., _N_NAMED:] = numbers[..., known:]
        return placed

    def _take_examples(self, kept: KeptModel) -> int:
        """Add what was kept; how many there were."""
        labels, lengths = np.frombuffer(kept.labels, "f8"), np.frombuffer(kept.lengths, "i4")
        unsaid = np.zeros((len(labels), N_FEATURES), np.float32)
        rows = self._placed(kept, np.frombuffer(kept.rows, "f4"), unsaid)
        numbers, weights = np.frombuffer(kept.words, "i4"), np.frombuffer(kept.weights, "f4")
        counts = np.tile([1.0, 0.0, 0.0], (len(labels), 1))
        if kept.counts:
            counts = np.frombuffer(kept.counts, "f4").reshape(len(labels), len(_COUNTS))
        ends = np.cumsum(lengths)
        n_words = int(ends[-1]) if len(ends) else 0
        if not (len(lengths) == len(labels) and len(numbers) == len(weights) == n_words):
            raise ValueError("examples of links and their words do not fit together")
        for place, end in enumerate(ends.tolist()):
            span = slice(end - int(lengths[place]), end)
            words = numbers[span], weights[span]
            self.add_described(-1, float(labels[place]), rows[place], *words)
        new = slice(self._examples.size - len(labels), self._examples.size)
        for name, column in zip(_COUNTS, counts.T, strict=True):
            self._examples[name][new] = column
        return len(labels)


def _common(numbers: Ids) -> tuple[Integers, Integers]:
    """The numbers that come twice or more, and each one's place among them or -1.

    A word of one example alone could only learn that example by heart.
    """
    ordered = np.sort(numbers)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    columns = again[np.diff(again, prepend=-1) > 0]
    places = np.zeros(N_NUMBERS, np.int32)
    places[columns] = np.arange(1, len(columns) + 1)
    return columns, places[numbers] - 1


def _width(known: int, basis: int) -> int:
    """Numbers in a row, of which so many are of features with names."""
    return known + (N_MEANINGS if basis else 0)


def _kept_head(head: Head, width: int) -> tuple[bytes, bytes, bytes]:
    used = np.flatnonzero(head.words).astype("i4")
    return head.weights[:width].tobytes(), used.tobytes(), head.words[used].tobytes()
