from __future__ import annotations

from pathlib import Path

import pytest

from trailhound.assemble import demo_page_graph
from trailhound.demo import DemoWeb
from trailhound.demo.files import write_demo_sessions
from trailhound.errors import StorageError
from trailhound.sessions.files import read_session
from trailhound.sessions.page_graph import build_page_graph


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb.generate(seed=7)


def test_written_sessions_hold_all_that_the_web_would_tell(web: DemoWeb, tmp_path: Path) -> None:
    paths = write_demo_sessions(web, tmp_path / "new" / "sessions")
    assert [path.name for path in paths] == [f"{topic}.jsonl" for topic in sorted(web.topics)]
    for path in paths[:3]:
        alone = build_page_graph([read_session(path)], lambda _: None)
        helped = demo_page_graph(web, path.stem)
        assert [page.url for page in alone.pages] == [page.url for page in helped.pages]
        assert [page.terms for page in alone.pages] == [page.terms for page in helped.pages]
        assert (alone.edges, alone.targets) == (helped.edges, helped.targets)


def test_a_folder_that_cannot_be_made_is_named(web: DemoWeb, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="Cannot make the folder"):
        write_demo_sessions(web, tmp_path / "file")
