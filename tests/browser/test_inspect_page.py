"""The page of ``trailhound inspect --html`` in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from learned_topics import learned_park
from playwright.sync_api import Browser, Page

from trailhound.reports.inspection import render_inspection

pytestmark = pytest.mark.browser

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture(scope="module")
def html_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("inspect") / "bees.html"
    path.write_text(render_inspection(learned_park()), "utf-8")
    return path


@pytest.fixture(params=SCHEMES)
def page(
    browser: Browser, html_file: Path, request: pytest.FixtureRequest
) -> Iterator[tuple[Page, list[str]]]:
    """The opened page, and everything the browser complained about or asked for."""
    complaints: list[str] = []
    opened = browser.new_page(color_scheme=request.param, viewport={"width": 1100, "height": 900})
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "request",
        lambda asked: complaints.append(asked.url) if not asked.url.startswith("file:") else None,
    )
    opened.goto(html_file.as_uri())
    yield opened, complaints
    opened.close()


def test_it_opens_without_complaint_and_shows_every_picture(page: tuple[Page, list[str]]) -> None:
    opened, complaints = page
    assert complaints == []
    pictures = opened.locator("svg[role=img]")
    assert pictures.count() == 5
    for number in range(5):
        picture = pictures.nth(number)
        assert picture.is_visible()
        box = picture.bounding_box()
        assert box is not None
        assert box["width"] > 150
        assert box["height"] > 60
        assert picture.evaluate("svg => svg.getBBox().width") > 0


def test_text_in_pictures_stands_out_from_the_page(page: tuple[Page, list[str]]) -> None:
    opened, _ = page
    colours = opened.evaluate(
        """() => {
            const label = document.querySelector("svg[role=img] text");
            const brightness = (css) => {
                const [r, g, b] = css.match(/[0-9.]+/g).map(Number);
                return (r + g + b) / 3;
            };
            const page = getComputedStyle(document.body).backgroundColor;
            return [brightness(getComputedStyle(label).fill), brightness(page)];
        }"""
    )
    assert abs(colours[0] - colours[1]) > 100


def test_nothing_hangs_over_on_a_narrow_screen(browser: Browser, html_file: Path) -> None:
    opened = browser.new_page(viewport={"width": 380, "height": 800})
    opened.goto(html_file.as_uri())
    overhang = opened.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    opened.close()
    assert overhang <= 0


def test_numbers_of_the_concept_graph_unfold(page: tuple[Page, list[str]]) -> None:
    opened, _ = page
    table = opened.locator("details table")
    assert not table.is_visible()
    opened.locator("details summary").click()
    assert table.is_visible()
