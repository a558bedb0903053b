"""How many ordinary pages the parse guard cannot prove harmless, and what asking it costs.

``python -m benchmarks.guard_cost`` reads the real data sets, prints both, and fails when more than
one page in a hundred would need a process of its own.
"""

from __future__ import annotations

import sys
import time

from benchmarks.corpora import real_corpus
from trailhound.lab.corpora import Corpus
from trailhound.text.encoding import decode
from trailhound.text.parse_guard import BEARABLE, GENEROUS, HARMLESS, ParseLimits, is_harmless

LIMIT_SHARE = 0.01
ROUNDS = 3


def beyond(pages: list[str], limits: ParseLimits) -> tuple[int, float]:
    """How many pages are not proven to keep the limits, and the CPU seconds of finding out."""
    seconds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        found = sum(not is_harmless(page, limits) for page in pages)
        seconds.append(time.process_time() - started)
    return found, min(seconds)


def main() -> int:
    """Measure, print, and say by the exit code whether the limit holds."""
    is_kept = True
    for kind in ("webkb", "wikispeedia"):
        path = real_corpus(kind)
        if path is None:
            continue
        with Corpus.open(path) as corpus:
            pages = [decode(corpus.html(url) or b"").text for url in corpus.page_urls]
        apart, seconds = beyond(pages, HARMLESS)
        share, each = apart / len(pages), 1e6 * seconds / len(pages)
        cut = [beyond(pages, limits)[0] for limits in (BEARABLE, GENEROUS)]
        print(
            f"{kind}: {len(pages):,} pages, {apart} ({share:.2%}) not proven harmless, {each:.0f} "
            f"µs each; cut in sessions: {cut[0]}, in imports: {cut[1]}"
        )
        is_kept = is_kept and share <= LIMIT_SHARE
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
