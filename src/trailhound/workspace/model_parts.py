"""The parts of a model as bytes, and back, with everything checked that a reader relies on."""

from __future__ import annotations

import io
import sys
import zipfile
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.models.topic_model import TopicModel
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.text.tfidf import TermWeights

_FLOATS = {
    "idf": np.float64,
    "term_vectors": np.float32,
    "singular_values": np.float64,
    "coordinates": np.float32,
    "transition": np.float64,
    "emission": np.float64,
}
_INTEGERS = ("clusters", "levels")


class DamagedPartError(Exception):
    """A part does not hold what it should."""

    def __init__(self, part: str, reason: str) -> None:
        super().__init__(f"{part}: {reason}")
        self.part = part
        self.reason = reason


class _Graph(msgspec.Struct):
    """A page graph as it is stored."""

    pages: tuple[Page, ...]
    edges: tuple[tuple[int, int], ...]
    targets: tuple[int, ...]
    rejected: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()


def encode_graph(graph: PageGraph) -> bytes:
    """The page graph as JSON."""
    stored = _Graph(
        graph.pages,
        graph.edges,
        tuple(sorted(graph.targets)),
        tuple(sorted(graph.rejected)),
        graph.starts,
    )
    return msgspec.json.encode(stored)


def decode_graph(content: bytes) -> PageGraph:
    """The page graph, its numbers checked."""
    try:
        stored = msgspec.json.decode(content, type=_Graph)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamagedPartError("graph", str(error)) from error
    numbers = {number for edge in stored.edges for number in edge}
    numbers.update(stored.targets, stored.rejected, stored.starts)
    if numbers and not (min(numbers) >= 0 and max(numbers) < len(stored.pages)):
        raise DamagedPartError("graph", "it names pages that it does not hold")
    return PageGraph(
        stored.pages,
        stored.edges,
        frozenset(stored.targets),
        frozenset(stored.rejected),
        stored.starts,
    )


def encode_vocabulary(weights: TermWeights) -> bytes:
    """The terms in the order of their columns."""
    return msgspec.json.encode(sorted(weights.vocabulary, key=weights.vocabulary.__getitem__))


def decode_vocabulary(content: bytes) -> dict[str, int]:
    """Term to column."""
    try:
        terms = msgspec.json.decode(content, type=list[str])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamagedPartError("vocabulary", str(error)) from error
    # Interned, as the terms of pages are: looking one up then compares no letters.
    vocabulary = {sys.intern(term): column for column, term in enumerate(terms)}
    if len(vocabulary) != len(terms):
        raise DamagedPartError("vocabulary", "it holds a term twice")
    return vocabulary


def encode_arrays(model: TopicModel) -> bytes:
    """All arrays as npz. Their order in memory is kept too: sums then come out to the last bit."""
    buffer = io.BytesIO()
    np.savez(
        buffer,
        idf=model.weights.idf,
        term_vectors=model.space.term_vectors,
        singular_values=model.space.singular_values,
        coordinates=model.space.coordinates,
        clusters=model.clusters,
        levels=model.levels,
        transition=model.hmm.transition,
        emission=model.hmm.emission,
    )
    return buffer.getvalue()


def decode_arrays(content: bytes, n_pages: int, n_terms: int) -> dict[str, NDArray[Any]]:
    """The arrays by name, their types, shapes and ranges checked."""
    arrays = _read_arrays(content)
    _check_types(arrays)
    _check_shapes(arrays, n_pages, n_terms)
    n_states, n_observations = arrays["emission"].shape
    for name, size in (("clusters", n_observations), ("levels", n_states)):
        values = arrays[name]
        if values.size and not (values.min() >= 0 and values.max() < size):
            raise DamagedPartError("arrays", f"'{name}' is out of range")
    return arrays


def _read_arrays(content: bytes) -> dict[str, NDArray[Any]]:
    names = (*_FLOATS, *_INTEGERS)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            return {name: stored[name] for name in names}
    except KeyError as error:
        raise DamagedPartError("arrays", f"it lacks {error}") from error
    except (ValueError, OSError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        raise DamagedPartError("arrays", str(error) or type(error).__name__) from error


def _check_types(arrays: dict[str, NDArray[Any]]) -> None:
    for name, kind in _FLOATS.items():
        if arrays[name].dtype != kind or not np.isfinite(arrays[name]).all():
            raise DamagedPartError("arrays", f"'{name}' does not hold finite {kind.__name__}")
    for name in _INTEGERS:
        if arrays[name].dtype != np.int64:
            raise DamagedPartError("arrays", f"'{name}' does not hold int64")


def _check_shapes(arrays: dict[str, NDArray[Any]], n_pages: int, n_terms: int) -> None:
    rank = len(np.atleast_1d(arrays["singular_values"]))
    n_states = len(np.atleast_1d(arrays["transition"]))
    n_observations = np.atleast_2d(arrays["emission"]).shape[1]
    expected = {
        "idf": (n_terms,),
        "term_vectors": (n_terms, rank),
        "singular_values": (rank,),
        "coordinates": (n_pages, rank),
        "clusters": (n_pages,),
        "levels": (n_pages,),
        "transition": (n_states, n_states),
        "emission": (n_states, n_observations),
    }
    for name, shape in expected.items():
        if arrays[name].shape != shape:
            reason = f"'{name}' has shape {arrays[name].shape} where {shape} is needed"
            raise DamagedPartError("arrays", reason)
