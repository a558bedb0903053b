"""A judge in a file of its own: long pages that speak of hives.

Try it, without installing anything::

    trailhound crawl bees --seed https://example.org/ --judge examples/long_reads.py \
        --user-agent 'bees-bot (+https://example.org/bot)'
"""

from __future__ import annotations

from trailhound.records import Page


def judge(page: Page) -> float:
    """More of the word, a higher score; a score is relevant from 0.5 on."""
    mentions = page.terms.get("hive", 0)
    return min(1.0, mentions / 10) if len(page.text) > 2_000 else 0.0
