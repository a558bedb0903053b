"""Crawls that are to render pages with a browser that does not start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from live_webs import Resource, TinySite

from command_line import Command

pytest.importorskip("playwright")

PAGE = Resource(b"<title>Hives</title><div id=app></div><script src=/app.js></script>")


@pytest.mark.skipif(sys.platform == "win32", reason="the browser is a shell script")
@pytest.mark.parametrize(("render", "code"), [("auto", 0), ("always", 1)])
def test_a_browser_that_does_not_start_is_told_of_once(
    trailhound: Command, tmp_path: Path, render: str, code: int
) -> None:
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\n")
    browser.chmod(0o755)
    with TinySite({"/": PAGE}) as site:
        done = trailhound(
            *("crawl", "bees", "--seed", "http://hives.test/", "--judge", "keywords:words=hives"),
            *("--resolve", f"hives.test=127.0.0.1:{site.port}", "--allow-address", "hives.test"),
            *("--user-agent", "bees-bot (+https://example.org/bot)", "--max-requests", "5"),
            *("--render", render, "--fetcher", f"browser:executable={browser}"),
        )
    assert done.code == code, done.err
    told = " ".join(done.err.split())
    assert told.count("the browser does not start") == 1
    assert ("No page was rendered" in " ".join((done.out + done.err).split())) == (code == 1)
