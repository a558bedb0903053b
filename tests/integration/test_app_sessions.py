"""Topics, their sessions and what was learned, through the API of a real server."""

from __future__ import annotations

import http.client
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import msgspec
import numpy as np
import pytest
from learned_topics import HOST, park_session

from app_server import RefusedError, ServedApp, wait_until
from trailhound.errors import SessionError
from trailhound.sessions.events import Session
from trailhound.sessions.files import read_session
from trailhound.web.graph_layout import ASPECT, lay_out
from trailhound.web.session_graphs import SessionGraphs


def test_a_topic_is_made_renamed_and_deleted(app: ServedApp) -> None:
    assert app.post("/api/topics/bees")["topic"] == "bees"
    assert app.get("/api/topics/bees")["sessions"] == 0
    assert app.post("/api/topics/bees/rename", {"name": "wasps"}) == {"topic": "wasps"}
    with pytest.raises(RefusedError, match="404"):
        app.get("/api/topics/bees")
    app.delete("/api/topics/wasps")
    assert app.get("/api/home")["topics"] == []


@pytest.mark.parametrize("name", [".", ".."])
def test_a_topic_gets_no_name_that_browsers_take_for_a_way(app: ServedApp, name: str) -> None:
    app.post("/api/topics/bees")
    with pytest.raises(RefusedError, match=r"400.*another name"):
        app.post("/api/topics/bees/rename", {"name": name})
    session = msgspec.structs.replace(park_session(), topic=name)
    with pytest.raises(AssertionError, match="another name"):
        app.browsed(session)
    assert [each["topic"] for each in app.get("/api/home")["topics"]] == ["bees"]


def test_a_merge_names_the_topic_that_is_missing(app: ServedApp) -> None:
    app.post("/api/topics/bees")
    with pytest.raises(RefusedError, match=r"404.*wasps"):
        app.post("/api/topics/bees/merge", {"name": "wasps"})


def test_the_playground_makes_a_learned_topic_and_says_how_to_crawl_it(app: ServedApp) -> None:
    assert app.get("/api/playground")["settings"] == {}
    made = app.post("/api/playground/topic", {"subject": "bee-health"})
    job = app.job_done(made["job"])
    assert job["state"] == "done", job
    topic = app.get(f"/api/topics/{quote(made['topic'])}")
    assert topic["learned"]
    assert topic["marked"] > 3
    ready = app.get("/api/playground")
    assert ready["topics"] == [made["topic"]]
    where = ready["settings"]["fetch.resolve"][0]
    assert where == f"*.demo.test=127.0.0.1:{ready['port']}"
    host = ready["settings"]["crawl.seeds"][0].split("/")[2]
    connection = http.client.HTTPConnection("127.0.0.1", ready["port"], timeout=60)
    connection.request("GET", "/", headers={"Host": host})
    assert connection.getresponse().status == 200
    connection.close()
    assert app.delete("/api/playground")["port"] == 0
    assert app.post("/api/playground")["port"] == ready["port"]
    again = app.post("/api/playground/topic", {"subject": "bee-health"})
    assert again == {"topic": made["topic"], "job": None}


def test_a_submitted_session_is_learned_as_a_job(app: ServedApp) -> None:
    app.browsed(park_session())
    jobs = wait_until(
        lambda: (
            found if (found := app.get("/api/jobs")) and found[0]["state"] != "running" else None
        )
    )
    assert [(job["kind"], job["topic"], job["state"]) for job in jobs] == [
        ("learn", "bees", "done")
    ]
    assert app.get("/api/topics/bees")["learned"]


@pytest.fixture
def browsed(app: ServedApp) -> ServedApp:
    """With a session for the topic "bees" that was learned from."""
    app.browsed(park_session())
    wait_until(lambda: app.get("/api/topics/bees")["learned"])
    return app


