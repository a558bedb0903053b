"""Crawls that were set aside, through the API of a real server: seen, marked, exported."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from half_way_crawls import TOPIC
from sharded_crawls import HOSTS, sharded

from app_server import RefusedError, ServedApp
from found_pages import DAY, NOON, Find, crawl_of
from trailhound.topics.crawls.folder import CrawlFolder

BOTH = "https://a.example/both"
OLD = "https://b.example/old"
NEW = "https://c.example/new"
RESULTS = "/api/topics/bees/results"
HOSTILE = (
    "../x",
    "../wasps/crawl",
    "..",
    ".",
    "crawl-2",
    "crawl-1/",
    "crawl-1/../crawl",
    "crawl/shards/000",
    "CRAWL-1",
    "/etc",
    "crawl-1\0",
    "crawl*",
    "<b>",
)


def page(address: str, words: str, **more: Any) -> Find:
    return Find(address, html=f"<title>{words}</title><p>All about {words}.", **more)


def write_days(folder: CrawlFolder, begun_at: float, ended_at: float | None) -> None:
    record = msgspec.structs.replace(folder.read(), created_at=begun_at, ended_at=ended_at)
    folder.write(record)


@pytest.fixture
def bees(app: ServedApp) -> ServedApp:
    """A topic that was begun anew once."""
    earlier = crawl_of(app.workspace.folder, [page(BOTH, "old gates"), page(OLD, "old hives")])
    write_days(earlier, NOON, NOON + 60)
    earlier.set_aside()
    missed = page("https://c.example/miss", "wasps", score=0.4, relevant=False)
    present = crawl_of(app.workspace.folder, [page(BOTH, "new gates"), page(NEW, "combs"), missed])
    write_days(present, NOON + DAY, None)
    crawl_of(app.workspace.folder, [page(NEW, "another topic")], topic="wasps")
    return app


def asked(app: ServedApp, path: str = "", **values: Any) -> Any:
    return app.get(f"{RESULTS}{path}?{urlencode(values)}")


def urls(app: ServedApp, **values: Any) -> list[str]:
    return sorted(each["url"] for each in asked(app, **values)["results"])


def test_crawls_are_listed_newest_first(bees: ServedApp) -> None:
    known = [
        {"name": "crawl", "begun_at": NOON + DAY, "ended_at": None, "finds": 2},
        {"name": "crawl-1", "begun_at": NOON, "ended_at": NOON + 60, "finds": 2},
    ]
    assert bees.get("/api/topics/bees/crawls") == known
    bees.post("/api/topics/new")
    assert bees.get("/api/topics/new/crawls") == []
    topic = bees.workspace.topic("bees").path
    (topic / "crawl-notes").mkdir()
    (topic / "crawl-9").mkdir()
    (topic / "crawl-9" / "crawl.json").write_text("{")
    damaged = {"name": "crawl-9", "begun_at": None, "ended_at": None, "finds": None}
    assert bees.get("/api/topics/bees/crawls") == [*known, damaged]
    with pytest.raises(RefusedError, match="has lost its crawl"):
        asked(bees, crawl="crawl-notes")


def test_an_earlier_crawl_is_shown_as_the_present_one_is(bees: ServedApp) -> None:
    assert urls(bees) == urls(bees, crawl="crawl") == [BOTH, NEW]
    assert urls(bees, crawl="crawl-1") == [BOTH, OLD]
    assert urls(bees, crawl="crawl-1", q="hives") == [OLD]
    assert urls(bees, q="hives") == []
    assert asked(bees, "/count", crawl="crawl-1", host="b.example") == {"count": 1}
    assert asked(bees, "/count", host="b.example") == {"count": 0}
    facets = asked(bees, "/facets", crawl="crawl-1")
    assert [each["value"] for each in facets["hosts"]] == ["a.example", "b.example"]
    assert asked(bees, "/why", crawl="crawl-1", url=OLD)["verdict"] == "fetched"
    assert asked(bees, "/why", url=OLD)["verdict"] == "never-seen"
    assert asked(bees, "/copy", crawl="crawl-1", url=BOTH)["title"] == "old gates"
    assert asked(bees, "/copy", url=BOTH)["title"] == "new gates"
    earlier = CrawlFolder(bees.workspace.topic("bees")).named("crawl-1")
    assert earlier.secrets_home == bees.workspace.folder


def test_marks_of_an_earlier_crawl_count_in_all(bees: ServedApp) -> None:
    def mark(useful: bool | None) -> None:
        body = {"crawl": "crawl-1", "urls": [BOTH, OLD], "useful": useful}
        assert sorted(bees.post(f"{RESULTS}/marks", body)["marked"]) == [BOTH, OLD]

    mark(False)
    assert (urls(bees, crawl="crawl-1"), urls(bees)) == ([], [NEW])
    mark(True)
    assert urls(bees, crawl="crawl-1", kind="useful") == [BOTH, OLD]
    assert urls(bees, kind="useful") == [BOTH]
    mark(None)
    assert urls(bees, kind="useful") == urls(bees, crawl="crawl-1", kind="useful") == []
    with pytest.raises(RefusedError, match="unknown to"):
        bees.post(f"{RESULTS}/marks", {"urls": [OLD], "useful": True})


def test_exports_are_of_the_crawl_that_was_named(bees: ServedApp) -> None:
    exports = "/api/topics/bees/exports"
    for crawl, found, name in (("", NEW, "bees.txt"), ("crawl-1", OLD, "bees-crawl-1.txt")):
        job = bees.job_done(bees.post(exports, {"format": "urls", "crawl": crawl}))
        assert job["state"] == "done", job
        (ready,) = bees.get(f"{exports}?crawl={crawl}")
        assert ready["file_name"] == name
        _, content = bees.ask("GET", f"{exports}/urls?crawl={crawl}")
        assert sorted(content.decode().split()) == [BOTH, found]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_no_crawl_are_refused(bees: ServedApp, name: str) -> None:
    query = urlencode({"crawl": name, "url": BOTH})
    exports = "/api/topics/bees/exports"
    paths = [f"{RESULTS}{path}" for path in ("", "/count", "/facets", "/why", "/copy")]
    requests: list[tuple[str, str, Any]] = [
        *(("GET", f"{path}?{query}", None) for path in (*paths, exports, f"{exports}/csv")),
        ("POST", f"{RESULTS}/marks", {"crawl": name, "urls": [BOTH], "useful": True}),
        ("POST", exports, {"crawl": name, "format": "csv"}),
    ]
    for method, path, body in requests:
        with pytest.raises(RefusedError, match=r"Unknown crawl of 'bees'.*crawl-1") as refused:
            bees.right(method, path, body)
        assert refused.value.status == 404


def test_a_crawl_of_a_cluster_is_one_crawl(app: ServedApp) -> None:
    results, crawls = f"/api/topics/{TOPIC}/results", f"/api/topics/{TOPIC}/crawls"
    with sharded(app.workspace.folder) as crawl:
        crawl.run(0, 6)
        crawl.run(1, 3)
        found = {each["url"] for each in app.get(results)["results"]}
        assert found == {f"http://{HOSTS[0]}/{number}" for number in (0, 3)}
        assert [(each["name"], each["finds"]) for each in app.get(crawls)] == [("crawl", 2)]
        crawl.whole.set_aside()
        with pytest.raises(RefusedError, match="not been crawled"):
            app.get(results)
        assert [(each["name"], each["finds"]) for each in app.get(crawls)] == [("crawl-1", 2)]
        shown = app.get(f"{results}?crawl=crawl-1")["results"]
        assert {each["url"] for each in shown} == found
