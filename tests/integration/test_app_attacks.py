"""Whom the app refuses: other sites, other names for this machine, paths that lead elsewhere."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from app_server import ServedApp, serving_app
from found_pages import Find, crawl_of
from trailhound.web.api import Route
from trailhound.web.routes import ALL_ROUTES

SCRIPT = "<script>alert(1)</script>"
EVIL = "http://evil.example"
FINDS = (
    Find("https://bees.example/a", html=f"<title>{SCRIPT}</title><p>Bees &lt;b&gt; {SCRIPT}"),
    Find("https://bees.example/b", f'"><img src=x onerror=alert(1)>{SCRIPT}', SCRIPT),
)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    """One for all that is refused: none of it changes a thing."""
    with serving_app(tmp_path_factory.mktemp("attacked") / "workspace") as served:
        yield served


@pytest.fixture(scope="module")
def bees(app: ServedApp) -> ServedApp:
    crawl_of(app.workspace.folder, FINDS).topic.prepare()
    return app


def path_of(route: Route) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: "bees" if name[1] == "topic" else "1", route.path)


def everything() -> list[tuple[str, str]]:
    return [(route.method, path_of(route)) for route in ALL_ROUTES]


@pytest.mark.parametrize(("method", "path"), everything())
def test_no_route_answers_strangers(bees: ServedApp, method: str, path: str) -> None:
    right = {"Authorization": f"Bearer {bees.token}"}
    host = f"127.0.0.1:{bees.port}"
    for headers, expected in (
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Basic {bees.token}"}, 401),
        ({"Cookie": f"token={bees.token}"}, 401),
        ({"Content-Type": "text/plain"}, 401),
        ({"Origin": bees.base}, 401),
        ({**right, "Origin": EVIL}, 403),
        ({**right, "Origin": "null"}, 403),  # a sandboxed frame
        ({**right, "Origin": f"http://localhost.evil.example:{bees.port}"}, 403),
        ({**right, "Host": f"evil.example:{bees.port}"}, 403),  # DNS rebinding
        ({**right, "Host": "127.0.0.1"}, 403),
        ({**right, "Host": f"{host}.evil.example"}, 403),
    ):
        status, content = bees.ask(method, path, {} if method != "GET" else None, headers)
        assert status == expected, (headers, content)
        assert bees.token.encode() not in content
    assert bees.get("/api/home")["topics"][0]["topic"] == "bees"


def test_two_hosts_are_one_too_many(bees: ServedApp) -> None:
    host = f"127.0.0.1:{bees.port}"
    request = (
        f"GET /api/home HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n"
        f"Authorization: Bearer {bees.token}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", bees.port), timeout=60) as connection:
        connection.sendall(request.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b" 200 " not in answer.split(b"\r\n")[0]


def test_a_refused_request_changes_nothing(bees: ServedApp) -> None:
    mark = {"urls": ["https://bees.example/a"], "useful": False}
    for headers in ({}, {"Authorization": f"Bearer {bees.token}", "Origin": EVIL}):
        bees.ask("POST", "/api/topics/bees/results/marks", mark, headers)
        bees.ask("DELETE", "/api/topics/bees", None, headers)
        bees.ask("PUT", "/api/topics/bees/portal", {"name": "mine"}, headers)
    assert len(bees.get("/api/topics/bees/results")["results"]) == 2
    assert not bees.get("/api/topics/bees/portal")["published"]


STATIC_PATHS = (
    "/../access.py",
    "/..%2faccess.py",
    "/%2e%2e/access.py",
    "/%2e%2e%2faccess.py",
    "/lib/../../access.py",
    "/lib/..%2f..%2faccess.py",
    "/lib/..%5c..%5caccess.py",
    "//etc/passwd",
    "/%2fetc%2fpasswd",
    "/static/app.css",
    "/app.json",
    "/..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/index.html%00.js",
    f"/{'x' * 5000}.js",
    "/lib",
    "/document/",
    "/document/guess",
    "/document/..%2fapp.json",
)


@pytest.mark.parametrize("path", STATIC_PATHS)
def test_static_paths_lead_nowhere_else(app: ServedApp, path: str) -> None:
    status, content = app.ask("GET", path)
    assert status == 404, content
    assert app.token.encode() not in content


NAMES = (
    "..",
    "..%2f..",
    "..%2f..%2fapp.json",
    "%2e%2e%2fbees",
    "..%5c..%5cbees",
    "%00",
    "bees%00",
    "bees%0d%0aX-Evil:%201",
    "CON",
    "x" * 3000,
    "%ff",
    "~root",
)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_topics_lead_nowhere_else(bees: ServedApp, name: str) -> None:
    before = sorted(bees.workspace.folder.parent.rglob("*"))
    for method, path, body in (
        ("GET", f"/api/topics/{name}", None),
        ("GET", f"/api/topics/{name}/results", None),
        ("GET", f"/api/topics/{name}/exports/csv", None),
        ("POST", f"/api/topics/{name}/exports", {"format": "csv"}),
        ("PUT", f"/api/topics/{name}/portal", {}),
        ("DELETE", f"/api/topics/{name}", None),
    ):
        status, content = bees.ask(method, path, body)
        assert 400 <= status < 500, (method, path, content)
    assert sorted(bees.workspace.folder.parent.rglob("*")) == before


@pytest.mark.parametrize("kind", ["..%2fapp.json", "..", "csv%00", "site/../../app.json"])
def test_exports_are_no_way_to_other_files(bees: ServedApp, kind: str) -> None:
    status, content = bees.ask("GET", f"/api/topics/bees/exports/{kind}")
    assert status in (400, 404)
    assert bees.token.encode() not in content


def test_what_strangers_wrote_goes_out_as_data(bees: ServedApp) -> None:
    for path in ("results", "results/facets", "results/why?url=https://bees.example/b"):
        headers = headers_of(bees, f"/api/topics/bees/{path}")
        assert headers["content-type"].startswith("application/json")
        assert headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"


def test_an_archived_page_is_served_into_a_sandbox(bees: ServedApp) -> None:
    copy = bees.get("/api/topics/bees/results/copy?url=https://bees.example/a")
    headers = headers_of(bees, copy["document"])
    policy = headers["content-security-policy"]
    assert "sandbox" in policy.split("; ")  # with nothing allowed
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "allow-" not in policy


def headers_of(app: ServedApp, path: str) -> dict[str, Any]:
    request = (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{app.port}\r\n"
        f"Authorization: Bearer {app.token}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", app.port), timeout=60) as connection:
        connection.sendall(request.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head = answer.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    assert " 200 " in head[0]
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
