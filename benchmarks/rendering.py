"""What rendering costs: ``auto`` beside ``never`` on static pages, and beside ``always`` on apps.

    python -m benchmarks.rendering [--pages 500] [--rounds 9] [--size 4]

Static pages carry the scripts that such pages have; times are CPU seconds of the crawling process
and all that it started, the servers being processes of their own. Each crawl has a process of its
own, too, and rounds begin with ``auto`` and ``never`` in turn. Needs Chromium, and for the
applications the npm registry, once.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import trailhound as th

sys.path += ["tests", "tests/integration"]  # where the web of applications is

PARAGRAPH = "<p>" + "Bees gather nectar from many flowers and carry it home. " * 12 + "</p>"
SCRIPTS = (
    "<script src=/js/jquery.min.js></script><script src=/js/menu.js defer></script>"
    "<script async src=https://www.googletagmanager.com/gtag/js?id=G-1></script>"
    "<script>window.dataLayer = []; function gtag() { dataLayer.push(arguments) }</script>"
    '<script type="application/ld+json">{"@type": "Article", "name": "Bees"}</script>'
)


def static_page(number: int, pages: int) -> bytes:
    """About 30 KB."""
    links = [f"/page/{(number * 7 + step) % pages}" for step in range(1, 41)]
    nav = (
        "<nav><ul>"
        + "".join(f"<li><a href={each}>Page {each}</a>" for each in links)
        + "</ul></nav>"
    )
    head = f"<!doctype html><html lang=en><head><title>Page {number}</title>{SCRIPTS}</head><body>"
    return (head + nav + f"<h1>Page {number}</h1>" + PARAGRAPH * 40).encode()


def serve_static(port: Any, pages: int) -> None:
    """Serve them for ever."""
    made = [static_page(number, pages) for number in range(pages)]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            number = self.path.rpartition("/")[2]
            body = made[int(number)] if number.isdigit() else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port.put(server.server_address[1])
    server.serve_forever()


def serve_applications(port: Any, size: int) -> None:
    """Serve them for ever."""
    from single_page_webs import SinglePageWeb, kept_libraries, spa_web

    libraries = kept_libraries(Path(sys.prefix) / "frontend-libraries")
    with spa_web(SinglePageWeb(libraries, size)) as served:
        port.put(served)
        time.sleep(1e6)


@contextmanager
def served(serve: Any, argument: int) -> Iterator[int]:
    """The port of a server in a process of its own."""
    port: Any = multiprocessing.Queue()
    process = multiprocessing.Process(target=serve, args=(port, argument), daemon=True)
    process.start()
    try:
        yield port.get(timeout=120)
    finally:
        process.terminate()
        process.join()


def crawl(
    port: int, seeds: list[str], render: str, max_requests: int = 100_000
) -> tuple[dict[str, str], float, float]:
    """Remarks by address, CPU seconds, seconds."""
    before, began = os.times(), time.monotonic()
    settings: dict[str, Any] = {
        "user_agent": "bench-bot (+http://www.bench.test/)",
        "resolve": f"*.test=127.0.0.1:{port}",
        "allow_addresses": "*.test",
        "scope": ["*.bench.test", "*.spa.test"],
        "strategy": "breadth-first",
        "host_budgets": False,
        "near_duplicates": False,
        "max_requests": max_requests,
        "render": render,
    }
    with th.crawl(None, seeds, judge=_all_pages, **settings) as running:
        found = {result.url: result.event.why for result in running}
    after = os.times()
    cpu = sum(after[:4]) - sum(before[:4])
    return found, cpu, time.monotonic() - began


def _all_pages(_page: th.Page) -> bool:
    return True


def crawl_apart(port: int, seeds: list[str], render: str) -> tuple[dict[str, str], float, float]:
    """The same in a process of its own, where no earlier crawl has left anything."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        process.apply(crawl, (port, seeds, render, 5))  # everything is imported after it
        return process.apply(crawl, (port, seeds, render))


def compare_static(pages: int, rounds: int) -> float:
    """The median ratio of CPU times."""
    seeds = ["http://www.bench.test/page/0"]
    ratios = []
    with served(serve_static, pages) as port:
        for number in range(rounds):
            order = ("never", "auto")[:: -1 if number % 2 else 1]
            found = {render: crawl_apart(port, seeds, render) for render in order}
            (never, never_cpu, _), (auto, auto_cpu, _) = found["never"], found["auto"]
            assert never.keys() == auto.keys(), "they found other pages"
            rendered = sum("not rendered" not in why for why in auto.values())
            ratios.append(auto_cpu / never_cpu)
            print(
                f"{len(never)} static pages: never {never_cpu:.2f} s, auto {auto_cpu:.2f} s CPU, "
                f"{auto_cpu / never_cpu:.3f} times; {rendered} rendered",
                flush=True,
            )
    return statistics.median(ratios)


def compare_applications(size: int) -> None:
    """Print what was found and rendered."""
    from single_page_webs import SinglePageWeb

    web = SinglePageWeb({}, size)
    needed = web.made_by_script()
    with served(serve_applications, size) as port:
        for render in ("auto", "always"):
            found, cpu, seconds = crawl(port, web.seeds, render)
            rendered = {url for url, why in found.items() if why.startswith("rendered")}
            print(
                f"{render}: found {len(web.pages() & found.keys())} of {len(web.pages())} pages, "
                f"rendered {len(rendered)} where {len(needed)} need it "
                f"({len(rendered) / len(needed):.2f} times), {cpu:.1f} s CPU, "
                f"{60 * len(rendered) / seconds:.0f} rendered pages a minute"
            )


def main() -> None:
    """Print everything; exit code 1 when ``auto`` costs too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", type=int, default=4, help="sections of each application; 0: none")
    arguments = parser.parse_args()
    ratio = compare_static(arguments.pages, arguments.rounds)
    print(f"auto costs {ratio:.3f} times what never does on static pages (at most 1.1)")
    if arguments.size:
        compare_applications(arguments.size)
    sys.exit(ratio > 1.1)


if __name__ == "__main__":
    main()
