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
from pathlib import Path

import msgspec

from trailhound.errors import ModelError
from trailhound.models.hop_hmm import HopHMM
from trailhound.models.judge_figures import JudgeCalibration
from trailhound.models.topic_model import TopicModel, TopicParameters
from trailhound.storage.files import write_whole
from trailhound.text.lsi import LatentSpace
from trailhound.text.tfidf import TermWeights
from trailhound.workspace.learned import LearnedTopic, Origin
from trailhound.workspace.model_parts import (
    DamagedPartError,
    decode_arrays,
    decode_graph,
    decode_vocabulary,
    encode_arrays,
    encode_graph,
    encode_vocabulary,
)

FORMAT_NAME = "trailhound-model"
FORMAT_VERSION = 1
MANIFEST = "model.json"

_ENDINGS = {"graph": "json", "vocabulary": "json", "arrays": "npz"}
_LEARN_AGAIN = "Learn the topic again with: trailhound learn TOPIC"


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
    model = learned.model
    contents = {
        "graph": encode_graph(model.graph),
        "vocabulary": encode_vocabulary(model.weights),
        "arrays": encode_arrays(model),
    }
    parts = {name: _part(name, content) for name, content in contents.items()}
    for name, content in contents.items():
        write_whole(folder / parts[name].file, content)
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
    write_whole(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    _remove_others(folder, {part.file for part in parts.values()})


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
            f"The model file {folder / part} is damaged: {error.reason}. {_LEARN_AGAIN}"
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
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ModelError(f"The model file {path} is damaged: {error}. {_LEARN_AGAIN}") from error
    missing = sorted(_ENDINGS.keys() - manifest.parts.keys())
    if missing:
        raise ModelError(
            f"The model file {path} is damaged: it does not name its part '{missing[0]}'. "
            f"{_LEARN_AGAIN}"
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
        raise ModelError(f"The model {path} has a version that never existed. {_LEARN_AGAIN}")


def _read_part(folder: Path, manifest: _Manifest, name: str) -> bytes:
    part = manifest.parts[name]
    if part.file != f"{name}-{part.sha256[:12]}.{_ENDINGS[name]}":
        raise ModelError(
            f"The model file {folder / MANIFEST} is damaged: it names '{part.file}' as its part "
            f"'{name}'. {_LEARN_AGAIN}"
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
        raise ModelError(f"{when_missing} {path}. {_LEARN_AGAIN}") from error
    except OSError as error:
        raise ModelError(
            f"The model file {path} cannot be read: {error.strerror or error}. "
            "Check that you may read it."
        ) from error
