"""The results of a crawl through the API of a real server: listed, filtered, marked, exported."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from live_webs import Site, learn

from app_server import RefusedError, ServedApp, serving_app, wait_until
from found_pages import NOON, Find, add_finds, crawl_of
from trailhound.demo import DemoWeb
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.upkeep.forgetting import forget_pages, one_url

FINDS = (
    Find("https://a.example/", html="<title>Garden gate</title><p>All about gardens and gates."),
    *(
        Find(
            f"https://{host}.example/{number}",
            html=f"<title>Hive {number} of {host}</title><p>Words on hive {number}, and bees.",
            score=0.5 + number / 100,
            parent="https://a.example/",
            at=NOON + number,
        )
        for host in ("b", "c")
        for number in range(15)
    ),
    Find("https://c.example/copy", "A copy", "bees", duplicate_of="https://c.example/3"),
    Find("https://d.example/de", "Bienen", "Ein Stock", language="de", score=0.9),
    Find("https://d.example/hidden", "Unlisted", "bees", noindex=True),
    Find("https://d.example/near", "Near miss", "wasps", score=0.44, relevant=False),
    Find("https://d.example/far", "Far miss", "cars", score=0.05, relevant=False),
)


@pytest.fixture
def bees(app: ServedApp) -> ServedApp:
    crawl_of(app.workspace.folder, FINDS)
    app.workspace.folder_for("bees").prepare()
    return app


def listed(app: ServedApp, topic: str = "bees", **wanted: Any) -> list[dict[str, Any]]:
    """All results, page by page."""
    found: list[dict[str, Any]] = []
    after = ""
    while True:
        values = {**wanted, "after": after} if after else wanted
        page = app.get(f"/api/topics/{quote(topic)}/results?{urlencode(values)}")
        found += page["results"]
        after = page["after"]
        if not after:
            return found


def urls(app: ServedApp, **wanted: Any) -> list[str]:
    return [each["url"] for each in listed(app, **wanted)]


def test_all_finds_are_listed_once_and_best_first_whatever_the_page_size(bees: ServedApp) -> None:
    everything = listed(bees)
    scores = [each["score"] for each in everything]
    assert len(everything) == 32
    assert scores == sorted(scores, reverse=True)
    for limit in (1, 7, 31, 32, 33):
        assert urls(bees, limit=limit) == [each["url"] for each in everything]
    assert bees.get("/api/topics/bees/results/count") == {"count": 32}
    copied = next(each for each in everything if each["url"] == "https://c.example/3")
    assert copied["copies"] == ["https://c.example/copy"]
    assert copied["path"] == ["https://a.example/", "https://c.example/3"]


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        ({"host": "b.example"}, 15),
        ({"host": "B.Example"}, 15),
        ({"host": "example"}, 0),
        ({"language": "de"}, 1),
        ({"min_score": "0.6"}, 12),
        ({"min_score": "0.6", "max_score": "0.61"}, 2),
        ({"since": NOON + 14}, 2),
        ({"since": NOON + 1, "until": NOON + 3}, 4),
        ({"kind": "new"}, 32),
        ({"kind": "changed"}, 0),
        ({"kind": "useful"}, 0),
        ({"kind": "missed"}, 2),
        ({"kind": "missed", "min_score": "0.4"}, 1),
        ({"q": "hive"}, 30),
        ({"q": "hives -words"}, 0),
        ({"q": '"hive 3"', "host": "b.example"}, 1),
        ({"q": "***"}, 0),
        ({"q": 'NEAR("'}, 1),
    ],
)
def test_filters(bees: ServedApp, wanted: dict[str, Any], number: int) -> None:
    if wanted.get("q", "").startswith("NEAR"):
        number = 0  # what is an operator elsewhere is a word here
    assert len(listed(bees, **wanted, limit=4)) == number
    count = bees.get(f"/api/topics/bees/results/count?{urlencode(wanted)}")
    assert count == {"count": number}


def test_what_was_searched_for_is_told_apart(bees: ServedApp) -> None:
    (found,) = listed(bees, q="gardens")
    assert [text for text, is_match in found["title"] if is_match] == ["Garden"]
    assert "gardens" in [text for text, is_match in found["snippet"] if is_match]


def test_pages_that_say_something_else_have_changed(bees: ServedApp) -> None:
    other = "<title>Hive 3 moved</title><p>Quite other words: wax, honey, comb and queens."
    again = Find("https://b.example/3", html=other, score=0.7, at=NOON + 90_000)
    add_finds(CrawlFolder(bees.workspace.folder_for("bees")), [again])
    (changed,) = listed(bees, kind="changed")
    assert (changed["url"], changed["changed_at"]) == (again.address, again.at)
    assert urls(bees, kind="changed", q="honey", host="b.example") == [again.address]
    assert urls(bees, kind="changed", q="garden") == []
    assert bees.get("/api/topics/bees/results/count?kind=changed") == {"count": 1}


def test_facets_are_counted(bees: ServedApp) -> None:
    facets = bees.get("/api/topics/bees/results/facets")
    assert [(each["value"], each["count"]) for each in facets["hosts"]] == [
        ("b.example", 15),
        ("c.example", 15),
        ("a.example", 1),
        ("d.example", 1),
    ]
    assert {"value": "de", "name": "German", "count": 1} in facets["languages"]


@pytest.mark.parametrize(
    "wanted",
    ["after=x", "after=nan:1", "after=0.5:-1", "limit=0", "limit=101", "min_score=2", "kind=x"],
)
def test_questions_that_make_no_sense_are_refused(bees: ServedApp, wanted: str) -> None:
    with pytest.raises(RefusedError) as refused:
        bees.get(f"/api/topics/bees/results?{wanted}")
    assert refused.value.status == 400


def test_marks_move_pages_at_once_and_back(bees: ServedApp) -> None:
    find, miss = "https://b.example/3", "https://b.example/4"
    marks = "/api/topics/bees/results/marks"
    told = bees.post(marks, {"urls": [find, miss], "useful": False})
    assert sorted(told["marked"]) == [find, miss]
    assert not {find, miss} & set(urls(bees))
    assert sorted(urls(bees, kind="rejected")) == [find, miss]
    bees.post(marks, {"urls": [miss], "useful": True})
    assert urls(bees, kind="useful") == [miss]
    assert miss in urls(bees)
    assert miss not in urls(bees, kind="new")
    browsed = (Visit(1.0, find, html="<p>bees"), Mark(4e9, find), Mark(4e9, find, label="honey"))
    bees.browsed(Session("bees", browsed))
    assert sorted(urls(bees, kind="useful")) == [find, miss]
    bees.post(marks, {"urls": [find, miss], "useful": None})
    assert urls(bees, kind="useful") == [], "whoever made the mark, what was pressed last holds"
    assert {find, miss} <= set(urls(bees))
    with pytest.raises(RefusedError, match="unknown to"):
        bees.post(marks, {"urls": ["https://elsewhere.example/"], "useful": True})


def test_an_archived_copy_is_text_and_a_document_in_a_sandbox(bees: ServedApp) -> None:
    copy = bees.get("/api/topics/bees/results/copy?url=https://b.example/3")
    assert copy["title"] == "Hive 3 of b"
    assert "Words on hive 3" in copy["text"]
    status, document = bees.ask("GET", copy["document"], headers={})
    assert (status, b"Words on hive 3" in document) == (200, True)
    with pytest.raises(RefusedError, match="does not hold"):
        bees.get("/api/topics/bees/results/copy?url=https://d.example/de")


def test_a_topic_without_a_crawl_has_no_results(app: ServedApp) -> None:
    app.post("/api/topics/empty")
    for path in ("results", "results/facets", "results/why?url=http://a.example/", "exports"):
        with pytest.raises(RefusedError, match="not been crawled") as refused:
            app.get(f"/api/topics/empty/{path}")
        assert refused.value.status == 404


def exported(app: ServedApp, kind: str, **more: Any) -> bytes:
    job = app.job_done(app.post("/api/topics/bees/exports", {"format": kind, **more}))
    assert job["state"] == "done", job
    status, content = app.ask("GET", f"/api/topics/bees/exports/{kind}")
    assert status == 200
    return content


def test_exports_are_downloads(bees: ServedApp) -> None:
    status, _ = bees.ask("GET", "/api/topics/bees/exports/csv")
    assert status == 404
    assert len(exported(bees, "urls").splitlines()) == 32
    assert len(exported(bees, "csv").splitlines()) == 33
    rows = [json.loads(line) for line in exported(bees, "jsonl").splitlines()]
    assert rows[0]["url"] == "https://d.example/de"
    assert exported(bees, "warc")[:2] == b"\x1f\x8b"
    ready = {each["format"]: each["file_name"] for each in bees.get("/api/topics/bees/exports")}
    assert ready["warc"] == "bees.warc.gz"


def test_what_is_forgotten_is_in_no_export(bees: ServedApp) -> None:
    assert b"https://b.example/3\n" in exported(bees, "urls")
    forget_pages(bees.workspace, "bees", one_url("https://b.example/3"))
    assert bees.get("/api/topics/bees/exports") == []
    assert b"https://b.example/3\n" not in exported(bees, "urls")


def test_texts_are_packed(bees: ServedApp) -> None:
    pytest.importorskip("trafilatura")
    packed = zipfile.ZipFile(io.BytesIO(exported(bees, "markdown")))
    names = packed.namelist()
    assert "index.md" in names
    assert len(names) == 33


def test_a_site_is_packed(bees: ServedApp) -> None:
    names = zipfile.ZipFile(io.BytesIO(exported(bees, "site"))).namelist()
    assert {"index.html", "search.js", "portal.css"} <= set(names)


@pytest.fixture(scope="module")
def crawled(
    web: DemoWeb, port: int, topic_name: str, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A workspace whose topic was learned and crawled."""
    folder = tmp_path_factory.mktemp("crawled")
    topic = learn(web, topic_name, folder)
    with Site(topic, port).begun(crawl__seeds=web.start_urls, crawl__max_requests=120) as crawl:
        list(crawl.run())
    return folder


