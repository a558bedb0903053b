"""The Prometheus endpoint of a running crawl, on this machine only."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from trailhound.crawling.metrics import CONTENT_TYPE, metrics_text
from trailhound.errors import ConfigError
from trailhound.live.crawl import LiveCrawl

_LOOPBACK = "127.0.0.1"


@contextmanager
def metrics_served(crawl: LiveCrawl, port: int) -> Iterator[str]:
    """Serve the crawl's figures while the context lasts; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """The figures, or that they are elsewhere."""
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(404, "The figures are at /metrics")
                return
            text = metrics_text(crawl.progress, crawl.stats(), crawl.folder.topic.name, time.time())
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Requests for figures are not worth a line."""

    server = _listen(port, Handler)
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield f"http://{_LOOPBACK}:{server.server_address[1]}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _listen(port: int, handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    try:
        return ThreadingHTTPServer((_LOOPBACK, port), handler)
    except OSError as error:
        raise ConfigError(
            f"The metrics cannot be served at port {port}: {error.strerror or error}. Choose "
            "another port with --metrics PORT, or leave it out."
        ) from error
