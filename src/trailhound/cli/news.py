"""``trailhound results --since-last``: what is new or has changed since the last time."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from trailhound.cli.terminal import harmless, output, print_json, say
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.storage.visit_reading import NewsPage
    from trailhound.topics.control.overview import News
    from trailhound.topics.crawls.folder import CrawlFolder

_INDENT = " " * 11


def tell_news(folder: CrawlFolder, limit: int, *, as_json: bool) -> None:
    """Show it, best first; next time begins where this one ends, unless some was left out."""
    from trailhound.topics.control.overview import news, note_looked

    now = time.time()
    found = news(folder, limit=limit)
    if as_json:
        print_json(_told(found))
    else:
        for rank, page in enumerate(found.pages, start=1):
            _show(rank, page)
        say(_count(found))
    if _is_whole(found):
        note_looked(folder.topic, now)


def _told(found: News) -> dict[str, Any]:
    pages = []
    for each in found.pages:
        row = msgspec.structs.asdict(each.page)
        del row["memory"]
        news = {"news": "new" if each.is_new else "changed"}
        pages.append(row | news | each.visits._asdict())
    return {"since": found.since, "new": found.new, "changed": found.changed, "pages": pages}


def _show(rank: int, news: NewsPage) -> None:
    from rich.padding import Padding
    from rich.text import Text

    page, visits = news.page, news.visits
    moment = visits.found_at if news.is_new else visits.changed_at or visits.seen_at
    told = f"{'new' if news.is_new else 'changed'} {datetime.fromtimestamp(moment):%Y-%m-%d %H:%M}"
    score = f"{page.score:.2f}" if page.score is not None else " –  "
    head = Text(f"{rank:>3}  {score}  ")
    head.append(harmless(page.title) or page.address, "bold")
    output.print(head)
    output.print(Text(f"{_INDENT}{page.address}  ({told})", style="cyan"), soft_wrap=True)
    if page.snippet:
        output.print(Padding(Text(harmless(page.snippet), style="dim"), (0, 0, 0, len(_INDENT))))


def _count(found: News) -> str:
    since = f" since {datetime.fromtimestamp(found.since):%Y-%m-%d %H:%M}" if found.since else ""
    if not found.new and not found.changed:
        return f"Nothing is new{since}."
    changed = f" and {counted(found.changed, 'changed one')}" if found.changed else ""
    told = f"{counted(found.new, 'new page')}{changed}{since}"
    if _is_whole(found):
        return told
    return (
        f"The best {len(found.pages):,} of {told}. They stay new until all are shown: "
        f"-n {found.new + found.changed}"
    )


def _is_whole(found: News) -> bool:
    return len(found.pages) >= found.new + found.changed
