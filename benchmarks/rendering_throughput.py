"""Rendered pages a minute, ours beside scrapy-playwright and Crawl4AI, on the same pages.

    python -m venv RIVALS && RIVALS/bin/pip install scrapy-playwright crawl4ai
    python -m benchmarks.rendering_throughput --rivals RIVALS [--pages 150] [--browser PATH]

Applications of React, Vue and Preact on eighteen hosts, dressed as pages are (a stylesheet, six
pictures), served on loopback by a process of its own. All contenders get the addresses, the same
browser (the one that we choose, unless one is named), as many pages at once and no delay; they run
in turns whose order alternates. A page counts when what its scripts fetch is in it. CPU is that of
all processes that a contender started, its imports left out. Exits with 1 when one of the rivals
is ahead in the median.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.rendered_crawl import Rendering
from benchmarks.rendering import served
from benchmarks.whole_cost import run_whole
from trailhound.fetching.browser.chromium import find_browser

sys.path += ["tests", "tests/integration"]  # where the web of applications is
from single_page_webs import APPLICATIONS, SinglePageWeb, kept_libraries, spa_web

OURS = "trailhound"
RIVALS = {
    "scrapy-playwright": "scrapy-playwright: as it is, waits for the load event",
    "scrapy-playwright:idle": "scrapy-playwright: waits for a quiet network",
    "scrapy-playwright:idle:aborting": "scrapy-playwright: the same, pictures and styles aborted",
    "scrapy-playwright:told:aborting": "scrapy-playwright: aborted, told what to wait for",
    "crawl4ai": "Crawl4AI: as it is",
    "crawl4ai:idle": "Crawl4AI: waits for a quiet network",
    "crawl4ai:idle:aborting": "Crawl4AI: the same, pictures and styles aborted",
    "crawl4ai:told:aborting": "Crawl4AI: aborted, told what to wait for",
}
NAMES = {OURS: "trailhound crawl --render always", **RIVALS}
COPIES = 6
"""Hosts of each application."""
PICTURES = 6
HOW_TO = "python -m venv RIVALS && RIVALS/bin/pip install scrapy-playwright crawl4ai"


class Cost(msgspec.Struct, frozen=True):
    """What one contender took for all pages."""

    complete: int
    pages_per_minute: float
    """Complete ones."""
    cpu_per_page: float
    """Seconds, per page that was asked for."""


class DressedWeb(SinglePageWeb):
    """The applications, with a stylesheet and pictures as pages have them."""

    def __init__(self, libraries: dict[str, bytes], size: int) -> None:
        super().__init__(libraries, size)
        self._style = "\n".join(f".c{n} {{ margin: {n}px; color: #{n:06x} }}" for n in range(500))
        self._picture = noise_png(160, 120)

    def expected(self) -> dict[str, str]:
        """Every page, with what only a rendered one says."""
        return {
            f"http://{app}.h{copy}.spa.test{path}": f"Page {path}"
            for path in self._paths()
            for copy in range(COPIES)
            for app in APPLICATIONS
        }

    def answer(self, host: str, path: str) -> tuple[str, bytes] | None:
        """What makes a page heavy, or what the application says."""
        if path.startswith("/pictures/"):
            return "image/png", self._picture
        if path == "/style.css":
            return "text/css", self._style.encode()
        return super().answer(host, path)

    def _shell(self, name: str) -> str:
        pictures = "".join(f"<img src=/pictures/{n}.png alt=''>" for n in range(PICTURES))
        style = "<link rel=stylesheet href=/style.css></head><body>"
        return super()._shell(name).replace("</head><body>", style + pictures)


def noise_png(width: int, height: int) -> bytes:
    """A picture that cannot be compressed, about three bytes a pixel."""
    noise = random.Random(7)
    rows = b"".join(b"\0" + noise.randbytes(3 * width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def serve_dressed(port: Any, size: int) -> None:
    """Serve them for ever."""
    libraries = kept_libraries(Path(sys.prefix) / "frontend-libraries")
    with spa_web(DressedWeb(libraries, size)) as bound:
        port.put(bound)
        time.sleep(1e6)


def there_are(rivals: Path | None) -> list[str]:
    """Those that are installed; tells how to install what is not."""
    found = []
    for package in ("scrapy_playwright", "crawl4ai"):
        command = [str(rivals / "bin" / "python"), "-c", f"import {package}"] if rivals else []
        if rivals and subprocess.run(command, capture_output=True, check=False).returncode == 0:
            found += [name for name in RIVALS if name.startswith(package.replace("_", "-"))]
        else:
            print(f"SKIPPED: {package} is not installed in {rivals}. Install it with: {HOW_TO}")
    return found


def run(contender: str, pages: dict[str, str], to_all: list[str], rivals: Path) -> Cost:
    """All pages once, in processes of its own."""
    ours = [sys.executable, "-m", "benchmarks.rendered_crawl"]
    script = Path(__file__).with_name("rendering_rivals.py")
    theirs = [str(rivals / "bin" / "python"), str(script), contender]
    command = [*(ours if contender == OURS else theirs), *to_all]
    done = run_whole(command, msgspec.json.encode(pages).decode())
    found = msgspec.json.decode(done.output.splitlines()[-1], type=Rendering)
    return Cost(
        found.complete,
        60 * found.complete / found.seconds,
        (done.cpu_seconds - found.cpu_before) / len(pages),
    )


def measure(
    contenders: list[str], size: int, rounds: int, at_once: int, browser: str, rivals: Path
) -> dict[str, list[Cost]]:
    """All in turn, each round in the opposite order of the one before."""
    pages = DressedWeb({}, size).expected()
    costs: dict[str, list[Cost]] = {contender: [] for contender in contenders}
    print(f"{len(pages)} pages, {at_once} at once, {browser}")
    with served(serve_dressed, size) as port:
        to_all = [str(port), str(at_once), browser]
        for number in range(rounds):
            for contender in contenders[:: -1 if number % 2 else 1]:
                cost = run(contender, pages, to_all, rivals)
                costs[contender].append(cost)
                print(
                    f"round {number + 1}  {NAMES[contender]:<55} "
                    f"{cost.pages_per_minute:5.0f} pages a minute, {cost.complete} complete, "
                    f"{cost.cpu_per_page:.3f} s CPU each  (load {os.getloadavg()[0]:.1f})",
                    flush=True,
                )
    return costs


def verdict(costs: dict[str, list[Cost]]) -> int:
    """Print medians and ratios; 1 when somebody is ahead of us."""
    speed = {
        who: statistics.median(c.pages_per_minute for c in all_) for who, all_ in costs.items()
    }
    cpu = {
        who: statistics.median(cost.cpu_per_page for cost in all_) for who, all_ in costs.items()
    }
    for who in costs:
        ahead = "" if speed[who] <= speed[OURS] else "  AHEAD OF US"
        print(
            f"{NAMES[who]:<55} {speed[who]:5.0f} pages a minute, {cpu[who]:.3f} s CPU; "
            f"ours {speed[OURS] / max(speed[who], 0.01):.2f} times as fast{ahead}"
        )
    return int(max(speed.values()) > speed[OURS])


def main() -> int:
    """Measure and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rivals", type=Path, help="their virtual environment")
    parser.add_argument("--pages", type=int, default=150, help="about so many")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--browser", type=Path, help="that all contenders have")
    parser.add_argument("--only", nargs="*", help="these contenders")
    options = parser.parse_args()
    size = max(1, round((options.pages / COPIES / len(APPLICATIONS) - 1) / 2))
    contenders = [OURS, *there_are(options.rivals)]
    if options.only:
        contenders = [each for each in contenders if each in options.only]
    rivals = options.rivals or Path()
    browser = find_browser(options.browser)
    return verdict(measure(contenders, size, options.rounds, options.at_once, browser, rivals))


if __name__ == "__main__":
    sys.exit(main())
