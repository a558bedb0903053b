"""Topics, their sessions and what was learned, through the API of a real server."""

from __future__ import annotations

import pytest

from app_server import RefusedError, ServedApp


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
