"""A saved model is the model, or it is refused with the file and the reason."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from learned_topics import learned_park, park_session

from trailhound.crawling.engine import Crawler
from trailhound.demo import DemoWeb
from trailhound.demo.web import with_sources
from trailhound.errors import ModelError
from trailhound.fetching.replay import RecordedResponse, ReplayFetcher
from trailhound.frontier.memory import MemoryFrontier
from trailhound.judges.cosine import CosineJudge
from trailhound.models.hop_hmm import HopHMM
from trailhound.models.topic_model import TopicModel, TopicParameters
from trailhound.records import Candidate, CrawledPage, PageEvent, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.strategies.choosing import make_strategy
from trailhound.text.extract import extract_page
from trailhound.text.lsi import LatentSpace
from trailhound.text.tfidf import TermWeights
from trailhound.topics.learned import LearnedTopic
from trailhound.topics.model_folder import load_model, save_model

PARTS = ("graph", "vocabulary", "arrays")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_model(learned_park(), tmp_path / "model")
    return tmp_path / "model"


def part(folder: Path, name: str) -> Path:
    (found,) = folder.glob(f"{name}-*")
    return found


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "model.json").read_bytes())
    return content


def assert_same_model(one: TopicModel, other: TopicModel) -> None:
    assert one.parameters == other.parameters
    assert one.graph == other.graph
    assert list(one.weights.vocabulary.items()) == list(other.weights.vocabulary.items())
    assert one.space.variance_share == other.space.variance_share
    assert one.hmm.literal == other.hmm.literal
    for of_one, of_other in (
        (one.weights.idf, other.weights.idf),
        (one.space.term_vectors, other.space.term_vectors),
        (one.space.singular_values, other.space.singular_values),
        (one.space.coordinates, other.space.coordinates),
        (one.clusters, other.clusters),
        (one.levels, other.levels),
        (one.hmm.transition, other.hmm.transition),
        (one.hmm.emission, other.hmm.emission),
    ):
        assert of_one.dtype == of_other.dtype
        assert of_one.flags.c_contiguous == of_other.flags.c_contiguous
        assert np.array_equal(of_one, of_other)


@pytest.mark.parametrize(
    "parameters",
    [TopicParameters(), TopicParameters(n_states=3, use_lsi=False), TopicParameters(literal=True)],
)
def test_the_round_trip_is_exact(tmp_path: Path, parameters: TopicParameters) -> None:
    learned = learned_park(parameters=parameters)
    save_model(learned, tmp_path)
    loaded = load_model(tmp_path)
    assert_same_model(loaded.model, learned.model)
    assert (loaded.judge, loaded.origin) == (learned.judge, learned.origin)
    assert loaded.diagnosis == learned.diagnosis


def test_every_field_of_a_model_is_known_to_the_folder() -> None:
    # Whoever adds a field must store it as well: model_folder.py and model_parts.py.
    known = {
        TopicModel: {"parameters", "graph", "weights", "space", "clusters", "levels", "hmm"},
        PageGraph: {"pages", "edges", "targets", "rejected", "starts"},
        TermWeights: {"vocabulary", "idf"},
        LatentSpace: {"term_vectors", "singular_values", "coordinates", "variance_share"},
        HopHMM: {"transition", "emission", "literal"},
    }
    for kind, names in known.items():
        assert {field.name for field in fields(kind)} == names


class DemoRecording:
    """The demo web's answers without a server."""

    def __init__(self, web: DemoWeb) -> None:
        self._web = web

    def lookup(self, url: str) -> RecordedResponse | None:
        response = self._web.respond(url)
        content_type = response.headers.get("Content-Type", "")
        if response.status != 200 or not content_type.startswith("text/html"):
            target = response.headers.get("Location")
            return RecordedResponse(url, response.status, target, content_type=content_type)
        page = extract_page(response.body, url, content_type)
        return RecordedResponse(url, 200, page=page, content_type=content_type)


def crawl(web: DemoWeb, learned: LearnedTopic) -> list[PageEvent]:
    graph = learned.model.graph
    crawler = Crawler(
        strategy=make_strategy("hidden-markov", Briefing(graph, model=learned.model)),
        frontier=MemoryFrontier(),
        fetcher=ReplayFetcher(DemoRecording(web)),
        judge=CosineJudge.from_graph(graph, learned.judge.threshold),
        in_scope=lambda url: ".demo.test" in url,
    )
    events = crawler.run(web.start_urls, max_requests=150)
    return [msgspec.structs.replace(event, at=0.0) for event in events]


def test_a_saved_model_crawls_exactly_like_the_fresh_one(web: DemoWeb, tmp_path: Path) -> None:
    learned = learned_park(with_sources(web.sessions["bee-health"], web))
    save_model(learned, tmp_path)
    fresh, loaded = crawl(web, learned), crawl(web, load_model(tmp_path))
    assert len(fresh) > 100
    assert fresh == loaded


@pytest.mark.parametrize(
    ("spec", "n_states"),
    [
        ("hidden-markov", 3),
        ("hidden-markov:order=likeliest", 3),
        ("hidden-markov:states=5", 5),
    ],
)
def test_the_strategy_takes_the_model_unless_options_ask_for_another(
    spec: str, n_states: int
) -> None:
    learned = learned_park(parameters=TopicParameters(n_states=3))
    graph = learned.model.graph
    strategy = make_strategy(spec, Briefing(graph, model=learned.model))
    crawled = CrawledPage(graph.pages[0], Relevance(0.0, False), Candidate(graph.pages[0].url, 0.0))
    for scored in strategy.score_links(crawled):
        assert len(scored.memory) == 4 * n_states  # the belief: four bytes for each state


