"""The page stands alone, shows everything, and cannot be broken by what pages say."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec
import pytest
from html_tags import Tags
from learned_topics import HOST, TEXTS, learned_park, park_session

from trailhound.models.diagnosis import state_names
from trailhound.models.topic_model import TopicParameters
from trailhound.reports.inspection import render_inspection
from trailhound.sessions.events import Session, Visit
from trailhound.topics.learned import LearnedTopic, Origin

EVIL = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def html() -> str:
    return render_inspection(learned_park())


def test_states_and_clusters_have_names() -> None:
    assert state_names(4) == ["target", "1 hop", "2 hops", "3 hops or more"]
    assert state_names(2) == ["target", "1 hop or more"]
    clusters = learned_park().diagnosis.clusters
    assert [each.name for each in clusters[:2]] == ["targets", "cluster 1"]


def test_it_shows_every_part(html: str) -> None:
    page = Tags(html)
    pictures = [a for tag, a in page.found if tag == "svg" and a.get("role") == "img"]
    assert len(pictures) == 5
    assert all(picture["aria-label"] for picture in pictures)
    for part in ("The concept graph", "Clusters and their words", "By mutual information", "γ"):
        assert part in page.text
    for warning in learned_park().diagnosis.warnings:
        assert warning.next_step in page.text
    assert "honey" in page.text


def test_warnings_come_first() -> None:
    html = render_inspection(learned_park(park_session(targets=["bee1"])))
    assert 0 < html.index("one target only") < html.index("How far the visited pages")


def test_it_loads_nothing_and_runs_nothing(html: str) -> None:
    page = Tags(html)
    assert not [tag for tag, _ in page.found if tag in {"script", "img", "link", "iframe"}]
    loaded = [
        value
        for tag, attributes in page.found
        for name, value in attributes.items()
        if name in {"src", "xlink:href", "data", "srcset"} or (name == "href" and tag != "a")
    ]
    assert all(value is not None and value.startswith("#") for value in loaded)
    assert not re.search(r"url\((?!#)|@import", html)


def _evil_session() -> Session:
    session = park_session(texts={**TEXTS, "bee1": f"honey hive {EVIL} $x_1$ & <b>"})
    events = tuple(
        msgspec.structs.replace(event, html=event.html.replace("The bee2", "&lt;script> bee2"))
        if isinstance(event, Visit) and event.html
        else event
        for event in session.events
    )
    return msgspec.structs.replace(session, events=events)


def test_names_and_titles_are_escaped() -> None:
    learned = learned_park(_evil_session())
    evil = LearnedTopic(learned.model, learned.judge, Origin(EVIL, label=EVIL, labels=("", EVIL)))
    html = render_inspection(evil)
    assert "<script" not in html
    assert EVIL in Tags(html).text
    assert "<script> bee2" in Tags(html).text


def test_a_page_with_a_strange_address_is_no_link() -> None:
    learned = learned_park()
    pages = [
        msgspec.structs.replace(page, url=page.url.replace("http://", "javascript://"))
        for page in learned.model.graph.pages
    ]
    graph = replace(learned.model.graph, pages=tuple(pages))
    strange = LearnedTopic(replace(learned.model, graph=graph), learned.judge, learned.origin)
    assert addresses(strange) == []
    assert HOST + "bee1" in addresses(learned)


def addresses(learned: LearnedTopic) -> list[str | None]:
    found = Tags(render_inspection(learned)).found
    return [attributes.get("href") for tag, attributes in found if tag == "a"]


@pytest.mark.parametrize(
    "session",
    [
        park_session(targets=list(TEXTS)),
        park_session(targets=["gate"], texts={"gate": "honey"}),
        park_session(with_html=False),
    ],
    ids=["all-targets", "one-page", "titles-only"],
)
def test_poor_models_are_drawn_too(session: Session) -> None:
    assert "What would make it better" in render_inspection(learned_park(session))


def test_the_literal_model_is_drawn_too() -> None:
    learned = learned_park(parameters=TopicParameters(literal=True, n_states=6))
    assert "5 hops or more" in render_inspection(learned)
