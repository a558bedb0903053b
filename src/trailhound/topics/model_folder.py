"""Models on disk: JSON and npz, readable without running any code.

::

    model.json                 format, version, parameters, judge, origin, and the list of parts
    graph-CHECKSUM.json        visited pages with their terms and links, edges, targets
    vocabulary-CHECKSUM.json   terms in the order of the arrays
    arrays-CHECKSUM.npz        idf, latent space, clusters, levels, A and B

Parts are named after their content and ``model.json`` is replaced last, in one step: whoever reads
meets the old model or the new one, whatever happens in between.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.errors import UNREADABLE, ModelError
from trailhound.models.hop_hmm import HopHMM
from trailhound.models.judge_figures import JudgeCalibration
from trailhound.models.topic_model import TopicModel, TopicParameters
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.storage.files import write_whole
from trailhound.text.lsi import LatentSpace
from trailhound.text.tfidf import TermWeights
from trailhound.topics.learned import LearnedTopic, Origin

FORMAT_NAME = "trailhound-model"
FORMAT_VERSION = 1
MANIFEST = "model.json"

_ENDINGS = {"graph": "json", "vocabulary": "json", "arrays": "npz"}
_FLOATS = {
    "idf": np.float64,
    "term_vectors": np.float32,
    "singular_values": np.float64,
    "coordinates": np.float32,
    "transition": np.float64,
    "emission": np.float64,
}
_INTEGERS = ("clusters", "levels")
LEARN_AGAIN = "Learn the topic again with: trailhound learn TOPIC"
"""The files of a model do not say whose it is; who asked for it may."""


class _Format(msgspec.Struct):
    """What every version of the manifest begins with."""

    format: str
    version: int


class _Part(msgspec.Struct):
    """One file of the model."""

    file: str
    sha256: str


class _Manifest(msgspec.Struct):
    format: str
    version: int
    origin: Origin
    parameters: TopicParameters
    literal: bool
    variance_share: float
    judge: JudgeCalibration
    parts: dict[str, _Part]
    judges: dict[str, JudgeCalibration] = {}
    """Missing in older models, whose only judge was the cosine."""


def save_model(learned: LearnedTopic, folder: Path) -> None:
    """Write a model; an older one in ``folder`` is replaced in one step."""
    *parts, manifest = _files_of(learned).items()
    for name, content in (*parts, manifest):
        write_whole(folder / name, content)
    _remove_others(folder, {name for name, _ in parts})


def fingerprint_of(learned: LearnedTopic) -> str:
    """Another one for another model: the checksum that its manifest has or would have on disk."""
    return hashlib.sha256(_files_of(learned)[MANIFEST]).hexdigest()


def saved_fingerprint(folder: Path) -> str:
    """Of the model in a folder; empty when there is none."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return ""
    return hashlib.sha256(_read(manifest, "There is no model")).hexdigest()


def _files_of(learned: LearnedTopic) -> dict[str, bytes]:
    """What is in the folder, by name of the file; the manifest comes last."""
    model = learned.model
    contents = {
        "graph": encode_graph(model.graph),
        "vocabulary": encode_vocabulary(model.weights),
        "arrays": encode_arrays(model),
    }
    parts = {name: _part(name, content) for name, content in contents.items()}
    manifest = _Manifest(
        format=FORMAT_NAME,
        version=FORMAT_VERSION,
        origin=learned.origin,
        parameters=model.parameters,
        literal=model.hmm.literal,
        variance_share=model.space.variance_share,
        judge=learned.judge,
        judges=dict(learned.judges),
        parts=parts,
    )
    files = {parts[name].file: content for name, content in contents.items()}
    return files | {MANIFEST: msgspec.json.format(msgspec.json.encode(manifest), indent=1)}


def load_model(folder: Path) -> LearnedTopic:
    """Read a model back; ModelError says which file is missing, damaged or too new."""
    manifest = _read_manifest(folder / MANIFEST)
    contents = {name: _read_part(folder, manifest, name) for name in _ENDINGS}
    try:
        model = _assemble(manifest, contents)
        return LearnedTopic(model, manifest.judge, manifest.origin, manifest.judges)
    except DamagedPartError as error:
        part = manifest.parts[error.part].file
        raise ModelError(
            f"The model file {folder / part} is damaged: {error.reason}. {LEARN_AGAIN}"
        ) from error


