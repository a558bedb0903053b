"""Scrapy spiders ranked by a learned topic, in processes of their own, against loopback servers."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from benchmarks.scrapy_integration import OURS, THEIRS, crawl_apart

import trailhound as th
from loopback import served
from trailhound.demo import DemoWeb
from trailhound.demo.web import with_sources

KILLED = Path(__file__).with_name("scrapy_to_be_killed.py")
REQUESTS = 150


@pytest.fixture(scope="module")
def topic(web: DemoWeb, topic_name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("learned") / "topic"
    th.learn(with_sources(web.sessions[topic_name], web), name=topic_name).save(place)
    return place


def test_the_example_finds_twice_as_much_as_in_scrapys_own_order(
    web: DemoWeb, port: int, topic: Path, topic_name: str
) -> None:
    visited = {page.url for page in th.load_topic(topic).model.graph.pages}
    found = {}
    for kind in (OURS, THEIRS):
        pages = crawl_apart(kind, web, port, topic, REQUESTS).pages
        urls = {web.duplicates.get(url, url) for asked, url in pages if asked <= REQUESTS}
        found[kind] = len(urls & web.topics[topic_name] - visited)
    assert found[OURS] > 0
    assert found[OURS] >= 2 * found[THEIRS]


class Tree:
    """Serves the tree, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.is_enough = threading.Event()

    def handler(self) -> type[BaseHTTPRequestHandler]:
        tree = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                depth = self.path.count("/") - (self.path == "/")
                body = b"<title>A page</title>"
                if self.path == "/" or depth < 4:
                    stem = self.path.rstrip("/")
                    body += "".join(f'<a href="{stem}/{n}">{n}</a>' for n in "abc").encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                tree.asked[self.path] += 1
                if tree.asked.total() >= 40:
                    tree.is_enough.set()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_killed_spider_goes_on_and_loses_nothing(topic: Path, tmp_path: Path) -> None:
    tree = Tree()
    with served(tree.handler()) as port:
        command = [sys.executable, str(KILLED), f"http://127.0.0.1:{port}/", str(topic)]
        command.append(str(tmp_path / "job"))
        with subprocess.Popen(command, stdout=subprocess.PIPE) as killed:
            assert tree.is_enough.wait(60)
            killed.send_signal(signal.SIGKILL)
        before = tree.asked.total()
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "0", "callbacks and their arguments are as they were"
    assert before < tree.asked.total()
    assert len(tree.asked) == 1 + 3 + 9 + 27 + 81
    again = [path for path, times in tree.asked.items() if times > 1 and path != "/"]
    assert len(again) <= 8, "no more than were under way, or whose links were being taken in"
