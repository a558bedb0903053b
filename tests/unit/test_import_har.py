"""HAR files as browsing."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.errors import SessionError, UsageError
from trailhound.sessions.events import Reached, Visit
from trailhound.sessions.importers.base import Imported
from trailhound.sessions.importers.har import HarImporter, parse_har

GARDEN = "https://garden.test/"


def entry(
    url: str,
    second: int,
    *,
    html: str | None = "<title>A page</title>",
    status: int = 200,
    method: str = "GET",
    mime: str = "text/html; charset=utf-8",
    redirect: str = "",
    **headers: str,
) -> dict[str, Any]:
    return {
        "startedDateTime": f"2026-03-01T12:00:{second:02d}.000Z",
        "pageref": "page_1",
        "request": {
            "method": method,
            "url": url,
            "headers": [
                {"name": name.replace("_", "-"), "value": value} for name, value in headers.items()
            ],
        },
        "response": {
            "status": status,
            "redirectURL": redirect,
            "content": {"mimeType": mime, "text": html},
        },
    }


def imported(*entries: Any, pages: list[Any] | None = None) -> Imported:
    log = {"log": {"version": "1.2", "pages": pages or [], "entries": list(entries)}}
    return parse_har(json.dumps(log).encode(), "x.har", "bees")


def visits(found: Imported) -> list[Visit]:
    (session,) = found.sessions
    return [event for event in session.events if isinstance(event, Visit)]


def test_pages_become_visits_in_order_of_time_with_source_and_title() -> None:
    found = imported(
        entry(GARDEN + "bees", 5, html="<title>Bees\n here</title>", Referer=GARDEN),
        entry(GARDEN, 1),
    )
    home, bees = visits(found)
    assert (home.url, home.reached, home.from_url) == (GARDEN, Reached.TYPED, None)
    assert (bees.title, bees.reached, bees.from_url) == ("Bees here", Reached.LINK, GARDEN)
    assert bees.html == "<title>Bees\n here</title>"
    assert (found.tally.read, found.tally.kept) == (2, 2)


@pytest.mark.parametrize("half", ["\\ud83d", "\\uDE00", "\\ud83d\\ud83d", "\\\\\\ud83d"])
def test_half_a_character_spoils_nothing_else(half: str) -> None:
    smile = "\\ud83d\\ude00 \\\\ud83d"
    entries = [entry(GARDEN, 1, html=f"a{number}z") for number in range(2)]
    log = json.dumps({"log": {"entries": entries}}).replace("a0z", half).replace("a1z", smile)
    broken, whole = visits(parse_har(log.encode(), "x.har", "bees"))
    assert broken.html is not None
    assert "\ufffd" in broken.html
    assert whole.html == "\U0001f600 \\ud83d"


def test_a_page_that_the_browser_had_already_is_a_visit() -> None:
    found = imported(
        entry(GARDEN, 1, status=304),
        entry(GARDEN + "a", 2, status=304, mime="", html=None, Sec_Fetch_Dest="document"),
        entry(GARDEN + "b", 3, status=304, mime="x-unknown", html=None, Sec_Fetch_Dest="document"),
        entry(GARDEN + "c.png", 4, status=304, mime="image/png"),
        entry(GARDEN + "d", 5, status=304, mime="", html=None),
    )
    assert [visit.url for visit in visits(found)] == [GARDEN, GARDEN + "a", GARDEN + "b"]
    assert found.tally.skipped == {"not HTML": 2}


def test_a_chain_of_redirects_is_one_visit() -> None:
    found = imported(
        entry(GARDEN + "a", 1, status=301, redirect="/b", Referer=GARDEN),
        entry(GARDEN + "b", 2, status=302, redirect=GARDEN + "c"),
        entry(GARDEN + "c", 3),
    )
    (visit,) = visits(found)
    assert (visit.url, visit.requested_url, visit.from_url) == (GARDEN + "c", GARDEN + "a", GARDEN)
    assert found.tally.skipped == {"redirect (part of the visit it led to)": 2}


def test_a_redirect_may_lead_into_a_page() -> None:
    found = imported(
        entry(GARDEN + "a", 1, status=302, redirect="/b#queens"), entry(GARDEN + "b", 2)
    )
    (visit,) = visits(found)
    assert (visit.url, visit.requested_url) == (GARDEN + "b", GARDEN + "a")


def test_images_scripts_requests_and_failures_are_counted() -> None:
    found = imported(
        entry(GARDEN, 1),
        entry(GARDEN + "x.png", 2, mime="image/png"),
        entry(GARDEN + "part", 3, Sec_Fetch_Dest="empty"),
        entry(GARDEN + "gone", 4, status=404),
        entry("data:text/html,x", 5),
        {"request": "damaged"},
        {**entry(GARDEN, 6), "startedDateTime": "yesterday"},
    )
    assert len(visits(found)) == 1
    assert found.tally.read == 7
    assert found.tally.kept == 1
    assert set(found.tally.skipped) == {
        "not HTML",
        "asked for by a script or as a part of a page",
        "no successful answer",
        "not on the web",
        "damaged entry",
        "entry without a time",
    }


@pytest.mark.parametrize(
    "damaged",
    [
        entry(GARDEN, 2, status=302, redirect="http://["),
        entry("http://[", 2, status=302, redirect="/b"),
        entry("http://[", 2),
        entry("https://garden.test:99999/", 2),
    ],
)
def test_addresses_that_are_none_are_damage(damaged: dict[str, Any]) -> None:
    found = imported(entry(GARDEN, 1), damaged, entry(GARDEN + "bees", 3, Referer="http://["))
    assert [visit.url for visit in visits(found)] == [GARDEN, GARDEN + "bees"]
    assert found.tally.skipped == {"damaged entry": 1}


def test_forms_reloads_and_frames_are_told_apart() -> None:
    found = imported(
        entry(GARDEN, 1),
        entry(GARDEN, 2, Cache_Control="max-age=0"),
        entry(GARDEN + "search", 3, method="POST", Referer=GARDEN),
        entry(GARDEN + "inner", 4, Sec_Fetch_Dest="iframe", Referer=GARDEN + "search"),
    )
    assert [visit.reached for visit in visits(found)[:3]] == [
        Reached.TYPED,
        Reached.RELOAD,
        Reached.FORM,
    ]
    assert visits(found)[3].frame_of == GARDEN + "search"


def test_a_referer_that_names_only_a_foreign_host_means_its_last_page() -> None:
    found = imported(
        entry(GARDEN + "links/bees", 1),
        entry("https://hive.test/", 2, Referer=GARDEN),
    )
    assert visits(found)[1].from_url == GARDEN + "links/bees"


def test_base64_content_is_decoded_by_its_charset() -> None:
    coded = entry(GARDEN, 1, mime="text/html; charset=iso-8859-1")
    coded["response"]["content"]["text"] = base64.b64encode("<p>Bienenköniginnen".encode("latin-1"))
    coded["response"]["content"]["text"] = coded["response"]["content"]["text"].decode()
    coded["response"]["content"]["encoding"] = "base64"
    (visit,) = visits(imported(coded))
    assert visit.html == "<p>Bienenköniginnen"


def test_without_contents_titles_remain_and_a_note_says_so() -> None:
    pages = [{"id": "page_1", "title": "The garden"}, {"id": 7}]
    found = imported(entry(GARDEN, 1, html=None), pages=pages)
    assert (visits(found)[0].html, visits(found)[0].title) == (None, "The garden")
    assert "no page contents" in found.tally.notes[0]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b'{"log": {"entries": [{"request"',
        b"\x00\xff\xfe binary",
        "{}".encode("utf-16"),
        b'{"log":' * 100_000,
        b"[" * 100_000,
    ],
)
def test_what_is_no_har_is_refused_with_the_next_step(content: bytes) -> None:
    with pytest.raises(SessionError, match="Save all as HAR with content"):
        parse_har(content, "x.har", "bees")


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no file"):
        HarImporter().read(tmp_path / "none.har", "bees")
    with pytest.raises(UsageError, match="is a folder"):
        HarImporter().read(tmp_path, "bees")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=10,
)


@given(st.lists(_JSON | st.fixed_dictionaries({"request": _JSON, "response": _JSON}), max_size=4))
def test_any_entries_are_counted_and_never_fatal(entries: list[Any]) -> None:
    found = imported(*entries)
    assert found.tally.read == len(entries)
    assert found.tally.kept == len(visits(found))
