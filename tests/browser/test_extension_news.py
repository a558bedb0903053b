"""What is new, in a real Chromium: on the badge, in the popup, in new tabs; marks count at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Playwright
from recording_browser import (
    RecordingBrowser,
    RunningCollector,
    recording_browser,
    running_collector,
    wait_for,
)

from found_pages import Find, add_finds, crawl_of
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import marks_of

pytestmark = pytest.mark.browser

SCRIPT = "<img src=x onerror=document.title='hacked'><script>document.title='hacked'</script>"
HIVE, MITES, ODD = (f"https://bees.example/{name}" for name in ("hive", "mites", "odd"))
FINDS = (
    Find(HIVE, html="<title>Hives in spring</title><p>How a hive wakes up.", score=0.9),
    Find(MITES, html="<title>Mites</title><p>Varroa mites.", score=0.8),
    Find(ODD, SCRIPT, SCRIPT, score=0.7),
    Find("https://bees.example/cars", "Cars", "no bees", score=0.1, relevant=False),
)
PATIENCE_SECONDS = 60.0


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[RunningCollector]:
    with running_collector(tmp_path / "workspace") as made:
        crawl = crawl_of(made.workspace.folder, FINDS)
        crawl.topic.prepare()
        yield made


@pytest.fixture
def browser_with_news(
    chromium_path: str, playwright: Playwright, tmp_path: Path, collector: RunningCollector
) -> Iterator[RecordingBrowser]:
    profile = tmp_path / "profile"
    with recording_browser(playwright, chromium_path, profile, collector.port) as made:
        made.pair(collector.pairing.code(collector.port))
        yield made


def crawl(collector: RunningCollector) -> CrawlFolder:
    return CrawlFolder(collector.workspace.folder_for("bees"))


def badge(browser: RecordingBrowser) -> str:
    text: str = browser.worker.evaluate("chrome.action.getBadgeText({})")
    return text


def wait_for_badge(browser: RecordingBrowser, text: str) -> None:
    wait_for(lambda: badge(browser) == text, f"the badge '{text}'", PATIENCE_SECONDS)


def titles(page: Page) -> list[str]:
    return page.locator("#news li > a").all_text_contents()


def test_finds_are_on_the_badge_and_in_the_popup_best_first(
    browser_with_news: RecordingBrowser,
) -> None:
    wait_for_badge(browser_with_news, "3")
    popup = browser_with_news.popup()
    popup.wait_for_selector("#news li")
    assert titles(popup) == ["Hives in spring", "Mites", SCRIPT]
    assert popup.title() == "Trailhound"
    assert popup.locator("#news img, #news script").count() == 0
    assert popup.locator("#news a").first.get_attribute("href") == HIVE
    assert "3 new" in popup.inner_text("#news")


def test_marks_from_the_popup_count_at_once(
    browser_with_news: RecordingBrowser, collector: RunningCollector
) -> None:
    popup = browser_with_news.popup()
    popup.click("[aria-label='Useful: Hives in spring']")
    popup.wait_for_selector("[aria-label='Useful: Hives in spring']", state="detached")
    popup.click("[aria-label='Not useful: Mites']")
    popup.wait_for_selector("[aria-label='Useful: Mites']", state="detached")
    assert marks_of(crawl(collector).topic) == {HIVE: True, MITES: False}
    with Results(crawl(collector).results) as results:
        assert {page.address for page in results.ranked()} == {HIVE, ODD}
    wait_for_badge(browser_with_news, "1")


def test_what_was_seen_is_not_new_and_what_comes_then_is(
    browser_with_news: RecordingBrowser, collector: RunningCollector
) -> None:
    wait_for_badge(browser_with_news, "3")
    popup = browser_with_news.popup()
    popup.click("[aria-label='All seen: bees']")
    popup.wait_for_selector("#news section", state="detached")
    wait_for_badge(browser_with_news, "")
    later = Find("https://bees.example/queen", "A queen", "Queens", at=4e9)
    add_finds(crawl(collector), [later])
    popup.reload()
    popup.wait_for_selector("#news li")
    assert titles(popup) == ["A queen"]
    wait_for_badge(browser_with_news, "1")


def test_nothing_breaks_while_the_app_does_not_run(
    browser_with_news: RecordingBrowser, collector: RunningCollector
) -> None:
    wait_for_badge(browser_with_news, "3")
    collector.stop()
    popup = browser_with_news.popup()
    popup.wait_for_selector("#news li")
    popup.click("[aria-label='Useful: Mites']")
    popup.wait_for_selector("#problem:not([hidden])")
    assert "does not answer" in popup.inner_text("#problem")
    assert badge(browser_with_news) == "3"
    collector.start()
    popup.wait_for_selector("[aria-label='Useful: Mites']:not([disabled])")
    popup.click("[aria-label='Useful: Mites']")
    popup.wait_for_selector("[aria-label='Useful: Mites']", state="detached")


def test_new_tabs_show_it_only_when_the_setting_says_so(
    browser_with_news: RecordingBrowser,
) -> None:
    popup = browser_with_news.popup()
    assert not popup.is_checked("#newTab")
    address = f"{browser_with_news.address}/newtab.html"
    tab = browser_with_news.worker.evaluate("chrome.tabs.create({}).then((tab) => tab.id)")
    is_done = "id => chrome.tabs.get(id).then((tab) => tab.status === 'complete')"
    wait_for(
        lambda: browser_with_news.worker.evaluate(is_done, tab), "an empty tab", PATIENCE_SECONDS
    )
    assert address not in [page.url for page in browser_with_news.context.pages]
    popup.bring_to_front()
    popup.check("#newTab")
    wait_for(lambda: browser_with_news.stored("newTab"), "the setting", PATIENCE_SECONDS)
    with browser_with_news.context.expect_page() as opened:
        browser_with_news.worker.evaluate("chrome.tabs.create({}).then(() => true)")
    shown = opened.value
    shown.wait_for_url(address, timeout=1000 * PATIENCE_SECONDS)
    shown.wait_for_selector("#news li")
    assert titles(shown) == ["Hives in spring", "Mites", SCRIPT]
    shown.click("#off")
    wait_for(lambda: not browser_with_news.stored("newTab"), "the setting", PATIENCE_SECONDS)
