"""What most tests of live crawls begin with: a small web on loopback, and a topic learned on it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.wide_web import SMALL
from live_webs import Site, learn

from trailhound.demo import DemoWeb
from trailhound.demo.server import serve_in_thread
from trailhound.topics.workspace import TopicFolder, Workspace


@pytest.fixture(scope="session")
def web() -> DemoWeb:
    return DemoWeb.generate(parameters=SMALL)


@pytest.fixture(scope="module")
def port(web: DemoWeb) -> Iterator[int]:
    with serve_in_thread(web) as served:
        yield served


@pytest.fixture(scope="session")
def topic_name(web: DemoWeb) -> str:
    return max(web.topics, key=lambda name: len(web.topics[name]))


@pytest.fixture(scope="session")
def learned_workspace(
    web: DemoWeb, topic_name: str, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A workspace to be copied."""
    folder = tmp_path_factory.mktemp("learned")
    learn(web, topic_name, folder)
    return folder


@pytest.fixture
def topic(learned_workspace: Path, topic_name: str, tmp_path: Path) -> TopicFolder:
    shutil.copytree(learned_workspace, tmp_path, dirs_exist_ok=True)
    return Workspace(tmp_path).topic(topic_name)


@pytest.fixture
def demo(topic: TopicFolder, port: int) -> Site:
    return Site(topic, port)
