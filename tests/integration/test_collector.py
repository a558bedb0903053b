"""The collector over real HTTP: what it keeps, and whom it refuses."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from learned_topics import park_session

from found_pages import Find, crawl_of
from trailhound.cli.terminal import say
from trailhound.collector import Collector, guard, load_pairing
from trailhound.collector.guard import MAX_BODY_BYTES, RefusedRequestError
from trailhound.collector.store import EventsMessage, SessionStore, without_page
from trailhound.errors import ConfigError
from trailhound.sessions.events import Mark, Submit, Visit
from trailhound.sessions.files import read_session
from trailhound.topics.crawls.marking import marks_of
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.upkeep.forgetting import forget_pages, one_url
from trailhound.topics.upkeep.moving import rename
from trailhound.topics.workspace import Workspace

EXTENSION = "chrome-extension://" + "abcdefghijklmnop" * 2
FIREFOX = "moz-extension://0a1b2c3d-0000-4000-8000-0123456789ab"
SESSION = "20260101t120000-00ff00ff00ff"
OTHER = "20260101t120000-00ff00ff00aa"
PAGE = "http://garden.example/"
FULL_WIDTH_DAY = "".join(chr(ord(digit) + 0xFEE0) for digit in SESSION[:8])


class Speaker:
    """Sends requests to a collector, by default as a paired extension would."""

    def __init__(self, collector: Collector, token: str, http: aiohttp.ClientSession) -> None:
        self.collector, self.token, self.http = collector, token, http

    async def ask(
        self,
        path: str,
        message: Any = None,
        *,
        origin: str | None = EXTENSION,
        token: str | None = None,
        host: str | None = None,
        method: str = "POST",
        content_type: str = "application/json",
    ) -> tuple[int, dict[str, Any], Any]:
        headers = {"Content-Type": content_type, "Authorization": f"Bearer {token or self.token}"}
        if origin is not None:
            headers["Origin"] = origin
        if host is not None:
            headers["Host"] = host
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        url = f"http://127.0.0.1:{self.collector.port}{path}"
        async with self.http.request(method, url, data=data, headers=headers) as answer:
            body = await answer.read()
            return answer.status, json.loads(body) if body else {}, answer.headers

    async def send(self, *events: dict[str, Any], **more: Any) -> tuple[int, dict[str, Any]]:
        message = {"session": SESSION, "topic": "bees", "recorder": "extension 1", **more}
        status, body, _ = await self.ask("/v1/events", {**message, "events": list(events)})
        return status, body


def visit(url: str = PAGE, at: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"event": "visit", "time": at, "url": url, **more}


def with_collector(
    folder: Path, use: Callable[[Speaker], Awaitable[None]], *, paired: bool = True, **more: Any
) -> list[str]:
    """Run ``use`` with a collector of its own; what the collector reported."""
    said: list[str] = []

    async def run() -> None:
        pairing = load_pairing(folder)
        async with (
            Collector(Workspace(folder), pairing, report=said.append, **more) as collector,
            aiohttp.ClientSession() as http,
        ):
            await collector.start()
            speaker = Speaker(collector, pairing.token, http)
            if paired:
                assert (await speaker.ask("/v1/pair", {}))[0] == 200
            await use(speaker)

    asyncio.run(run())
    return said


def recorded(folder: Path, session: str = SESSION, topic: str = "bees") -> list[Any]:
    path = Workspace(folder).folder_for(topic).sessions_path / f"{session}.jsonl"
    return list(read_session(path).events)


def nothing_recorded(folder: Path) -> bool:
    return not list(folder.rglob("*.jsonl"))


def test_events_are_in_the_topics_folder_and_the_topic_can_be_learned(tmp_path: Path) -> None:
    async def use(speaker: Speaker) -> None:
        status, body = await speaker.send(visit(title="Bees", html="<p>b</p>"))
        assert (status, body) == (200, {"stored": 1, "known": 0})
        assert recorded(tmp_path) == [Visit(1.0, PAGE, "Bees", html="<p>b</p>")]
        await speaker.send(
            {"event": "mark", "time": 2.0, "url": PAGE}, {"event": "submit", "time": 3}
        )

    said = with_collector(tmp_path, use)
    assert recorded(tmp_path)[1:] == [Mark(2.0, PAGE), Submit(3.0)]
    assert Workspace(tmp_path).topics() == ("bees",)
    assert said[-1] == "bees: submitted, 1 page, 1 of them useful."


def test_what_is_sent_twice_is_kept_once_also_after_a_restart(tmp_path: Path) -> None:
    async def first(speaker: Speaker) -> None:
        await speaker.send(visit(at=1.0), visit(at=2.0))

    async def second(speaker: Speaker) -> None:
        _, body = await speaker.send(visit(at=2.0), visit(at=3.0))
        assert body == {"stored": 1, "known": 1}

    with_collector(tmp_path, first)
    with_collector(tmp_path, second, paired=False)  # the pairing has survived as well
    assert [event.time for event in recorded(tmp_path)] == [1.0, 2.0, 3.0]


def test_nothing_that_is_recorded_while_a_page_is_forgotten_is_lost(tmp_path: Path) -> None:
    workspace, store = Workspace(tmp_path), SessionStore(Workspace(tmp_path))

    def record(number: int, html: str | None = None) -> None:
        event = Visit(float(number), f"{PAGE}{number}", html=html)
        store.append(EventsMessage(SESSION, "bees", [event]))

    for number in range(20):
        record(number, "<p>bees</p>" * 50_000)
    forgetting = threading.Thread(
        target=forget_pages, args=(workspace, "bees", one_url(f"{PAGE}3"))
    )
    forgetting.start()
    number = 100
    while forgetting.is_alive():
        record(number)
        number += 1
    forgetting.join()
    store.close()
    kept = workspace.topic("bees").sessions().values()
    found = {event.url for session in kept for event in session.events if isinstance(event, Visit)}
    wanted = {*range(20), *range(100, number)} - {3}
    assert found == {f"{PAGE}{each}" for each in wanted}


def test_a_topic_may_be_renamed_while_it_is_recorded(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)

    async def use(speaker: Speaker) -> None:
        await speaker.send(visit())
        rename(workspace, workspace.topic("bees"), "wasps")
        await speaker.send({"event": "mark", "time": 2.0, "url": PAGE})
        await speaker.ask("/v1/forget", {"session": SESSION, "topic": "bees", "url": f"{PAGE}x"})

    assert with_collector(tmp_path, use)[-1] == f"wasps: Useful: {PAGE}"
    assert workspace.topics() == ("wasps",)
    assert recorded(tmp_path, topic="wasps") == [Visit(1.0, PAGE), Mark(2.0, PAGE)]


def test_learning_that_breaks_is_told(tmp_path: Path) -> None:
    def learn(topic: str) -> str:
        raise OSError(28, "No space left on device")

    async def use(speaker: Speaker) -> None:
        await speaker.send(visit(), {"event": "submit", "time": 3})
        await asyncio.sleep(0.2)
        _, body, _ = await speaker.ask("/v1/status", {"session": SESSION, "topic": "bees"})
        assert body["learning"] == "failed"
        assert "No space left" in body["message"]

    assert "something broke: OSError" in with_collector(tmp_path, use, learn=learn)[-1]


def test_a_token_of_any_bytes_is_wrong_and_no_more(tmp_path: Path) -> None:
    async def use(speaker: Speaker) -> None:
        assert (await speaker.ask("/v1/pair", {}, token="\udcff\udcfe"))[0] == 401

    with_collector(tmp_path, use, paired=False)


def test_sessions_of_several_browsers_stay_apart(tmp_path: Path) -> None:
    async def use(speaker: Speaker) -> None:
        await speaker.ask("/v1/pair", {}, origin=FIREFOX)
        await asyncio.gather(
            *(speaker.send(visit(at=float(at))) for at in range(1, 20)),
            *(speaker.send(visit(at=float(at)), session=OTHER) for at in range(1, 10)),
            *(speaker.send(visit(at=float(at)), topic="Bären") for at in range(1, 5)),
        )

    with_collector(tmp_path, use)
    assert len(recorded(tmp_path)) == 19
    assert len(recorded(tmp_path, OTHER)) == 9
    assert len(recorded(tmp_path, topic="Bären")) == 4


def test_a_forgotten_page_leaves_no_trace(tmp_path: Path) -> None:
    secret = "http://clinic.example/me"

    async def use(speaker: Speaker) -> None:
        await speaker.send(
            visit(at=1.0),
            visit(secret, 2.0, html="<p>private</p>"),
            {"event": "mark", "time": 3.0, "url": f"{secret}#top"},
            visit("http://clinic.example/menu", 4.0, frame_of=secret),
            visit("http://garden.example/bees", 5.0, from_url=secret),
        )
        message = {"session": SESSION, "topic": "bees", "url": secret}
        assert (await speaker.ask("/v1/forget", {**message, "url": "http://[#a"}))[0] == 200
        assert (await speaker.ask("/v1/forget", message))[1] == {"forgotten": 3}
        await speaker.send(visit(at=6.0))

    with_collector(tmp_path, use)
    assert [event.time for event in recorded(tmp_path)] == [1.0, 5.0, 6.0]
    assert not any(b"clinic" in path.read_bytes() for path in tmp_path.rglob("*.jsonl"))


def test_forgetting_keeps_everything_else() -> None:
    events = (Visit(1.0, PAGE), Visit(2.0, "http://a.example/", from_url=PAGE), Submit(3.0))
    kept = (Visit(2.0, "http://a.example/"), Submit(3.0))
    assert without_page(events, f"{PAGE}#x") == kept


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({"origin": "http://evil.example"}, id="page"),
        pytest.param({"origin": "null"}, id="sandboxed page"),
        pytest.param({"origin": None}, id="no origin"),
        pytest.param({"origin": "http://127.0.0.1:8917"}, id="own address as origin"),
        pytest.param({"origin": f"{EXTENSION}.evil.example"}, id="looks like an extension"),
        pytest.param({"host": "evil.example"}, id="rebinding"),
        pytest.param({"host": "evil.example:8917"}, id="rebinding with port"),
        pytest.param({"host": "127.0.0.1"}, id="another port"),
        pytest.param({"token": "AAAAA-AAAAA-AAAAA-AAAAA"}, id="wrong token"),
        pytest.param({"token": " "}, id="no token"),
        pytest.param({"origin": FIREFOX}, id="right token, browser not paired"),
        pytest.param({"method": "GET"}, id="get"),
        pytest.param({"method": "PUT"}, id="put"),
        pytest.param({"content_type": "text/plain"}, id="form that pages may send"),
    ],
)
def test_strangers_can_neither_write_nor_read(tmp_path: Path, asked: dict[str, Any]) -> None:
    async def use(speaker: Speaker) -> None:
        message = {"session": SESSION, "topic": "bees", "events": [visit()]}
        for path in ("/v1/events", "/v1/status", "/v1/forget", "/", "/v1/none"):
            status, body, headers = await speaker.ask(path, message, **asked)
            assert status in (401, 403, 405, 415)
            assert list(body) == ["error"]
            if status == 403:
                assert "Access-Control-Allow-Origin" not in headers

    with_collector(tmp_path, use)
    assert nothing_recorded(tmp_path)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", EXTENSION])
def test_only_extensions_pass_the_browsers_preflight(tmp_path: Path, origin: str) -> None:
    async def use(speaker: Speaker) -> None:
        status, _, headers = await speaker.ask("/v1/events", b"", origin=origin, method="OPTIONS")
        allowed = headers.get("Access-Control-Allow-Origin")
        assert (status, allowed) == ((204, origin) if origin == EXTENSION else (403, None))

    with_collector(tmp_path, use)


def test_at_port_80_browsers_name_no_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use(speaker: Speaker) -> None:
        assert (await speaker.ask("/v1/pair", {}, host="127.0.0.1"))[0] == 403
        monkeypatch.setitem(guard.OWN_PORTS, "http", speaker.collector.port)
        assert (await speaker.ask("/v1/pair", {}, host="127.0.0.1"))[0] == 200

    with_collector(tmp_path, use)


def test_a_gigabyte_is_refused_before_it_is_read(tmp_path: Path) -> None:
    async def use(speaker: Speaker) -> None:
        assert b" 413 " in await asyncio.to_thread(announce_a_gigabyte, speaker)
        sent = await asyncio.to_thread(send_without_end, speaker)
        assert sent < MAX_BODY_BYTES + 40_000_000  # the system's buffers take some

    with_collector(tmp_path, use)
    assert nothing_recorded(tmp_path)


def request_head(speaker: Speaker, length: str) -> bytes:
    return (
        f"POST /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{speaker.collector.port}\r\n"
        f"Origin: {EXTENSION}\r\nAuthorization: Bearer {speaker.token}\r\n"
        f"Content-Type: application/json\r\n{length}\r\n\r\n"
    ).encode()


def announce_a_gigabyte(speaker: Speaker) -> bytes:
    with socket.create_connection(("127.0.0.1", speaker.collector.port), timeout=10) as connection:
        connection.sendall(request_head(speaker, "Content-Length: 1000000000"))
        return connection.recv(4096)


def send_without_end(speaker: Speaker) -> int:
    """Up to a gigabyte in pieces, until the collector hangs up; the bytes sent."""
    piece = b"10000\r\n" + b"a" * 65_536 + b"\r\n"
    sent = 0
    with socket.create_connection(("127.0.0.1", speaker.collector.port), timeout=10) as connection:
        connection.sendall(request_head(speaker, "Transfer-Encoding: chunked"))
        while sent < 1_000_000_000:
            try:
                connection.sendall(piece)
            except OSError:
                break
            sent += len(piece)
    return sent


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"session": "../../evil"}, id="session with path"),
        pytest.param({"session": "con"}, id="device"),
        pytest.param({"session": FULL_WIDTH_DAY + SESSION[8:]}, id="full-width digits"),
        pytest.param({"session": SESSION + "\0"}, id="null byte"),
        pytest.param({"topic": ""}, id="no topic"),
        pytest.param({"topic": "a\x1b[2Jb"}, id="control characters"),
        pytest.param({"topic": "x" * 1000}, id="endless topic"),
        pytest.param({"events": [visit("file:///etc/passwd")]}, id="file"),
        pytest.param({"events": [visit("javascript:alert(1)")]}, id="script"),
        pytest.param({"events": [visit(html_ref="../../secret")]}, id="reference to a file"),
        pytest.param({"events": [visit(frame_of="file:///x")]}, id="frame of a file"),
        pytest.param({"events": [visit(at=-1.0)]}, id="time before time"),
        pytest.param({"events": [{"event": "shell", "time": 1.0}]}, id="unknown event"),
        pytest.param({"events": [visit(at=float(n + 1)) for n in range(1001)]}, id="too many"),
        pytest.param({"events": "none"}, id="no list"),
    ],
)
def test_messages_out_of_shape_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    async def use(speaker: Speaker) -> None:
        message = {"session": SESSION, "topic": "bees", "events": [visit()], **change}
        status, body, _ = await speaker.ask("/v1/events", message)
        assert status in (400, 413)
        assert body["error"]
        assert (await speaker.ask("/v1/events", b"{"))[0] == 400
        nested = b'{"x": ' + b"[" * 100_000
        for path in ("/v1/events", "/v1/forget", "/v1/status"):
            assert (await speaker.ask(path, nested))[0] == 400

    with_collector(tmp_path, use)
    assert nothing_recorded(tmp_path)


@pytest.mark.parametrize(
    "topic", ["../../../evil", "...", "/etc/bees", "C:\\bees", "a/../../b", "NUL"]
)
def test_topic_names_stay_inside_the_workspace(tmp_path: Path, topic: str) -> None:
    workspace = tmp_path / "deep" / "down" / "workspace"

    async def use(speaker: Speaker) -> None:
        assert (await speaker.send(visit(), topic=topic))[0] == 200

    with_collector(workspace, use)
    (written,) = tmp_path.rglob("*.jsonl")
    assert written.parent.parent.parent == workspace / "topics"
    assert Workspace(workspace).topics() == (topic,)


def test_a_session_that_begins_while_its_topic_is_learned_is_kept(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    store = SessionStore(workspace)

    def begin_another(step: str) -> None:
        if step == "Saving":
            store.append(EventsMessage(SESSION, "bees", [Visit(1.0, PAGE)]))

    learn_into(workspace, LearningRequest("bees", [park_session()]), begin_another)
    store.close()
    assert recorded(tmp_path) == [Visit(1.0, PAGE)]


def test_submit_learns_when_that_was_asked_for(tmp_path: Path) -> None:
    park = park_session()

    async def use(speaker: Speaker) -> None:
        message = {"session": SESSION, "topic": "bees"}
        assert (await speaker.ask("/v1/status", message))[1]["learning"] == "no"
        events = msgspec.to_builtins(park.events)
        assert (await speaker.send(*events, {"event": "submit", "time": 1e10}))[0] == 200
        assert (await speaker.ask("/v1/status", message))[1]["learning"] == "running"

    said = with_collector(tmp_path, use, learn=True)  # stopping waits until it is learned
    assert said[-1].startswith("Learned 'bees' from 10 pages")
    assert Workspace(tmp_path).topic("bees").load().origin.sessions == 1


def test_a_session_that_teaches_nothing_is_said(tmp_path: Path) -> None:
    async def use(speaker: Speaker) -> None:
        await speaker.send(visit(), {"event": "submit", "time": 2.0})

    said = with_collector(tmp_path, use, learn=True)
    assert said[-1].startswith("Learning failed: ")


def test_words_from_the_web_do_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("bees: Useful: http://evil.example/\x1b[2J\x07[bold]\u202egnp")
    shown = capsys.readouterr().err
    assert "[bold]" in shown
    assert not set(shown) & set("\x1b\x07\u202e")


def test_a_full_session_takes_no_more(tmp_path: Path) -> None:
    store = SessionStore(Workspace(tmp_path), max_session_bytes=500)
    with pytest.raises(RefusedRequestError, match="full"):
        store.append(EventsMessage(SESSION, "bees", [Visit(1.0, PAGE, html="x" * 600)]))
    store.close()


def test_the_pairing_file_is_for_its_owner_only_and_can_be_renewed(tmp_path: Path) -> None:
    pairing = load_pairing(tmp_path)
    pairing.add(EXTENSION)
    if os.name == "posix":
        assert pairing.path.stat().st_mode & 0o077 == 0
    assert load_pairing(tmp_path).is_paired(EXTENSION)
    renewed = load_pairing(tmp_path, new=True)
    assert renewed.token != pairing.token
    assert not renewed.is_paired(EXTENSION)


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    async def use(speaker: Speaker) -> None:
        other = Collector(Workspace(tmp_path), load_pairing(tmp_path))
        with pytest.raises(ConfigError, match="--port"):
            await other.start(speaker.collector.port)

    with_collector(tmp_path, use)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def started(folder: Path, port: int) -> subprocess.Popen[str]:
    command = "from trailhound.cli.main import run; run()"
    arguments = ["collect", "--port", str(port), "--workspace", str(folder)]
    process = subprocess.Popen(
        [sys.executable, "-c", command, *arguments], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "Ctrl-C" in line:
            break
    text = "".join(said)
    assert "chrome://extensions" in text
    assert "about:debugging" in text
    assert f"{port}-" in text
    assert str(folder) in text
    return process


def test_nothing_that_was_answered_is_lost_when_it_is_killed(tmp_path: Path) -> None:
    port = free_port()
    process = started(tmp_path, port)

    async def send(http: aiohttp.ClientSession, path: str, message: Any) -> int:
        token = load_pairing(tmp_path).token
        headers = {"Origin": EXTENSION, "Authorization": f"Bearer {token}"}
        url = f"http://127.0.0.1:{port}{path}"
        async with http.post(url, json=message, headers=headers) as answer:
            return answer.status

    async def talk() -> None:
        async with aiohttp.ClientSession() as http:
            assert await send(http, "/v1/pair", {}) == 200
            for at in range(1, 30):
                message = {"session": SESSION, "topic": "bees", "events": [visit(at=float(at))]}
                assert await send(http, "/v1/events", message) == 200

    asyncio.run(talk())
    process.kill()
    process.communicate()
    assert len(recorded(tmp_path)) == 29


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_stops_cleanly(tmp_path: Path) -> None:
    process = started(tmp_path, free_port())
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Stopped" in said
    assert "Traceback" not in said


HIVE = "https://bees.example/hive"


def found_bees(folder: Path) -> None:
    finds = [Find(HIVE, html="<title>Hive</title><p>bees"), Find("ftp://bees.example/x", "No page")]
    crawl_of(folder, finds).topic.prepare()


def test_news_is_told_marked_and_seen(tmp_path: Path) -> None:
    found_bees(tmp_path)

    async def use(speaker: Speaker) -> None:
        status, told, _ = await speaker.ask("/v1/news", {})
        assert (status, [find["url"] for find in told["topics"][0]["finds"]]) == (200, [HIVE])
        mark = {"topic": "bees", "url": HIVE, "useful": True}
        assert (await speaker.ask("/v1/mark", mark))[0] == 200
        _, told, _ = await speaker.ask("/v1/news", {})
        assert not any(topic["finds"] for topic in told["topics"])
        assert (await speaker.ask("/v1/seen", {"topic": "bees", "at": told["at"]}))[0] == 200
        assert (await speaker.ask("/v1/news", {}))[1]["topics"] == []

    with_collector(tmp_path, use)
    assert marks_of(Workspace(tmp_path).topic("bees")) == {HIVE: True}


@pytest.mark.parametrize(
    ("path", "message", "status"),
    [
        ("/v1/mark", {"topic": "wasps", "url": HIVE, "useful": True}, 404),
        ("/v1/mark", {"topic": "../bees", "url": HIVE, "useful": True}, 404),
        ("/v1/mark", {"topic": "bees", "url": "https://other.example/", "useful": True}, 400),
        ("/v1/mark", {"topic": "bees", "url": "file:///etc/passwd", "useful": True}, 400),
        ("/v1/mark", {"topic": "bees", "url": "x" * 20_000, "useful": True}, 400),
        ("/v1/mark", {"topic": "bees", "url": HIVE}, 400),
        ("/v1/seen", {"topic": "bees", "at": -1}, 400),
        ("/v1/seen", {"topic": "\x00", "at": 1}, 400),
        ("/v1/news", [], 400),
    ],
)
def test_what_cannot_be_marked_or_seen_is_refused(
    tmp_path: Path, path: str, message: Any, status: int
) -> None:
    found_bees(tmp_path)

    async def use(speaker: Speaker) -> None:
        assert (await speaker.ask(path, message))[0] == status

    with_collector(tmp_path, use)


@pytest.mark.parametrize("path", ["/v1/news", "/v1/mark", "/v1/seen"])
def test_finds_are_told_to_nobody_but_the_paired_extension(tmp_path: Path, path: str) -> None:
    found_bees(tmp_path)
    mark = {"topic": "bees", "url": HIVE, "useful": False, "at": 1}

    async def use(speaker: Speaker) -> None:
        for more in (
            {"origin": "https://evil.example"},
            {"origin": None},
            {"origin": FIREFOX},
            {"token": "AAAAA-AAAAA-AAAAA-AAAAA"},
            {"host": "evil.example"},
            {"method": "GET"},
            {"content_type": "text/plain"},
        ):
            status, told, _ = await speaker.ask(path, mark, **more)
            assert status in (401, 403, 405, 415)
            assert "topics" not in told

    with_collector(tmp_path, use)
    assert marks_of(Workspace(tmp_path).topic("bees")) == {}
