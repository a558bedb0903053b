"""The app's API: who is let in, what it says of itself, topics, the lab, and a client in Python."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from aiohttp import ClientSession

from app_server import ServedApp, app, serving_app
from trailhound.collector import guard, load_pairing
from trailhound.demo import DemoWeb
from trailhound.errors import StorageError, UsageError
from trailhound.library import app_client
from trailhound.library.app_client import AppClient, RefusedError
from trailhound.topics.workspace import Workspace
from trailhound.web import AppServer, load_token, server
from trailhound.web.api import describe
from trailhound.web.presence import announce, being_served
from trailhound.web.routes import ALL_ROUTES, topics
from trailhound.web.server import Listening
from trailhound.web.state import MOST_DOCUMENTS, Documents

__all__ = ["app"]


@pytest.fixture
def client(app: ServedApp) -> Iterator[AppClient]:
    with AppClient(app.base, app.token) as made:
        yield made


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic {token}"}, 401),
        ({"Authorization": "Bearer {token}", "Origin": "https://evil.example"}, 403),
        ({"Authorization": "Bearer {token}", "Origin": "null"}, 403),
        ({"Authorization": "Bearer {token}", "Host": "evil.example"}, 403),
        ({"Authorization": "Bearer {token}", "Origin": "http://127.0.0.1:{port}"}, 200),
    ],
)
def test_only_the_owner_is_let_in(app: ServedApp, headers: dict[str, str], status: int) -> None:
    filled = {name: value.format(token=app.token, port=app.port) for name, value in headers.items()}
    assert app.ask("GET", "/api/home", headers=filled)[0] == status


def test_other_sites_cannot_make_topics(app: ServedApp) -> None:
    status, _ = app.ask("POST", "/api/topics/bees", {}, headers={"Origin": "https://evil.example"})
    assert status == 403
    assert app.get("/api/home")["topics"] == []


def test_pages_hold_nothing_private_and_every_answer_is_guarded(app: ServedApp) -> None:
    status, page = app.ask("GET", "/", headers={})
    assert status == 200
    assert app.token.encode() not in page
    for path in ("/../server.py", "/%2e%2e/server.py", "/lib/../../server.py", "/app.json", "/x"):
        assert app.ask("GET", path, headers={})[0] == 404, path


def test_topics_are_made_renamed_merged_and_deleted(app: ServedApp) -> None:
    for name in ("Bee/health", "Ünïcode 蜂"):
        app.post(f"/api/topics/{quote(name, safe='')}")
    assert [each["topic"] for each in app.get("/api/home")["topics"]] == [
        "Bee/health",
        "Ünïcode 蜂",
    ]
    assert app.ask("POST", "/api/topics/Bee%2Fhealth", {})[0] == 409
    renamed = app.post("/api/topics/Bee%2Fhealth/rename", {"name": "bees"})
    assert renamed == {"topic": "bees"}
    assert app.ask("POST", "/api/topics/bees/merge", {"name": "bees"})[0] == 400
    assert app.ask("POST", "/api/topics/bees/merge", {"name": "wasps"})[0] == 404
    app.delete("/api/topics/bees")
    assert app.ask("GET", "/api/topics/bees")[0] == 404


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/api/topics/a/rename", {}, "name"),
        ("/api/topics/a/rename", {"name": 7}, "str"),
        ("/api/topics/%20", {}, "needs a name"),
        ("/api/topics/" + "a" * 300, {}, "shorter"),
        ("/api/lab/runs/..%2Fx", {"corpus": "demo.thc", "strategies": ["trail"]}, "letters"),
        ("/api/lab/runs/x", {"corpus": "../x", "strategies": ["trail"]}, "letters"),
    ],
)
def test_mistakes_are_answered_in_words(app: ServedApp, path: str, body: object, told: str) -> None:
    app.post("/api/topics/a")
    status, content = app.ask("POST", path, body)
    assert status == 400
    assert told in json.loads(content)["error"]


def test_what_is_no_json_object_is_refused(app: ServedApp) -> None:
    for body in ([1], "text", None):
        status, _ = app.ask("POST", "/api/topics/a/rename", body)
        assert status in (400, 404)
    assert app.ask("POST", "/api/topics/a", {"x": "y" * 5_000_000})[0] == 413


def test_every_route_is_described() -> None:
    described = describe(ALL_ROUTES)
    names = [
        operation["operationId"]
        for methods in described["paths"].values()
        for operation in methods.values()
    ]
    assert len(names) == len(set(names)) == len(ALL_ROUTES)
    assert all(route.summary.endswith((".", ":")) for route in ALL_ROUTES)


def test_an_experiment_runs_and_its_report_is_shown_in_a_sandbox(
    app: ServedApp, web: DemoWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DemoWeb, "generate", lambda _: web)  # a third of what users get
    assert app.get("/api/lab")["corpora"][0] == {"name": "demo.thc", "megabytes": None}
    nothing = {"corpus": "demo.thc", "strategies": []}
    assert app.ask("POST", "/api/lab/runs/none", nothing)[0] == 400
    assert app.get("/api/lab")["corpora"][0]["megabytes"] is None, "found before it is made"
    address = "/api/lab/corpora/demo.thc/topics"
    with ThreadPoolExecutor() as presses:  # two at once: it is made once
        topics, others = presses.map(app.get, (address, address))
    assert topics == others
    asked = {
        "corpus": "demo.thc",
        "strategies": ["best-first", "breadth-first"],
        "topics": [topics[0]["topic"]],
        "max_requests": 20,
    }
    job = app.job_done(app.post("/api/lab/runs/one", asked))
    assert job["state"] == "done", job["message"]
    (run,) = app.get("/api/lab")["runs"]
    assert {each["strategy"] for each in run["measured"]} == {"best-first", "breadth-first"}
    address = app.post("/api/lab/runs/one/report")["address"]
    status, page = app.ask("GET", address, headers={})
    assert status == 200
    assert b"best-first" in page
    assert app.ask("GET", address + "x", headers={})[0] == 404
    wrong = asked | {"strategies": ["/etc/passwd.py"]}
    assert app.ask("POST", "/api/lab/runs/two", wrong)[0] == 400


def test_documents_are_there_for_a_short_while_only() -> None:
    now = [0.0]
    documents = Documents(lambda: now[0])
    first = documents.address(b"one")
    for _ in range(MOST_DOCUMENTS):
        documents.address(b"more")
    assert first.removeprefix("/document/") not in documents._kept


def test_a_program_asks_by_the_names_of_the_description(client: AppClient) -> None:
    client.ask("create_topic", topic="bees & wasps")
    assert client.ask("show_topic", topic="bees & wasps")["sessions"] == 0
    with pytest.raises(RefusedError, match="no topic 'ants'"):
        client.ask("show_topic", topic="ants")
    with pytest.raises(UsageError, match="show_topic"):
        client.ask("show_topics")
    with pytest.raises(UsageError, match="topic="):
        client.ask("show_topic")


def test_a_program_hears_what_happens(client: AppClient, app: ServedApp) -> None:
    heard, enough = client.happenings(), threading.Event()

    def make_topics() -> None:
        for number in range(100):
            if enough.wait(0.2):
                return
            app.post(f"/api/topics/heard-{number}")

    maker = threading.Thread(target=make_topics)
    maker.start()
    assert next(heard)["topic"].startswith("heard-")
    enough.set()
    maker.join()


def test_a_program_finds_the_app_of_a_workspace_wherever_it_listens(app: ServedApp) -> None:
    folder = app.workspace.folder
    with being_served(folder):
        announce(folder, app.address)
        with AppClient.of_workspace(folder) as client:
            assert client.ask("show_home")["topics"] == app.get("/api/home")["topics"]
        left_behind = (folder / "app-running.json").read_bytes()
    (folder / "app-running.json").write_bytes(left_behind)  # as a server does that is killed
    with pytest.raises(StorageError, match="is not running"):
        AppClient.of_workspace(folder)


def test_a_program_is_told_when_there_is_no_app(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="trailhound serve"):
        AppClient.of_workspace(tmp_path)
    with pytest.raises(StorageError, match="does not answer"):
        AppClient("http://127.0.0.1:9", "x").ask("show_home")


def test_listening_wider_needs_tls_or_a_word() -> None:
    with pytest.raises(UsageError, match="--certificate"):
        Listening(host="0.0.0.0").check()
    Listening(host="0.0.0.0", allow_plain=True).check()


def test_a_program_goes_on_after_the_app_was_started_again(tmp_path: Path) -> None:
    with serving_app(tmp_path) as app, AppClient(app.base, app.token) as client:
        client.ask("create_topic", topic="bees")
        assert client.ask("show_topic", topic="bees", nothing=None)["topic"] == "bees"
        sock = client._connection.sock
        assert sock is not None
        sock.shutdown(socket.SHUT_RDWR)
        assert client.ask("show_topic", topic="bees")["topic"] == "bees"


def test_a_program_goes_on_after_the_app_has_hung_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(app_client, "_IDLE_SECONDS", 0.05)
    with serving_app(tmp_path) as app, AppClient(app.base, app.token) as client:
        for topic in ("bees", "wasps"):
            client.ask("create_topic", topic=topic)
            time.sleep(0.3)
        assert len(client.ask("show_home")["topics"]) == 2


def test_a_topic_that_goes_while_it_is_looked_at_is_told(
    app: ServedApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.post("/api/topics/bees")
    monkeypatch.setattr(topics, "overview", lambda _: iter(()))
    assert app.ask("GET", "/api/topics/bees")[0] == 404


def test_a_renaming_that_was_cut_short_is_finished_here_too(app: ServedApp) -> None:
    app.post("/api/topics/bees")
    record = app.workspace.folder_for("bees").path / "topic.json"
    record.write_bytes(record.read_bytes().replace(b"bees", b"wasps"))
    assert app.ask("POST", "/api/topics/wasps", {})[0] == 409
    assert [each["topic"] for each in app.get("/api/home")["topics"]] == ["wasps"]
    assert app.get("/api/topics/wasps")["problem"] == ""
    assert app.ask("GET", "/api/topics/bees")[0] == 404


def test_the_app_is_read_at_the_loopback_of_ipv6(tmp_path: Path) -> None:
    async def look() -> int:
        server = AppServer(Workspace(tmp_path), load_pairing(tmp_path), load_token(tmp_path))
        await server.start(Listening(port=0, host="::1"))
        try:
            assert server.address().startswith(f"http://[::1]:{server.port}/#token=")
            async with ClientSession() as http, http.get(server.address()) as answer:
                return answer.status
        finally:
            await server.stop()

    assert asyncio.run(look()) == 200


def test_at_a_schemes_own_port_browsers_name_no_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setitem(guard.OWN_PORTS, "http", port)
    token = load_token(tmp_path)

    async def statuses() -> list[int]:
        server = AppServer(Workspace(tmp_path), load_pairing(tmp_path), token)
        await server.start(Listening(port=port))
        try:
            async with ClientSession(headers={"Authorization": f"Bearer {token.value}"}) as http:
                found = []
                for host in ("127.0.0.1", "localhost", f"localhost:{port}", "evil.example"):
                    headers = {"Host": host, "Origin": f"http://{host}"}
                    address = f"http://127.0.0.1:{port}/api/home"
                    async with http.get(address, headers=headers) as answer:
                        found.append(answer.status)
                return found
        finally:
            await server.stop()

    assert asyncio.run(statuses()) == [200, 200, 200, 403]


def test_that_port_is_another_one_with_tls() -> None:
    assert guard.hosts_at(["bees.example"], 443, "https") == {"bees.example", "bees.example:443"}
    assert guard.hosts_at(["bees.example"], 80, "https") == {"bees.example:80"}
    assert guard.hosts_at(["bees.example"], 443) == {"bees.example:443"}