def test_saving_again_replaces_the_model_and_leaves_nothing_behind(saved: Path) -> None:
    other = learned_park(park_session(targets=["bee4"]))
    save_model(other, saved)
    assert_same_model(load_model(saved).model, other.model)
    assert len(list(saved.iterdir())) == 1 + len(PARTS)


def test_an_interrupted_saving_leaves_the_old_model(saved: Path) -> None:
    """Parts of a new model without its manifest, and a half-written file, change nothing."""
    before = load_model(saved)
    (saved / "graph-0123456789ab.json").write_text("half of a new gra")
    (saved / ".model.json.99.part").write_text("{")
    assert load_model(saved).diagnosis == before.diagnosis


@pytest.mark.parametrize("name", PARTS)
def test_a_flipped_bit_is_noticed_in_every_part(saved: Path, name: str) -> None:
    path = part(saved, name)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match="checksum") as raised:
        load_model(saved)
    assert path.name in str(raised.value)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("damage", ["cut", "missing", "folder"])
def test_incomplete_models_are_refused(saved: Path, name: str, damage: str) -> None:
    path = part(saved, name)
    content = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(content[:-10])
    elif damage == "folder":
        path.mkdir()
    with pytest.raises(ModelError) as raised:
        load_model(saved)
    assert path.name in str(raised.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "damaged"),
        (b"\xff\xfe{}", "damaged"),
        (b'{"some": "json"}', "damaged"),
        (b'{"format": "trailhound-model", "version": 1}', "damaged"),
        (b'{"format": "other", "version": 1}', "not a Trailhound model"),
        (b'{"format": "trailhound-model", "version": 2}', "Upgrade Trailhound"),
        (b'{"format": "trailhound-model", "version": 0}', "never existed"),
    ],
)
def test_a_strange_manifest_is_refused(saved: Path, content: bytes, reason: str) -> None:
    (saved / "model.json").write_bytes(content)
    with pytest.raises(ModelError, match=reason) as raised:
        load_model(saved)
    assert "model.json" in str(raised.value)


def test_a_foreign_or_missing_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    for folder in (tmp_path, tmp_path / "missing", tmp_path / "notes.txt"):
        with pytest.raises(ModelError, match=r"There is no model .*trailhound learn"):
            load_model(folder)


def rewrite(folder: Path, name: str, content: bytes) -> None:
    """Replace a part and its checksum, as somebody with bad intentions would."""
    digest = hashlib.sha256(content).hexdigest()
    file = f"{name}-{digest[:12]}.{part(folder, name).suffix[1:]}"
    part(folder, name).unlink()
    (folder / file).write_bytes(content)
    described = manifest(folder)
    described["parts"][name] = {"file": file, "sha256": digest}
    (folder / "model.json").write_text(json.dumps(described))


def arrays(folder: Path, change: Callable[[dict[str, np.ndarray]], None]) -> bytes:
    with np.load(part(folder, "arrays")) as stored:
        content = {name: stored[name] for name in stored.files}
    change(content)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=True, **content)
    return buffer.getvalue()


def make_strings(content: dict[str, np.ndarray]) -> None:
    content["idf"] = np.array(["run me"], dtype=object)


def cut_clusters(content: dict[str, np.ndarray]) -> None:
    content["clusters"] = content["clusters"][:-1]


def number_too_high(content: dict[str, np.ndarray]) -> None:
    content["levels"] = content["levels"] + 9


def not_a_number(content: dict[str, np.ndarray]) -> None:
    content["emission"] = content["emission"] * np.nan


def drop_transition(content: dict[str, np.ndarray]) -> None:
    del content["transition"]


def flatten_emission(content: dict[str, np.ndarray]) -> None:
    content["emission"] = content["emission"].ravel()


@pytest.mark.parametrize(
    "change",
    [make_strings, cut_clusters, number_too_high, not_a_number, drop_transition, flatten_emission],
)
def test_arrays_that_do_not_fit_are_refused(
    saved: Path, change: Callable[[dict[str, np.ndarray]], None]
) -> None:
    rewrite(saved, "arrays", arrays(saved, change))
    with pytest.raises(ModelError, match=r"arrays-.*damaged"):
        load_model(saved)


class Bomb:
    """Unpickling it would fail the test."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return pytest.fail, ("code in a model file was run",)


def test_no_code_is_run(saved: Path) -> None:
    rewrite(saved, "arrays", pickle.dumps(Bomb()))
    with pytest.raises(ModelError, match=r"arrays-.*damaged"):
        load_model(saved)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("graph", b'{"pages": [], "edges": [[0, 7]], "targets": []}'),
        ("graph", b'{"pages": [], "edges": [], "targets": []}'),
        ("graph", b"[]"),
        ("vocabulary", b'["bee", "bee"]'),
        ("vocabulary", b'["bee"]'),
        ("vocabulary", b"[1, 2]"),
    ],
)
def test_other_parts_that_do_not_fit_are_refused(saved: Path, name: str, content: bytes) -> None:
    rewrite(saved, name, content)
    with pytest.raises(ModelError, match="damaged"):
        load_model(saved)


def test_a_part_cannot_be_taken_from_elsewhere(saved: Path) -> None:
    described = manifest(saved)
    described["parts"]["graph"]["file"] = "../../secret.json"
    (saved / "model.json").write_text(json.dumps(described))
    with pytest.raises(ModelError, match=r"names '../../secret.json'"):
        load_model(saved)
