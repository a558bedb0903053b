"""A real Chromium for tests of what users see; skipped without one, unless CI is set."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_SHELL = "chromium-headless-shell"
_AXE = {"preload": False, "resultTypes": ["violations"]}
"""What is in order need not be described, which saves a quarter of its time."""
GRAVE = ("serious", "critical")
PATIENCE_MS = 120_000.0
"""On a machine that does other things beside, a browser may take its time."""
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The browser that the system brings."""
    return _installed(*_NAMES)


@pytest.fixture(scope="session")
def shell_path() -> str:
    """The one without windows, which renders pages where there is one."""
    return _installed(_SHELL)


@pytest.fixture(params=[_SHELL, _NAMES[0]])
def rendering_path(request: pytest.FixtureRequest) -> str:
    """Each of the browsers that may render pages."""
    return _installed(_SHELL) if request.param == _SHELL else _installed(*_NAMES)


def _installed(*names: str) -> str:
    path = next(filter(None, map(shutil.which, names)), None)
    if path is not None:
        return path
    reason = f"no {names[0]} on this machine: install the package '{names[0]}'"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """What drives browsers.

    A process can have one only, and while it lives ``asyncio.run`` cannot be used: later tests
    must find it gone.
    """
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """One headless browser for all tests of a module: without windows, it has less to do."""
    path = _installed(_SHELL, *_NAMES)
    started = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
    yield started
    started.close()


def barriers(page: Page, impacts: Collection[str] = GRAVE) -> list[tuple[str, list[str]]]:
    """What keeps people out, as axe finds it: rules that are broken, and the elements."""
    found: Any = Axe().run(page, options=_AXE).response
    assert found["passes"], "axe has looked at nothing"
    broken = [each for each in found["violations"] if each["impact"] in impacts]
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in broken]
