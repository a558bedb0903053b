"""Puts the figures of a model into one HTML page."""

from __future__ import annotations

from trailhound.html_report import template_environment
from trailhound.inspection.concept_picture import draw_concept_graph
from trailhound.inspection.figures import draw_heat_map, draw_judge, draw_level_sizes
from trailhound.inspection.names import cluster_name, distances, state_names
from trailhound.models.diagnosis import Diagnosis
from trailhound.workspace import LearnedTopic


def render_inspection(learned: LearnedTopic) -> str:
    """The whole page as HTML text. It loads nothing and runs nothing."""
    diagnosis = learned.diagnosis
    template = template_environment("trailhound.inspection").get_template("inspect.html.j2")
    return template.render(
        origin=learned.origin,
        diagnosis=diagnosis,
        states=state_names(len(diagnosis.level_sizes)),
        cluster_names=_cluster_names(diagnosis),
        distances=[distances(cluster) for cluster in diagnosis.clusters],
        pictures=_pictures(diagnosis),
        judge_name=learned.judge_name,
        judges=learned.figures_by_judge,
    )


def _cluster_names(diagnosis: Diagnosis) -> list[str]:
    return [cluster_name(cluster.number) for cluster in diagnosis.clusters]


def _pictures(diagnosis: Diagnosis) -> dict[str, str]:
    states = state_names(len(diagnosis.level_sizes))
    clusters = _cluster_names(diagnosis)
    transition = "transition matrix A: from a page's distance to that of a page it links to"
    emission = "emission matrix B: which clusters the pages at each distance belong to"
    return {
        "levels": draw_level_sizes(diagnosis.level_sizes),
        "concepts": draw_concept_graph(diagnosis),
        "transition": draw_heat_map(diagnosis.transition, states, states, transition),
        "emission": draw_heat_map(diagnosis.emission, states, clusters, emission),
        "judge": draw_judge(diagnosis.judge),
    }