def by_name(picture: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {node["url"].removeprefix(HOST): node for node in picture["nodes"]}


def test_sessions_are_listed_with_what_they_hold(browsed: ServedApp) -> None:
    (session,) = browsed.get("/api/topics/bees/sessions")
    assert session["recorder"] == "extension 1"
    assert (session["pages"], session["useful"], session["not_useful"]) == (10, 3, 0)
    assert session["submitted"]


def test_the_session_is_drawn_with_hops_and_dead_ends(browsed: ServedApp) -> None:
    picture = browsed.get("/api/topics/bees/session")
    nodes = by_name(picture)
    assert nodes["bee1"]["mark"] is True
    assert [nodes[each].get("hops") for each in ("bee1", "hall1", "gate", "car1")] == [
        0,
        1,
        2,
        None,
    ]
    assert nodes["gate"]["start"]
    assert len({(node["x"], node["y"]) for node in picture["nodes"]}) == 10
    for node in picture["nodes"]:
        assert 0 <= node["x"] <= picture["width"]
        assert 0 <= node["y"] <= picture["height"]
    assert picture["links_in_all"] == len(picture["links"])
    (path,) = picture["paths"]
    assert [picture["nodes"][step]["url"] for step in path["steps"][:2]] == [
        HOST + "gate",
        HOST + "hall1",
    ]


def test_a_mark_counts_at_once_moves_nothing_and_is_learned(browsed: ServedApp) -> None:
    before = browsed.get("/api/topics/bees/session")
    page = browsed.put("/api/topics/bees/mark", {"url": HOST + "bee4", "useful": True})
    assert (page["mark"], page["hops"]) == (True, 0)
    page = browsed.put("/api/topics/bees/mark", {"url": HOST + "bee1", "useful": False})
    assert page["mark"] is False
    browsed.put("/api/topics/bees/mark", {"url": HOST + "bee2", "useful": None})
    after = browsed.get("/api/topics/bees/session")
    assert by_name(after)["bee2"].get("mark") is None
    places = [(node["x"], node["y"]) for node in after["nodes"]]
    assert places == [(node["x"], node["y"]) for node in before["nodes"]]
    assert browsed.get("/api/topics/bees")["marked"] == 2
    browsed.put("/api/topics/bees/mark", {"url": HOST + "bee1", "useful": True})
    assert browsed.get("/api/topics/bees")["marked"] == 3


def test_a_page_is_shown_as_text_and_must_have_been_visited(browsed: ServedApp) -> None:
    page = browsed.get(f"/api/topics/bees/page?url={quote(HOST + 'hall1')}")
    assert page["title"] == "The hall1"
    assert page["text"].startswith("exhibition hall")
    assert HOST + "bee1" in page["links_to"]
    assert page["linked_from"] == [HOST + "gate", HOST + "hall2"][:1]
    for method, path, body in (
        ("GET", "/api/topics/bees/page?url=http://else.test/", None),
        ("PUT", "/api/topics/bees/mark", {"url": "http://else.test/", "useful": True}),
    ):
        with pytest.raises(RefusedError, match="404"):
            browsed.right(method, path, body)


def test_a_picture_is_kept_and_drawn_anew_when_it_is_damaged(browsed: ServedApp) -> None:
    kept = browsed.workspace.folder_for("bees").picture_path
    picture = browsed.get("/api/topics/bees/session")
    written = kept.read_bytes()
    for damaged in (written[:99], b"{}", b"\xff", written.replace(b"gate", b"xxxx")):
        kept.write_bytes(damaged)
        nodes = browsed.get("/api/topics/bees/session")["nodes"]
        assert len(nodes) == len(picture["nodes"])
    assert "xxxx" in by_name(browsed.get("/api/topics/bees/session"))  # it is read, not drawn
    browsed.put("/api/topics/bees/mark", {"url": HOST + "bee4", "useful": True})
    assert by_name(browsed.get("/api/topics/bees/session"))["bee4"]["mark"] is True
    job = browsed.post("/api/topics/bees/forget", {"url": HOST + "car1"})
    browsed.job_done(job)
    assert not kept.exists()


def test_a_page_and_a_session_are_forgotten(browsed: ServedApp) -> None:
    job = browsed.post("/api/topics/bees/forget", {"url": HOST + "car1"})
    assert browsed.job_done(job)["state"] == "done"
    assert "car1" not in by_name(browsed.get("/api/topics/bees/session"))
    (session,) = browsed.get("/api/topics/bees/sessions")
    job = browsed.delete(f"/api/topics/bees/sessions/{session['name']}")
    done = browsed.job_done(job)
    assert done["state"] == "done"
    assert done["message"].endswith("The topic 'bees' has no sessions yet. Browse first.")
    assert browsed.get("/api/topics/bees/sessions") == []
    assert browsed.get("/api/topics/bees/session")["nodes"] == []
    assert not browsed.get("/api/topics/bees")["learned"]


@pytest.mark.parametrize("name", ["..%2Ftopic.json", "%2E%2E", "none.jsonl", "../../app.json"])
def test_only_sessions_can_be_deleted(browsed: ServedApp, name: str) -> None:
    status, _ = browsed.ask("DELETE", f"/api/topics/bees/sessions/{name}")
    assert status in (404, 405)
    assert (browsed.workspace.folder_for("bees").path / "topic.json").exists()


def test_a_large_session_is_drawn_the_same_way_each_time() -> None:
    random = Random(3)
    links = [(random.randrange(max(0, end - 40), end), end) for end in range(1, 2000)]
    places = lay_out(2000, links)
    assert np.array_equal(places, lay_out(2000, links))
    assert places.min() >= 0
    assert (places <= (ASPECT, 1)).all()
    assert len(np.unique(places.round(3), axis=0)) > 1950


def test_the_model_is_shown_with_advice_that_has_actions(browsed: ServedApp) -> None:
    model = browsed.get("/api/topics/bees/model")
    assert model["states"][0] == "target"
    assert model["clusters"][0] == "targets"
    figures = model["diagnosis"]
    assert len(figures["transition"]) == len(figures["emission"]) == 4
    assert sum(figures["level_sizes"]) == 10
    assert model["judge"] in model["judges"]
    low, high = figures["judge"]["f1_range"]
    assert low < figures["judge"]["f1"] < high
    assert {each["action"] for each in model["advice"]} <= {"", "mark", "browse", "label"}
    links = browsed.get("/api/topics/bees/model/links")
    assert links["strategy"] == "trail"
    assert links["lessons"]


def test_learning_again_with_other_parameters_is_remembered(browsed: ServedApp) -> None:
    assert not browsed.get("/api/topics/bees/learning")["stale"]
    job = browsed.post("/api/topics/bees/learn", {"parameters": {"n_states": 3}})
    assert browsed.job_done(job)["state"] == "done"
    assert browsed.get("/api/topics/bees/model")["diagnosis"]["parameters"]["n_states"] == 3
    browsed.put("/api/topics/bees/mark", {"url": HOST + "bee4", "useful": True})
    assert browsed.get("/api/topics/bees/learning")["stale"]
    job = browsed.job_done(browsed.post("/api/topics/bees/learn"))
    assert job["message"] == "Learned 'bees' from 10 pages, 4 of them useful."
    model = browsed.get("/api/topics/bees/model")
    assert model["diagnosis"]["parameters"]["n_states"] == 3
    assert not browsed.get("/api/topics/bees/learning")["stale"]


def test_what_cannot_be_learned_is_told_in_words(app: ServedApp) -> None:
    app.post("/api/topics/bees")
    with pytest.raises(RefusedError, match="has no sessions yet"):
        app.post("/api/topics/bees/learn")
    with pytest.raises(RefusedError, match="404"):
        app.get("/api/topics/bees/model")
    with pytest.raises(RefusedError, match="400"):
        app.post("/api/topics/bees/learn", {"parameters": {"n_states": 99}})


def test_what_a_crawl_found_is_judged_again_after_learning(app: ServedApp) -> None:
    made = app.post("/api/playground/topic", {"subject": "bee-health"})
    app.job_done(made["job"])
    topic = f"/api/topics/{quote(made['topic'])}"
    app.post(f"{topic}/crawl/start", {"max_requests": 25})
    wait_until(lambda: app.get(f"{topic}/crawl")["crawl"]["ended_at"])
    assert app.get(topic)["crawl"]["pages"] > 5
    nodes = app.get(f"{topic}/session")["nodes"]
    page = next(node for node in nodes if node.get("mark") is None)
    app.put(f"{topic}/mark", {"url": page["url"], "useful": True})
    app.job_done(app.post(f"{topic}/learn"))
    (again,) = [job for job in app.get("/api/jobs") if job["kind"] == "rejudge"]
    ended = app.job_done(again)
    assert ended["state"] == "done", ended
    assert "joined the results" in ended["message"]
    app.job_done(app.post(f"{topic}/forget", {"url": page["url"]}))
    latest = next(job for job in app.get("/api/jobs") if job["kind"] == "rejudge")
    assert latest["id"] > again["id"], "the model was learned again without that page"
    assert app.job_done(latest)["state"] == "done"


def test_a_session_that_is_forgotten_while_it_is_drawn_is_passed_over(
    app: ServedApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.browsed(park_session())
    app.browsed(msgspec.structs.replace(park_session(), events=park_session().events[:2]), 2)
    topic = app.workspace.topic("bees")
    first = topic.sessions_path / sorted(topic.session_names())[0]

    def forgotten_meanwhile(path: Path) -> Session:
        if path == first:
            path.unlink(missing_ok=True)
        return read_session(path)

    monkeypatch.setattr("trailhound.web.session_graphs.read_session", forgotten_meanwhile)
    graph = SessionGraphs().of(topic)
    (left,) = topic.session_names()
    assert list(graph.paths) == [left]
    (topic.sessions_path / left).write_bytes(b"{")
    with pytest.raises(SessionError):
        SessionGraphs().of(topic)
