"""Processes that outlive whoever starts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from trailhound.errors import StorageError
from trailhound.storage.files import check_writable
from trailhound.topics.control.running import NEXT_STEPS, DetachedProcess


def test_a_complaint_is_told_without_what_only_a_terminal_needs(tmp_path: Path) -> None:
    process = DetachedProcess(["results", "bees", "--workspace", str(tmp_path)], tmp_path / "said")
    process._process.wait()
    said = (tmp_path / "said").read_text()
    assert NEXT_STEPS in said
    assert NEXT_STEPS not in process.complaint()
    assert process.complaint().startswith("Unknown topic 'bees'")


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_kept_in_it(tmp_path: Path) -> None:
    check_writable(tmp_path / "new")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="Cannot write"):
        check_writable(tmp_path / "file")
