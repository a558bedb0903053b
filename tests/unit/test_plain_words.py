"""What the command line says to type, the app says where to press."""

from __future__ import annotations

import pytest

from trailhound.storage.files import MAKE_ROOM
from trailhound.topics.crawls.status import CrawlState, Notice, RunningCrawl, Wish
from trailhound.web.plain_words import crawl_in_app, in_app, wrong_request


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
            f"bees.db cannot grow: the disk is full. {MAKE_ROOM}",
            "bees.db cannot grow: the disk is full. Make room, then try again; for a crawl, press "
            "Go on: everything up to the last finished page is safe.",
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
        (
            "The seed http://10.0.0.7/ was not fetched: 10.0.0.7 is private; allow_addresses can "
            "permit it by name. If it is meant to be visited, add --allow-address 10.0.0.7.",
            "The seed http://10.0.0.7/ was not fetched: 10.0.0.7 is private. If it is meant to be "
            "visited, add 10.0.0.7 to 'Hosts of your own network' under 'Where it may go'.",
        ),
        (
            "10.0.0.7 is private; allow_addresses can permit it by name",
            "10.0.0.7 is private; 'Hosts of your own network' under 'Where it may go' can permit "
            "it by name",
        ),
        (
            "a.har is not a Trailhound session: line 1 should be a header with format 'x', but "
            "Object missing required field `format`. Convert other recordings with 'trailhound "
            "import'.",
            "a.har is no session that Trailhound recorded. Choose under 'What it is' what made the "
            "file.",
        ),
        (
            "a.log is no log in the combined format: none of 9 lines is in that format. It is one "
            "in Squid's native format: read it with 'trailhound import squid'.",
            "a.log is no log in the combined format: none of 9 lines is in that format. It is one "
            "in Squid's native format. Choose that under 'What it is'.",
        ),
        (
            "Nothing has been learned for the topic '100%' yet. Learn it from a session with: "
            "trailhound learn 100% --session FILE, or from results of a crawl with: trailhound "
            "mark 100% URL --learn",
            "Nothing has been learned for the topic '100%' yet. Learn from a session first, or "
            "give a crawl 'Words of useful pages' to go by.",
        ),
        (
            "Nothing has been learned for the topic 'my bees' yet. Learn it with: trailhound learn "
            "'my bees'",
            "Nothing has been learned for the topic 'my bees' yet. Learn from a session first, or "
            "give a crawl 'Words of useful pages' to go by.",
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


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            "Expected `int` >= 1 - at `$.max_requests`",
            "'Requests at most' cannot be understood: write a whole number of at least 1. ",
        ),
        (
            "Expected `int` <= 9223372036854775807 - at `$.max_requests`",
            "'Requests at most' cannot be understood: write a whole number up to "
            "9,223,372,036,854,775,807. ",
        ),
        (
            "Expected `float | null`, got `str` - at `$.delay_seconds`",
            "'Seconds between requests to one site' cannot be understood: write a number. ",
        ),
        (
            "Expected `str` matching regex '^[0-9]$' - at `$.nightly.start`",
            "'From' cannot be understood: write a time such as 22:00. ",
        ),
        ("Expected `bool`, got `str` - at `$.sitemaps`", "The request cannot be understood: "),
        ("Object missing required field `topic`", "The request cannot be understood: "),
    ],
)
def test_a_wrong_request_names_the_field_of_the_form(error: str, words: str) -> None:
    told = wrong_request(error)
    assert told.startswith(words)
    assert error in told, "for programs"
    assert "/docs" in told
