"""Portals over HTTP: what everybody may read, and that there is nothing else at their port."""

from __future__ import annotations

import asyncio
import errno
import http.client
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from app_server import RefusedError, ServedApp, serving_app, wait_until
from found_pages import Find, add_finds, crawl_of
from trailhound.collector import guard
from trailhound.errors import ConfigError, UsageError
from trailhound.portal.publishing import for_a_while, publication, publication_of, publish
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.workspace import Workspace
from trailhound.web import PortalListening, PortalServer, connections, portal_server, server

HIVE = "https://bees.example/hive"
FINDS = (
    Find(HIVE, "Hives in spring", "How a hive wakes up in spring, and what it eats."),
    Find("https://bees.example/mites", "<script>alert(1)</script>", "Varroa mites & honey"),
    Find("https://bees.example/secret", "Rejected", "nothing about bees", relevant=False),
)


def asked(
    address: str, method: str = "GET", headers: dict[str, str] | None = None
) -> tuple[int, str, dict[str, str]]:
    """Status, text and headers; paths go out as they are written."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    path = address.partition(f":{parts.port}")[2]
    connection.request(method, path, headers=headers or {})
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    return answer.status, content, dict(answer.getheaders())


def published(app: ServedApp, **how: str) -> str:
    crawl_of(app.workspace.folder, FINDS)
    app.workspace.folder_for("bees").prepare()
    address: str = app.put("/api/topics/bees/portal", how)["address"]
    return address


def test_a_published_topic_is_searched_and_fed_and_holds_only_finds(app: ServedApp) -> None:
    address = published(app, title="Bee health", description="About <bees>")
    assert address.endswith("/bee-health/")
    status, page, headers = asked(address)
    assert (status, headers["X-Frame-Options"]) == (200, "DENY")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Hives in spring" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "Rejected" not in page
    assert "Varroa" in asked(f"{address}?q=mite&page=7&order=newest&host=bees.example")[1]
    assert "<rss" in asked(f"{address}feed.rss")[1]
    assert address in asked(f"{address}feed.atom")[1]
    assert asked(f"{address}portal.css")[2]["Content-Type"].startswith("text/css")
    assert "About &lt;bees&gt;" in asked(f"{address}about")[1]
    root = address.removesuffix("bee-health/")
    assert asked(root)[2]["Location"] == "/bee-health/"


PRIVATE = (
    "api/home",
    "api/openapi.json",
    "api/topics/bees/results",
    "v1/pair",
    "v1/events",
    "v1/news",
    "index.html",
    "main.js",
    "docs",
    "app.json",
    "bees/topic.json",
    "bees/../app.json",
    "../app.json",
    "..%2fapp.json",
    "bees/..%2f..%2f..%2fapp.json",
    "bees/%2e%2e/%2e%2e/app.json",
    "bees/crawl/results.db",
    "bees//etc/passwd",
    "bees/portal.css/../../../app.json",
)


@pytest.mark.parametrize("path", PRIVATE)
def test_private_routes_are_not_at_the_portals_port(app: ServedApp, path: str) -> None:
    root = published(app).removesuffix("bees/")
    token = {"Authorization": f"Bearer {app.token}"}
    for method in ("GET", "POST", "PUT", "DELETE"):
        status, content, _ = asked(root + path, method, token)
        assert status == 404, (method, path)
        assert app.token not in content


def test_other_names_of_this_machine_are_refused(app: ServedApp) -> None:
    address = published(app)
    status, content, _ = asked(address, headers={"Host": "evil.example"})
    assert (status, content) == (403, "This host is not served here.")


def test_at_port_80_browsers_name_no_port(app: ServedApp, monkeypatch: pytest.MonkeyPatch) -> None:
    address = published(app)
    assert asked(address, headers={"Host": "localhost"})[0] == 403
    monkeypatch.setitem(guard.OWN_PORTS, "http", app.server.app.portal.port)
    assert asked(address, headers={"Host": "localhost"})[0] == 200


def test_publishing_outlives_the_app_and_ends_at_once(tmp_path: Path) -> None:
    with serving_app(tmp_path) as app:
        published(app, name="hives")
    with serving_app(tmp_path) as app:
        shown = app.get("/api/topics/bees/portal")
        assert (shown["published"], shown["name"]) == (True, "hives")
        assert asked(shown["address"])[0] == 200
        crawl = CrawlFolder(app.workspace.folder_for("bees"))
        add_finds(crawl, [Find("https://bees.example/new", "A new find", "of today")])
        wait_until(lambda: "A new find" in asked(shown["address"])[1] or None)
        assert app.delete("/api/topics/bees/portal")["published"] is False
        assert app.server.app.portal.port == 0


@pytest.mark.parametrize("name", ["../up", "Capital", "a/b", "-", "x" * 61, "api%2fhome", "ü"])
def test_names_that_are_no_part_of_an_address_are_refused(app: ServedApp, name: str) -> None:
    with pytest.raises(RefusedError, match="cannot be the name") as refused:
        published(app, name=name)
    assert refused.value.status == 400


def test_two_topics_cannot_have_one_name(app: ServedApp) -> None:
    address = published(app)
    crawl_of(app.workspace.folder, FINDS, topic="wasps")
    app.workspace.folder_for("wasps").prepare()
    with pytest.raises(RefusedError, match="published as 'bees' already"):
        app.put("/api/topics/wasps/portal", {"name": "bees"})
    app.put("/api/topics/wasps/portal", {"title": "Wasps & co"})
    listed = asked(address.removesuffix("bees/"))[1]
    assert '<a href="wasps-co/">Wasps &amp; co</a>' in listed


def test_two_topics_are_published_at_once(app: ServedApp) -> None:
    for topic in ("bees", "wasps"):
        crawl_of(app.workspace.folder, FINDS, topic=topic)
        app.workspace.folder_for(topic).prepare()
    with ThreadPoolExecutor(2) as both:
        told = list(
            both.map(lambda topic: app.put(f"/api/topics/{topic}/portal", {}), ("bees", "wasps"))
        )
    assert all(asked(each["address"])[0] == 200 for each in told)


def test_a_port_that_is_taken_costs_no_publication(tmp_path: Path) -> None:
    crawl_of(tmp_path, FINDS)
    topic = Workspace(tmp_path).folder_for("bees")
    topic.prepare()
    before = publication(topic, "hives", "A title", "A description")
    with socket.create_server(("127.0.0.1", 0)) as taken, serving_app(tmp_path) as app:
        listening = PortalListening(port=taken.getsockname()[1])
        app.server.app.portal = PortalServer(app.workspace, listening)
        with pytest.raises(RefusedError, match=r"409.*cannot listen"):
            app.put("/api/topics/bees/portal", {"title": "New"})
        assert publication_of(topic) is None
        publish(app.workspace, topic, before)
        with pytest.raises(RefusedError, match=r"409.*cannot listen"):
            app.put("/api/topics/bees/portal", {"name": "hives", "title": "New"})
        assert publication_of(topic) == before
        assert app.delete("/api/topics/bees/portal")["published"] is False


def test_it_can_be_read_at_the_loopback_of_ipv6(tmp_path: Path) -> None:
    crawl_of(tmp_path, FINDS)
    workspace = Workspace(tmp_path)
    topic = workspace.folder_for("bees")
    topic.prepare()
    publish(workspace, topic, publication(topic, "hives", "", ""))
    portal = PortalServer(workspace, PortalListening(port=0, host="::1"))

    async def look() -> int:
        await portal.follow()
        try:
            return (await asyncio.to_thread(asked, portal.address("hives")))[0]
        finally:
            await portal.stop()

    assert asyncio.run(look()) == 200
    assert portal.address() == ""


def test_no_host_is_not_taken_for_everywhere() -> None:
    with pytest.raises(ConfigError, match="--portal-host is empty"):
        PortalListening(host=" ")


def test_everywhere_is_told_with_an_address_that_works(tmp_path: Path) -> None:
    crawl_of(tmp_path, FINDS)
    workspace = Workspace(tmp_path)
    workspace.folder_for("bees").prepare()
    more = for_a_while(workspace, [workspace.folder_for("bees")])

    async def look(host: str) -> int:
        portal = PortalServer(workspace, PortalListening(port=0, host=host), more)
        await portal.follow()
        try:
            return (await asyncio.to_thread(asked, portal.address("bees")))[0]
        finally:
            await portal.stop()

    assert asyncio.run(look("0.0.0.0")) == asyncio.run(look("::")) == 200


def test_names_made_of_other_letters_do_not_hide_one_another(app: ServedApp) -> None:
    topics = [app.workspace.folder_for(name) for name in ("蜂", "黄蜂")]
    for topic in topics:
        crawl_of(app.workspace.folder, FINDS, topic=topic.name)
        topic.prepare()
    with pytest.raises(UsageError, match="'蜂' and '黄蜂' would both be published as 'portal'"):
        for_a_while(app.workspace, topics)
    app.server.app.portal.more.update(for_a_while(app.workspace, topics[:1]))
    with pytest.raises(RefusedError, match="'蜂' is published as 'portal' already"):
        app.put(f"/api/topics/{quote('黄蜂')}/portal", {})
    app.put(f"/api/topics/{quote('黄蜂')}/portal", {"name": "wasps"})
    assert for_a_while(app.workspace, topics[1:])["黄蜂"].name == "portal"


def half_a_request(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Endless: ")
    return connection


def has_ended(connection: socket.socket) -> bool:
    """Whether the server hangs up, before the patience of the connection is over."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_readers_who_say_nothing_take_no_place_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_MOST_READERS", 5)
    with serving_app(tmp_path) as app, ExitStack() as opened:
        address = published(app)
        port = app.server.app.portal.port
        idle = [opened.enter_context(half_a_request(port)) for _ in range(20)]
        assert all(map(has_ended, idle[:15]))
        assert asked(address)[0] == 200
        assert app.get("/api/home")["topics"]