@pytest.fixture
def live(crawled: Path, tmp_path: Path) -> Iterator[ServedApp]:
    shutil.copytree(crawled, tmp_path / "copy")
    with serving_app(tmp_path / "copy") as app:
        yield app


def test_a_threshold_takes_in_what_it_says(live: ServedApp, topic_name: str) -> None:
    base = f"/api/topics/{quote(topic_name)}/results"
    held = live.get(f"{base}/threshold")
    before = {each["url"] for each in listed(live, topic_name)}
    misses = listed(live, topic_name, kind="missed")
    wanted = misses[2]["score"]
    effect = live.get(f"{base}/threshold/effect?at={wanted}")
    assert effect["joined"] >= 3
    job = live.job_done(live.put(f"{base}/threshold", {"threshold": wanted}))
    assert job["state"] == "done", job
    after = {each["url"] for each in listed(live, topic_name)}
    assert {each["url"] for each in misses[:3]} <= after
    assert live.get(f"{base}/threshold")["chosen"]
    live.job_done(live.put(f"{base}/threshold", {"threshold": None}))
    assert live.get(f"{base}/threshold") == held
    assert {each["url"] for each in listed(live, topic_name)} == before


def test_marks_are_learned_from_and_all_pages_judged_again(
    live: ServedApp, topic_name: str
) -> None:
    base = f"/api/topics/{quote(topic_name)}/results"
    near = [each["url"] for each in listed(live, topic_name, kind="missed")[:3]]
    (before,) = live.get("/api/crawls")
    live.post(f"{base}/marks", {"urls": near, "useful": True})
    assert set(near) <= {each["url"] for each in listed(live, topic_name)}
    (after,) = live.get("/api/crawls")
    assert after["finds"] == before["finds"] + len(near)
    shown = live.get(f"/api/topics/{quote(topic_name)}/crawl")
    assert shown["crawl"]["finds"] == after["finds"]
    job = live.job_done(live.post(f"/api/topics/{quote(topic_name)}/learn"))
    assert job["state"] == "done", job
    judging = wait_until(
        lambda: next((each for each in live.get("/api/jobs") if each["kind"] == "rejudge"), None)
    )
    assert live.job_done(judging)["state"] == "done"
    assert live.job_done(live.post(f"{base}/rejudge"))["message"].startswith("0 pages joined")
    assert set(near) <= {each["url"] for each in listed(live, topic_name)}
    why = live.get(f"{base}/why?url={quote(near[0])}")
    assert why["verdict"] == "fetched"
    assert why["path"][-1] == near[0]
