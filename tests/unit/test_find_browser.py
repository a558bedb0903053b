"""Which Chromium renders pages, where there are several."""

from __future__ import annotations

from pathlib import Path

import pytest

from trailhound.errors import ConfigError
from trailhound.fetching.browser.chromium import find_browser


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are looked for; nothing was brought by Playwright."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    return folder


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_one_without_windows_goes_first(bin_folder: Path) -> None:
    program(bin_folder / "chromium")
    shell = program(bin_folder / "chromium-headless-shell")
    assert find_browser() == shell


def test_one_with_windows_does(bin_folder: Path) -> None:
    chromium = program(bin_folder / "chromium")
    assert find_browser() == chromium


def test_that_of_playwright_is_last(bin_folder: Path, tmp_path: Path) -> None:
    brought = tmp_path / "home/.cache/ms-playwright"
    program(brought / "chromium-1300/chrome-linux/chrome")
    shell = program(brought / "chromium_headless_shell-1300/chrome-linux/headless_shell")
    assert find_browser() == shell
    chromium = program(bin_folder / "chromium")
    assert find_browser() == chromium


def test_the_chosen_one_is_taken(bin_folder: Path, tmp_path: Path) -> None:
    program(bin_folder / "chromium-headless-shell")
    chosen = program(tmp_path / "my-chromium")
    assert find_browser(Path(chosen)) == chosen


def test_none_is_told_with_the_way_out(bin_folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"chromium-headless-shell.*--render never"):
        find_browser()