def _assemble(manifest: _Manifest, contents: dict[str, bytes]) -> TopicModel:
    graph = decode_graph(contents["graph"])
    vocabulary = decode_vocabulary(contents["vocabulary"])
    judges = (manifest.judge, *manifest.judges.values())
    if any(len(judge.scores) != len(graph.pages) for judge in judges):
        raise DamagedPartError("graph", "it does not fit the judge's scores")
    arrays = decode_arrays(contents["arrays"], len(graph.pages), len(vocabulary))
    return TopicModel(
        parameters=manifest.parameters,
        graph=graph,
        weights=TermWeights(vocabulary, arrays["idf"]),
        space=LatentSpace(
            arrays["term_vectors"],
            arrays["singular_values"],
            arrays["coordinates"],
            manifest.variance_share,
        ),
        clusters=arrays["clusters"],
        levels=arrays["levels"],
        hmm=HopHMM(arrays["transition"], arrays["emission"], manifest.literal),
    )


def _part(name: str, content: bytes) -> _Part:
    digest = hashlib.sha256(content).hexdigest()
    return _Part(f"{name}-{digest[:12]}.{_ENDINGS[name]}", digest)


def _remove_others(folder: Path, kept: set[str]) -> None:
    """Parts of the model that was here before."""
    for name, ending in _ENDINGS.items():
        for path in folder.glob(f"{name}-*.{ending}"):
            if path.name not in kept:
                with contextlib.suppress(OSError):
                    path.unlink()


def _read_manifest(path: Path) -> _Manifest:
    content = _read(path, "There is no model")
    try:
        found = msgspec.json.decode(content, type=_Format)
        _check_format(found, path)
        manifest = msgspec.json.decode(content, type=_Manifest)
    except UNREADABLE as error:
        raise ModelError(f"The model file {path} is damaged: {error}. {LEARN_AGAIN}") from error
    missing = sorted(_ENDINGS.keys() - manifest.parts.keys())
    if missing:
        raise ModelError(
            f"The model file {path} is damaged: it does not name its part '{missing[0]}'. "
            f"{LEARN_AGAIN}"
        )
    return manifest


def _check_format(found: _Format, path: Path) -> None:
    if found.format != FORMAT_NAME:
        raise ModelError(
            f"{path} is not a Trailhound model: its format is '{found.format}'. "
            "Name the folder of a topic that was learned."
        )
    if found.version > FORMAT_VERSION:
        raise ModelError(
            f"The model {path} has format version {found.version}, and this Trailhound reads up to "
            f"version {FORMAT_VERSION}. Upgrade Trailhound, or learn the topic again with this one."
        )
    if found.version < 1:
        raise ModelError(f"The model {path} has a version that never existed. {LEARN_AGAIN}")


def _read_part(folder: Path, manifest: _Manifest, name: str) -> bytes:
    part = manifest.parts[name]
    if part.file != f"{name}-{part.sha256[:12]}.{_ENDINGS[name]}":
        raise ModelError(
            f"The model file {folder / MANIFEST} is damaged: it names '{part.file}' as its part "
            f"'{name}'. {LEARN_AGAIN}"
        )
    path = folder / part.file
    content = _read(path, "The model is incomplete: there is no file")
    if hashlib.sha256(content).hexdigest() != part.sha256:
        raise ModelError(
            f"The model file {path} is damaged: its checksum is wrong. "
            f"Copy it again from where it came, or learn the topic again."
        )
    return content


def _read(path: Path, when_missing: str) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ModelError(f"{when_missing} {path}. {LEARN_AGAIN}") from error
    except OSError as error:
        raise ModelError(
            f"The model file {path} cannot be read: {error.strerror or error}. "
            "Check that you may read it."
        ) from error


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
    except UNREADABLE as error:
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
    except UNREADABLE as error:
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
