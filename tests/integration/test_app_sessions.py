"""Topics, their sessions and what was learned, through the API of a real server."""

from __future__ import annotations

import http.client
from urllib.parse import quote

import pytest
from learned_topics import park_session

from app_server import RefusedError, ServedApp, wait_until


def test_a_topic_is_made_renamed_and_deleted(app: ServedApp) -> None:
    assert app.post("/api/topics/bees")["topic"] == "bees"
    assert app.get("/api/topics/bees")["sessions"] == 0
    assert app.post("/api/topics/bees/rename", {"name": "wasps"}) == {"topic": "wasps"}
    with pytest.raises(RefusedError, match="404"):
        app.get("/api/topics/bees")
    app.delete("/api/topics/wasps")
    assert app.get("/api/home")["topics"] == []


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
