"""What most tests of live crawls begin with: a small web on loopback, and a topic learned on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.wide_web import SMALL
from live_webs import Site, learn

from trailhound.demo import DemoWeb
from trailhound.demo.server import serve_in_thread
from trailhound.topics.workspace import TopicFolder


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb.generate(parameters=SMALL)


@pytest.fixture(scope="module")
def port(web: DemoWeb) -> Iterator[int]:
    with serve_in_thread(web) as served:
        yield served


@pytest.fixture(scope="module")
def topic_name(web: DemoWeb) -> str:
    return max(web.topics, key=lambda name: len(web.topics[name]))


@pytest.fixture
def topic(web: DemoWeb, topic_name: str, tmp_path: Path) -> TopicFolder:
    return learn(web, topic_name, tmp_path)


@pytest.fixture
def demo(topic: TopicFolder, port: int) -> Site:
    return Site(topic, port)
