"""Little search servers on loopback: one that answers from a web's text, and some that lie."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from trailhound.demo import DemoWeb
from trailhound.sources.page_search import IndexedPage, PageIndex
from trailhound.text.extract import extract_page


class Said(NamedTuple):
    """A server's answer."""

    body: bytes
    status: int = 200
    headers: Sequence[tuple[str, str]] = (("Content-Type", "application/json"),)


Answer = Callable[[str, int], Said]
"""From query and limit."""


class SearchServer:
    """Serves ``answer`` and remembers the queries."""

    def __init__(self, answer: Answer) -> None:
        self.queries: list[str] = []
        self.answer = answer
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = parse_qs(urlsplit(self.path).query)
                server.queries.append(asked["q"][0])
                said = server.answer(asked["q"][0], int(asked.get("n", ["10"])[0]))
                self.send_response(said.status)
                for name, value in said.headers:
                    self.send_header(name, value)
                self.end_headers()
                with suppress(OSError):  # the client may have had enough
                    self.wfile.write(said.body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = int(self._server.server_address[1])

    @property
    def template(self) -> str:
        return f"http://127.0.0.1:{self.port}/search?q={{query}}&n={{limit}}&format=json"

    @contextmanager
    def served(self) -> Iterator[SearchServer]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


def results(urls: Sequence[str]) -> Said:
    """In the shape of SearXNG."""
    found = [{"url": url, "title": "A title", "content": "Some words"} for url in urls]
    return Said(json.dumps({"query": "x", "results": found}).encode())


def demo_search(web: DemoWeb) -> Answer:
    """A search engine that knows every page of the demo web."""
    pages = (
        extract_page(response.body, url, response.headers.get("Content-Type", ""))
        for url, response in web.responses.items()
        if response.status == 200 and response.headers["Content-Type"].startswith("text/html")
    )
    index = PageIndex(IndexedPage(page.url, page.title, page.text) for page in pages)

    def answer(query: str, limit: int) -> Said:
        return results([hit.url for hit in islice(index.ranked(query), limit)])

    return answer