def test_what_is_being_answered_keeps_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_MOST_READERS", 2)
    with serving_app(tmp_path) as app, ExitStack() as opened:
        address = published(app)
        portal, goes_on = app.server.app.portal, threading.Event()
        publications, entered = portal.publications, threading.Event()

        def slowly() -> Any:
            entered.set()
            goes_on.wait(60)
            return publications()

        monkeypatch.setattr(portal, "publications", slowly)
        with ThreadPoolExecutor(1) as reader:
            answer = reader.submit(asked, address)
            entered.wait(60)
            idle = [opened.enter_context(half_a_request(portal.port)) for _ in range(4)]
            assert all(map(has_ended, idle[:3]))
            goes_on.set()
            assert answer.result()[0] == 200


@pytest.mark.parametrize("whose", ["portal", "app"])
def test_who_says_nothing_is_hung_up_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    monkeypatch.setattr(portal_server, "WAIT_SECONDS", 0.2)
    monkeypatch.setattr(server, "WAIT_SECONDS", 0.2)
    with serving_app(tmp_path) as app:
        published(app)
        port = app.port if whose == "app" else app.server.app.portal.port
        with half_a_request(port) as halfway, socket.create_connection(("127.0.0.1", port)) as mute:
            assert has_ended(halfway)
            assert has_ended(mute)


