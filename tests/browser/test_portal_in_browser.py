"""The portal in a real browser: served with a strict policy, and as files opened from disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from chromium import GRAVE, PATIENCE_MS, barriers
from found_pages import DAY, NOON, Find, crawl_of
from trailhound.portal import Portal
from trailhound.portal.pages import CONTENT_SECURITY_POLICY
from trailhound.portal.site import write_site

pytestmark = pytest.mark.browser

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
EVIL = Find(
    "https://evil.test/x",
    "<img src=x onerror=alert(1)> Evil honey </script><script>alert(2)</script>",
    "</script><script>alert(3)</script> evil honey <svg onload=alert(4)> __proto__ constructor",
    score=0.99,
)
FINDS = [
    EVIL,
    Find("javascript:alert(document.domain)", "Scripted honey", "honey by script"),
    Find("https://imker.test/honig", "Der Honig", "Bienen machen Honig.", language="de"),
    Find("https://ja.test/", "蜂蜜の話", "日本の蜂蜜と養蜂家", language="ja"),
    Find("https://ru.test/", "Пчёлы", "Пчёлы делают мёд", language="ru"),
    Find("https://fr.test/", "L’élevage", "Un élevage d’abeilles", language="fr", at=NOON + DAY),
    *(
        Find(
            f"https://hives{number % 3}.test/{number}",
            f"Hive number {number}",
            f"Menu Home About Colonies of bees live in hive {number}. "
            + "The beekeeper looks after them in spring and autumn. " * 30
            + "Deep below, a passage on thymol.",
            score=0.9 - number / 1000,
        )
        for number in range(120)
    ),
]


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Portal:
    return Portal(crawl_of(tmp_path_factory.mktemp("workspace"), FINDS), "Bees & <b>honey</b>")


@pytest.fixture(scope="module")
def site(portal: Portal, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "bees – œuvre 100%"
    assert write_site(portal, folder) == len(FINDS)
    return folder


@pytest.fixture
def complaints() -> list[str]:
    return []


def opened(
    browser: Browser, complaints: list[str], width: int, scheme: Literal["light", "dark"]
) -> Page:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    return page


@pytest.fixture(params=[("light", 1100), ("dark", 1100), ("light", 390)], ids=str)
def page(browser: Browser, complaints: list[str], request: pytest.FixtureRequest) -> Iterator[Page]:
    made = opened(browser, complaints, request.param[1], request.param[0])
    yield made
    made.close()


def titles(page: Page) -> list[str]:
    return page.locator("#hits h2").all_inner_texts()


def look_for(page: Page, words: str, told: str) -> None:
    page.locator("#q").fill(words)
    page.locator("#q").press("Enter")
    expect(page.locator("#told")).to_have_text(told)


def assert_sound(page: Page, complaints: list[str]) -> None:
    """No complaint, nothing hangs over, and nothing serious for those who cannot see it."""
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert barriers(page, impacts=("minor", "moderate", *GRAVE)) == []


def test_a_site_is_searched_from_disk(page: Page, site: Path, complaints: list[str]) -> None:
    page.goto((site / "index.html").as_uri())
    expect(page.locator("#filters a").first).to_be_attached()
    assert titles(page)[0] == EVIL.title
    assert_sound(page, complaints)
    look_for(page, "hive 17", "1 page")
    assert titles(page) == ["Hive number 17"]
    assert page.locator("#hits h2 a").get_attribute("href") == "https://hives2.test/17"
    look_for(page, "beekeep", "120 pages, part 1 of 6")
    assert "beekeeper" in page.locator(".snippet mark").all_inner_texts()
    assert_sound(page, complaints)


def test_words_of_any_script_and_the_deep_of_pages_are_found(
    browser: Browser, site: Path, complaints: list[str]
) -> None:
    page = opened(browser, complaints, 1100, "light")
    page.goto((site / "index.html").as_uri())
    look_for(page, "thymol", "120 pages, part 1 of 6")
    look_for(page, "мед", "1 page")
    assert titles(page) == ["Пчёлы"]
    look_for(page, "elevage", "1 page")
    look_for(page, "蜂蜜", "1 page")
    assert titles(page) == ["蜂蜜の話"]
    look_for(page, "養", "1 page")
    look_for(page, "__proto__ constructor", "1 page")
    look_for(page, "toString", "Nothing found.")
    look_for(page, "?!", "Nothing found.")
    look_for(page, "", f"{len(FINDS)} pages, the best 20 of them")
    assert complaints == []
    page.close()


def test_filters_order_and_history(browser: Browser, site: Path, complaints: list[str]) -> None:
    page = opened(browser, complaints, 1100, "light")
    page.goto((site / "index.html").as_uri())
    look_for(page, "hive", "120 pages, part 1 of 6")
    page.get_by_role("link", name="hives1.test").click()
    expect(page.locator("#told")).to_have_text("40 pages, part 1 of 2")
    page.get_by_role("link", name="Next").click()
    expect(page.locator("#told")).to_have_text("40 pages, part 2 of 2")
    assert len(titles(page)) == 20
    page.go_back()
    expect(page.locator("#told")).to_have_text("40 pages, part 1 of 2")
    page.get_by_role("link", name="hives1.test").click()
    expect(page.locator("#told")).to_have_text("120 pages, part 1 of 6")
    look_for(page, "", f"{len(FINDS)} pages, the best 20 of them")
    page.get_by_role("link", name="Newest first").click()
    expect(page.locator("#hits h2").first).to_have_text("L’élevage")
    page.get_by_role("link", name="German").click()
    expect(page.locator("#told")).to_have_text("1 page")
    assert complaints == []
    page.close()


def test_what_strangers_wrote_stays_text(
    browser: Browser, site: Path, complaints: list[str]
) -> None:
    page = opened(browser, complaints, 1100, "light")
    page.goto((site / "index.html").as_uri() + "#q=<img src=x onerror=alert(5)>&host=<script>")
    expect(page.locator("#told")).to_have_text("Nothing found.")
    look_for(page, "evil", "Nothing found.")
    page.goto((site / "index.html").as_uri() + "#")
    look_for(page, "honey", "2 pages")
    assert titles(page) == [EVIL.title, "Scripted honey"]
    assert page.locator("#hits img, #hits svg, #hits script").count() == 0
    assert page.locator("#hits h2 a").count() == 1, "a script is no link"
    page.goto((site / "pages" / "1.html").as_uri())
    assert page.locator("[href^=javascript]").count() == 0
    assert page.locator(".brand").inner_text() == "Bees & <b>honey</b>"
    assert complaints == []
    page.close()


def test_lists_and_about_need_no_script(
    browser: Browser, site: Path, complaints: list[str]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    assert page.locator("form").is_hidden()
    page.get_by_role("link", name="list of all pages").click()
    expect(page.locator(".hits li")).to_have_count(100)
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".hits li")).to_have_count(len(FINDS) - 100)
    page.get_by_role("link", name="About").click()
    expect(page.locator("article")).to_contain_text(f"{len(FINDS)} pages")
    context.close()
    del complaints


@pytest.fixture(scope="module")
def served(portal: Portal) -> Iterator[str]:
    """The portal as a server may serve it, with its policy."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            said = {name: values[0] for name, values in parse_qs(address.query).items()}
            name = address.path.removeprefix("/bees/")
            asset = portal.asset(name)
            kind, content = "text/html; charset=utf-8", portal.about_page().encode()
            if asset is not None:
                content, kind = asset
            elif not name:
                page = portal.search_page(said.get("q", ""), int(said.get("page", 1)), said)
                content = page.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/bees/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_served_portal_is_searched(page: Page, served: str, complaints: list[str]) -> None:
    page.goto(served)
    assert_sound(page, complaints)
    page.locator("#q").fill("bees colonies")
    page.locator("#q").press("Enter")
    expect(page.locator(".told p").first).to_contain_text("120 pages")
    assert {"Colonies", "bees"} <= set(page.locator("mark").all_inner_texts())
    assert_sound(page, complaints)
    page.get_by_role("link", name="hives1.test").click()
    expect(page.locator(".told p").first).to_contain_text("40 pages")
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".hits li")).to_have_count(20)
    page.get_by_role("link", name="About").click()
    expect(page.locator("h1")).to_contain_text("About")
    assert_sound(page, complaints)
