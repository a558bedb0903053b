"""The same pages rendered by scrapy-playwright and by Crawl4AI, to compare with.

    RIVALS/bin/python benchmarks/rendering_rivals.py CONTENDER PORT CONCURRENCY BROWSER < PAGES

Runs in an environment of its own, which knows nothing of ours. PAGES and what is printed are those
of :mod:`benchmarks.rendered_crawl`. Both rivals are used as their manuals show, with the same
browser and as many pages at once as all others, and no delay. ``…-aborting`` answers no images,
media, fonts and stylesheets; ``…-idle`` waits for a quiet network, ``…-told`` for an element that
these very pages are known to show at last.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from importlib.metadata import version
from typing import Any

ABORTED = frozenset(["image", "media", "font", "stylesheet", "websocket", "manifest", "other"])
AT_LAST = "main h1:not(:empty)"


def flags(port: int) -> list[str]:
    """What any of them needs here: where the pages are, and the rights that root has."""
    return [
        f"--host-resolver-rules=MAP *.spa.test 127.0.0.1:{port}",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]


def is_aborted(request: Any) -> bool:
    """For ``PLAYWRIGHT_ABORT_REQUEST``."""
    return request.resource_type in ABORTED


def with_scrapy_playwright(
    pages: dict[str, str], options: argparse.Namespace, *, wait: str, aborting: bool
) -> int:
    """One spider, one context, a tab for each page."""
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy_playwright.page import PageMethod

    complete = 0
    methods = {
        "load": [],
        "idle": [PageMethod("wait_for_load_state", "networkidle")],
        "told": [PageMethod("wait_for_selector", AT_LAST)],
    }[wait]

    class Pages(scrapy.Spider):
        name = "pages"

        async def start(self) -> Any:
            for page in pages:
                meta = {"playwright": True, "playwright_page_methods": list(methods)}
                yield scrapy.Request(page, meta=meta)

        def parse(self, response: Any, **_: Any) -> Any:
            nonlocal complete
            text = " ".join(response.xpath("//body//text()").getall())
            complete += pages[response.url] in text
            links = response.css("a::attr(href)").getall()
            yield {"url": response.url, "text": text, "links": links}

    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    settings = {
        "DOWNLOAD_HANDLERS": {"http": handler, "https": handler},
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "PLAYWRIGHT_LAUNCH_OPTIONS": {
            "executable_path": options.browser,
            "args": flags(options.port),
        },
        "CONCURRENT_REQUESTS": options.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": options.concurrency,
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
    }
    if aborting:
        settings["PLAYWRIGHT_ABORT_REQUEST"] = is_aborted
    process = CrawlerProcess(settings)
    process.crawl(Pages)
    process.start()
    return complete


async def with_crawl4ai(
    pages: dict[str, str], options: argparse.Namespace, *, wait: str, aborting: bool
) -> int:
    """``arun_many`` with as many sessions as all others have."""
    from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig
    from crawl4ai.async_dispatcher import MemoryAdaptiveDispatcher
    from crawl4ai.browser_manager import BrowserManager

    its_own = BrowserManager._build_browser_args

    def with_the_same(self: Any) -> dict[str, Any]:  # it has no option for that
        return {**its_own(self), "executable_path": options.browser}

    async def abort(page: Any, context: Any, **_: Any) -> Any:
        async def answer(route: Any) -> None:
            await (route.abort() if is_aborted(route.request) else route.continue_())

        await context.route("**/*", answer)
        return page

    BrowserManager._build_browser_args = with_the_same
    run = CrawlerRunConfig(
        cache_mode=CacheMode.BYPASS,
        stream=True,
        verbose=False,
        wait_until="networkidle" if wait == "idle" else "domcontentloaded",
        wait_for=f"css:{AT_LAST}" if wait == "told" else None,
    )
    browser = BrowserConfig(verbose=False, extra_args=flags(options.port))
    dispatcher = MemoryAdaptiveDispatcher(
        max_session_permit=options.concurrency
    )  # and no rate limiter
    complete = 0
    async with AsyncWebCrawler(config=browser) as crawler:
        if aborting:
            crawler.crawler_strategy.set_hook("on_page_context_created", abort)
        async for result in await crawler.arun_many(list(pages), run, dispatcher=dispatcher):
            complete += pages[result.url] in (result.html or "")
    return complete


def main() -> None:
    """Render all pages once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("contender")
    parser.add_argument("port", type=int)
    parser.add_argument("concurrency", type=int)
    parser.add_argument("browser")
    options = parser.parse_args()
    rival, *ways = options.contender.split(":")
    pages = json.loads(sys.stdin.read())
    how: dict[str, Any] = {
        "wait": next((way for way in ways if way in ("idle", "told")), "load"),
        "aborting": "aborting" in ways,
    }
    if rival == "crawl4ai":
        import crawl4ai  # noqa: F401 - what importing takes is not counted
    else:
        import scrapy_playwright.handler  # noqa: F401
    before, began = time.process_time(), time.monotonic()
    if rival == "crawl4ai":
        complete = asyncio.run(with_crawl4ai(pages, options, **how))
    else:
        complete = with_scrapy_playwright(pages, options, **how)
    found = {
        "name": options.contender,
        "complete": complete,
        "seconds": time.monotonic() - began,
        "cpu_before": before,
        "versions": f"{rival} {version(rival)}, Playwright {version('playwright')}",
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
