"""What the command line says to type, the app says where to press."""

from __future__ import annotations

import pytest

from trailhound.topics.crawl_status import CrawlState, Notice, RunningCrawl, Wish
from trailhound.web.plain_words import crawl_in_app, in_app


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            "A crawl needs a page to start from. Name one or more: --seed URL",
            "A crawl needs a page to start from. Tick or write one or more under 'Where to start'.",
        ),
        (
            "None is in scope. Name others with --seed URL, or change --scope and --exclude.",
            "None is in scope. Name others under 'Where to start', or change 'Where it may go'.",
        ),
        (
            "Wait until it has ended, or stop it: trailhound stop 'my bees' "
            "('trailhound results' works meanwhile).",
            "Wait until it has ended, or stop it under Crawls.",
        ),
        (
            "If it is meant to be visited, add --allow-address 127.0.0.1. More.",
            "If it is meant to be visited, add 127.0.0.1 to 'Hosts of your own network' under "
            "'Where it may go'. More.",
        ),
        (
            "delay_seconds = 0.1 would be impolite to the sites you visit. Change it, or set "
            "allow_impolite = true (--allow-impolite) if they have agreed.",
            "delay_seconds = 0.1 would be impolite to the sites you visit. Change it.",
        ),
        (
            "Its budget is 20. Allow more with --max-requests 40.",
            "Its budget is 20. Allow more requests.",
        ),
        ("learned of links (--fresh: without); as topic", "learned of links; as topic"),
        ("Let 'trailhound check bees --repair' take it from the log", None),
    ],
)
def test_commands_are_told_as_what_can_be_pressed(told: str, expected: str | None) -> None:
    assert in_app(told) == (expected or told)


@pytest.mark.parametrize(
    ("asked_to", "ended"),
    [
        (Wish.STOP, "it was stopped"),
        (Wish.PAUSE, "it was paused"),
        (None, "it was interrupted"),
    ],
)
def test_what_somebody_stopped_was_not_interrupted(asked_to: Wish | None, ended: str) -> None:
    crawl = RunningCrawl(
        topic="bees",
        run="1",
        state=CrawlState.ENDED,
        ended="it was interrupted",
        asked_to=asked_to,
        notices=(Notice(1.0, "It begins with what was learned (--fresh: without)."),),
    )
    told = crawl_in_app(crawl)
    assert told.ended == ended
    assert told.notices[0].text == "It begins with what was learned."
