"""The demo web is served over real HTTP, host by host."""

from __future__ import annotations

import asyncio
import http.client

import aiohttp
import pytest

from trailhound.demo import DemoResponse, DemoWeb, DemoWebParameters
from trailhound.demo.server import DemoServer, serve_in_thread
from trailhound.demo.trap import trap_urls


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb.generate(
        parameters=DemoWebParameters(universities=2, people_per_department=2, papers_per_person=1)
    )


def ask(port: int, url: str) -> DemoResponse:
    """Ask the server on loopback for a URL of the demo web."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", f"/{path}", headers={"Host": host})
        answer = connection.getresponse()
        return DemoResponse(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()


def test_each_host_answers_with_its_own_pages(web: DemoWeb) -> None:
    with serve_in_thread(web) as port:
        for url in web.start_urls:
            answer = ask(port, url)
            assert answer.status == 200
            assert answer.body == web.responses[url].body
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"


def test_every_kind_of_answer_arrives_as_recorded(web: DemoWeb) -> None:
    samples = {
        (response.status, response.headers["Content-Type"]): url
        for url, response in web.responses.items()
    }
    with serve_in_thread(web) as port:
        for url in samples.values():
            answer, recorded = ask(port, url), web.responses[url]
            assert (answer.status, answer.body) == (recorded.status, recorded.body)
            for name, value in recorded.headers.items():
                assert answer.headers[name] == value
    assert {status for status, _ in samples} == {200, 301, 302, 404, 500}


def test_queries_tell_pages_apart(web: DemoWeb) -> None:
    url = next(url for url in web.responses if "thread.php?id=" in url and "SESS" not in url)
    with serve_in_thread(web) as port:
        assert ask(port, url).body == web.responses[url].body
        assert ask(port, url + "999").status == 404


def test_the_trap_is_served_without_end(web: DemoWeb) -> None:
    with serve_in_thread(web) as port:
        assert b"Next month" in ask(port, trap_urls(1)[0]).body
        far = "http://events.larkhaven-city.demo.test/calendar/2750/06"
        assert ask(port, far).status == 200


def test_unknown_hosts_and_paths_are_not_found(web: DemoWeb) -> None:
    with serve_in_thread(web) as port:
        assert ask(port, "http://nowhere.demo.test/").status == 404
        assert ask(port, f"http://127.0.0.1:{port}/").status == 404
        assert ask(port, web.start_urls[0] + "missing/<script>").status == 404


def test_a_port_in_the_host_header_does_not_matter(web: DemoWeb) -> None:
    with serve_in_thread(web) as port:
        url = web.start_urls[0].rstrip("/") + f":{port}/"
        assert ask(port, url).status == 200


def test_the_asynchronous_server_starts_stops_and_starts_again(web: DemoWeb) -> None:
    async def use() -> None:
        server = DemoServer(web)
        for _ in range(2):
            async with server, aiohttp.ClientSession() as client:
                host = web.start_urls[0].split("/")[2]
                address = f"http://127.0.0.1:{server.port}/"
                async with client.get(address, headers={"Host": host}) as answer:
                    assert answer.status == 200
            assert server.port == 0
        await server.stop()

    asyncio.run(use())


def test_the_port_is_closed_afterwards(web: DemoWeb) -> None:
    with serve_in_thread(web) as port:
        pass
    with pytest.raises(ConnectionRefusedError):
        ask(port, web.start_urls[0])
