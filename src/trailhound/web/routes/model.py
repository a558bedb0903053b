"""What was learned, and learning again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from trailhound.models.diagnosis import Diagnosis, state_names
from trailhound.models.judge_figures import JudgeFigures
from trailhound.models.topic_model import TopicParameters
from trailhound.topics.learned import Origin
from trailhound.topics.learning import LearningRequest
from trailhound.topics.model_folder import saved_fingerprint
from trailhound.web.api import NotThereError, OneTopic, Routes
from trailhound.web.jobs import Job
from trailhound.web.learning import learn_again
from trailhound.web.plain_words import in_app

if TYPE_CHECKING:
    from trailhound.topics.workspace import TopicFolder
    from trailhound.web.state import App

LESSONS_SHOWN = 12
"""About links, of each field."""
ACTIONS = {
    "few-pages": "browse",
    "one-target": "mark",
    "few-targets": "mark",
    "all-targets": "mark",
    "no-links": "browse",
    "no-way-to-targets": "browse",
    "targets-near-start": "browse",
    "short-paths": "browse",
    "weak-judge": "mark",
    "several-labels": "label",
}
"""What the app can do about each advice: mark pages, browse more, learn for one label."""

routes = Routes("Model")


class LearningState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether there is a model, and whether it knows all that was browsed."""

    learned: bool
    learned_at: float | None
    """In seconds since 1970."""
    stale: bool
    """Whether sessions or marks have changed since."""


class AdviceView(msgspec.Struct, frozen=True, kw_only=True):
    """What would make the model better."""

    code: str
    problem: str
    next_step: str
    action: str
    """``mark``, ``browse``, ``label``, or nothing when the app cannot help."""


class ModelView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is known about a model."""

    origin: Origin
    diagnosis: Diagnosis
    states: list[str]
    """Names of the hidden states, nearest to a target first."""
    clusters: list[str]
    """Names of the clusters, the targets first."""
    judge: str
    """The judge that a crawl takes."""
    judges: dict[str, JudgeFigures]
    advice: list[AdviceView]


class LinkLessonsView(msgspec.Struct, frozen=True, kw_only=True):
    """What the crawl's strategy knows about links."""

    strategy: str
    """Empty when it cannot tell."""
    after_crawl: bool
    """Whether a crawl has taught it, or the sessions alone."""
    lessons: dict[str, str]
    """By part of a link, in words, the strongest first, in log odds; in brackets as before."""


class LearnParameters(msgspec.Struct, frozen=True, kw_only=True):
    """How to learn."""

    n_states: Annotated[int, Meta(ge=2, le=6)] = 4
    """Distances to a target that are told apart, in hops."""
    max_clusters: Annotated[int, Meta(ge=1, le=50)] = 8
    """Most clusters of pages."""
    max_rank: Annotated[int, Meta(ge=1, le=1000)] = 100
    """Most dimensions of the latent space."""


class LearnAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What to learn, and how."""

    topic: str
    parameters: LearnParameters | None = None
    """As chosen before when they are not given."""
    threshold: Annotated[float, Meta(ge=0, le=1)] | None = None
    """The judge's γ; calibrated on the sessions when parameters are given without it."""
    label: str | None = None
    """Only marks with this label count; as chosen before when it is not given."""


@routes.get("/api/topics/{topic}/learning")
def show_learning(app: App, asked: OneTopic) -> LearningState:
    """Whether the topic was learned, and from all that is there now."""
    folder = app.topic(asked.topic)
    if not folder.is_learned():
        return LearningState(learned=False, learned_at=None, stale=bool(folder.session_names()))
    learned_at = (folder.model_path / "model.json").stat().st_mtime
    return LearningState(
        learned=True, learned_at=learned_at, stale=_changed_at(folder) > learned_at
    )


@routes.post("/api/topics/{topic}/learn")
def learn_topic(app: App, asked: LearnAsked) -> Job:
    """Learn from all sessions of the topic, as before or with other parameters."""
    if asked.parameters is None and asked.threshold is None and asked.label is None:
        return learn_again(app, asked.topic)
    chosen = asked.parameters or LearnParameters()
    usual = TopicParameters()
    parameters = TopicParameters(
        n_states=chosen.n_states,
        max_clusters=chosen.max_clusters,
        min_clusters=min(usual.min_clusters, chosen.max_clusters),
        max_rank=chosen.max_rank,
    )
    request = LearningRequest(
        asked.topic, label=asked.label, parameters=parameters, threshold=asked.threshold
    )
    return learn_again(app, asked.topic, request)


@routes.get("/api/topics/{topic}/model")
def show_model(app: App, asked: OneTopic) -> ModelView:
    """What was learned: distances, clusters and their words, A, B, the judges, and advice."""
    folder = _learned(app, asked.topic)
    return app.remembered("model", folder, saved_fingerprint(folder.model_path), _view)


@routes.get("/api/topics/{topic}/model/links")
def show_link_lessons(app: App, asked: OneTopic) -> LinkLessonsView:
    """What was learned about links, from the sessions and by crawling."""
    from trailhound.config.settings import Settings
    from trailhound.topics.crawls.folder import CrawlFolder
    from trailhound.topics.finds.opinions import lessons_about_links

    folder = _learned(app, asked.topic)
    pages = folder.load().model.graph.pages
    found = lessons_about_links(CrawlFolder(folder), Settings(), pages)
    return LinkLessonsView(
        strategy=found.strategy if found else "",
        after_crawl=bool(found and found.after_crawl),
        lessons=found.told(LESSONS_SHOWN) if found else {},
    )


def _learned(app: App, name: str) -> TopicFolder:
    folder = app.topic(name)
    if not folder.is_learned():
        raise NotThereError(
            f"Nothing has been learned for the topic '{folder.name}' yet. Learn it first."
        )
    return folder


def _view(folder: TopicFolder) -> ModelView:
    learned = folder.load()
    diagnosis = learned.diagnosis
    return ModelView(
        origin=learned.origin,
        diagnosis=diagnosis,
        states=state_names(len(diagnosis.level_sizes)),
        clusters=[cluster.name for cluster in diagnosis.clusters],
        judge=learned.judge_name,
        judges=dict(learned.figures_by_judge),
        advice=[
            AdviceView(
                code=each.code,
                problem=in_app(each.problem),
                next_step=in_app(each.next_step),
                action=ACTIONS.get(each.code, ""),
            )
            for each in diagnosis.warnings
        ],
    )


def _changed_at(folder: TopicFolder) -> float:
    """When a session came, went or changed, in seconds since 1970."""
    paths = [folder.sessions_path / name for name in folder.session_names()]
    return max(path.stat().st_mtime for path in (folder.sessions_path, *paths) if path.exists())