def test_who_reads_no_answer_is_hung_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_LOOK_SECONDS", 0.5)
    with serving_app(tmp_path) as app, socket.socket() as connection:
        address = urlsplit(published(app))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", address.port))
        connection.settimeout(60)
        request = f"GET {address.path}portal.css HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n"
        with suppress(ConnectionError):
            for _ in range(5000):
                connection.sendall(request.encode())
        wait_until(lambda: not app.server.app.portal.readers)


class Talking(asyncio.Protocol):
    """Gives everybody a long answer at once."""

    LENGTH = 1_000_000

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"x" * self.LENGTH)


def test_who_reads_an_answer_slowly_gets_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_LOOK_SECONDS", 0.5)

    async def read_slowly() -> tuple[int, float]:
        loop, places = asyncio.get_running_loop(), connections.Places(1)
        with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as reader:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 10_000)
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 10_000)
            reader.setblocking(False)
            async with await loop.create_server(lambda: places.given_to(Talking()), sock=listener):
                began, read = loop.time(), 0
                await loop.sock_connect(reader, listener.getsockname())
                while read < Talking.LENGTH:
                    await asyncio.sleep(0.02)
                    read += len(await loop.sock_recv(reader, 10_000)) or Talking.LENGTH
                reader.close()
        return read, loop.time() - began

    read, seconds = asyncio.run(read_slowly())
    assert read == Talking.LENGTH
    assert seconds > 3 * 0.5


def test_connections_that_cannot_be_taken_are_told_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def run_out_of_descriptors() -> None:
        loop = asyncio.get_running_loop()
        connections.tell_of_no_room_seldom(loop)
        full = OSError(errno.EMFILE, "Too many open files")
        with socket.socket() as listener:
            for _ in range(100):
                loop.call_exception_handler({"exception": full, "socket": listener})
        loop.call_exception_handler({"message": "something else", "exception": OSError()})

    asyncio.run(run_out_of_descriptors())
    assert [record.getMessage() for record in caplog.records] == [
        "No connection can be taken right now: Too many open files",
        "something else",
    ]
