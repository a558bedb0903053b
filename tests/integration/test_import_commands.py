"""``trailhound import`` and ``trailhound forget`` as a user meets them."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from archived_exchanges import read_folder
from browser_histories import Step, chrome_bookmarks_file, chrome_history, places
from test_import_archives import package
from test_import_har import entry
from test_import_logs import combined, squid
from test_warc_importer import ArchiveBuilder

from command_line import Command
from trailhound.demo import DemoWeb
from trailhound.demo.server import serve_in_thread
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.sessions.files import write_session
from trailhound.topics.workspace import Workspace


@pytest.fixture
def workspace(workspace_folder: Path) -> Workspace:
    return Workspace(workspace_folder)


@pytest.fixture(scope="module")
def demo(web: DemoWeb) -> DemoWeb:
    return web


@pytest.fixture
def online(demo: DemoWeb, tmp_path: Path) -> Iterator[Path]:
    """The demo web over HTTP; the configuration that finds it there."""
    with serve_in_thread(demo) as port:
        config = tmp_path / "trailhound.toml"
        config.write_text(
            "[fetch]\nuser_agent = 'test-bot (+mailto:a@b.test)'\ndelay_seconds = 0\n"
            "allow_impolite = true\nallow_addresses = ['*.demo.test']\n"
            f"resolve = ['*.demo.test=127.0.0.1:{port}']\n"
        )
        yield config


def sessions(workspace: Workspace) -> list[Session]:
    return list(workspace.topic("bees").sessions().values())


def visits(workspace: Workspace) -> list[Visit]:
    return [
        event
        for session in sessions(workspace)
        for event in session.events
        if isinstance(event, Visit)
    ]


def walk(demo: DemoWeb) -> list[Visit]:
    """The demo's own browsing, without page contents."""
    events = demo.sessions["bee-health"].events
    return [event for event in events if isinstance(event, Visit)]


def useful_file(demo: DemoWeb, path: Path) -> Path:
    marks = [event for event in demo.sessions["bee-health"].events if isinstance(event, Mark)]
    path.write_text("# useful\n\n" + "\n".join(mark.url for mark in marks))
    return path


def places_of(demo: DemoWeb, path: Path) -> Path:
    numbers: dict[str, int] = {}
    steps = []
    for number, visit in enumerate(walk(demo), start=1):
        came_from = numbers.get(visit.from_url or "", 0)
        steps.append(Step(visit.url, 1 if came_from else 2, came_from))
        numbers[visit.url] = number
    return places(path, steps)


@pytest.mark.parametrize(("kind", "typed", "link"), [("chrome", 1, 0), ("firefox", 2, 1)])
def test_a_history_without_contents_has_paths_to_learn_from(
    trailhound: Command, tmp_path: Path, kind: str, typed: int, link: int
) -> None:
    site = "http://hive.test/"
    steps = [Step(site, typed), Step(f"{site}plants", link, 1), Step(f"{site}animals", link, 1)]
    steps += [Step(f"{site}bee{number}", link, 3) for number in range(5)]
    steps += [Step(f"{site}rose{number}", link, 2) for number in range(5)]
    make = {"chrome": chrome_history, "firefox": places}[kind]
    history = make(tmp_path / "history", steps)
    useful = [word for number in range(3) for word in ("-u", f"{site}bee{number}")]
    assert trailhound("import", kind, history, "--topic", "bees", *useful).code == 0
    done = trailhound("learn", "bees", "--json")
    (learned,) = json.loads(done.out)
    assert (learned["links"], learned["level_sizes"]) == (12, [3, 1, 1, 8])
    told = {each["code"]: each for each in learned["warnings"]}
    assert "no-links" not in told
    assert "--fetch" in told["no-content"]["next_step"]


def test_a_history_is_fetched_learned_from_and_forgotten(
    trailhound: Command, workspace: Workspace, demo: DemoWeb, online: Path, tmp_path: Path
) -> None:
    history = places_of(demo, tmp_path / "places.sqlite")
    useful = useful_file(demo, tmp_path / "useful.txt")
    arguments = ("import", "firefox", history, "--topic", "bees", "--useful", useful, "--json")
    before = trailhound(*arguments).report
    assert (before["with_content"], before["sessions"]) == (0, 1)
    assert before["marked"] > 3

    fetched = trailhound(*arguments, "--fetch").report
    assert fetched["with_content"] > 0.9 * fetched["pages"]
    assert fetched["fetched"]["fetched"] >= fetched["with_content"]
    assert len(sessions(workspace)) == 1
    assert not list(workspace.folder.rglob("fetched*"))

    again = trailhound(*arguments, "--fetch").report
    assert again["with_content"] == fetched["with_content"]
    assert "fetched" not in again["fetched"], "known pages are not asked for again"

    assert trailhound("learn", "bees").code == 0
    done = trailhound("forget", "bees", "--host", visits(workspace)[0].url.split("/")[2])
    assert done.code == 0, done.err
    assert "Removed" in done.out
    assert "model was" in done.out
    assert trailhound("forget", "--topic", "bees", "--all").code == 0
    assert workspace.topics() == ()


def test_fetching_is_bounded_and_goes_on_the_next_time(
    trailhound: Command, workspace: Workspace, demo: DemoWeb, online: Path, tmp_path: Path
) -> None:
    history = places_of(demo, tmp_path / "places.sqlite")
    arguments = ("import", "firefox", history, "-t", "bees", "--fetch", "--max-pages", "5")
    first = trailhound(*arguments, "--json").report
    assert (sum(first["fetched"].values()), first["unfetched"] > 0) == (5, True)
    second = trailhound(*arguments)
    assert "raise --max-pages" in second.err
    assert sum(visit.html is not None for visit in visits(workspace)) > 5


def test_pages_of_hosts_that_do_not_answer_are_counted(
    trailhound: Command, workspace: Workspace, demo: DemoWeb, online: Path, tmp_path: Path
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        closed = server.getsockname()[1]
    text = online.read_text().replace(
        "resolve = [", f"resolve = ['closed.demo.test=127.0.0.1:{closed}', "
    )
    online.write_text(text)
    steps = [Step(walk(demo)[0].url, 2), *(Step(f"http://closed.demo.test/{n}", 2) for n in "ab")]
    history = places(tmp_path / "places.sqlite", steps)
    arguments = ("import", "firefox", history, "-t", "bees", "--fetch")
    report = trailhound(*arguments, "--json").report
    assert (report["fetched"], report["unfetched"]) == ({"fetched": 1, "no-answer": 2}, 0)
    again = trailhound(*arguments)
    assert "asked the web for pages: 2 no-answer" in again.err
    assert "none was missing" not in again.err


def test_an_interrupted_fetch_goes_on_where_it_was(
    trailhound: Command, workspace: Workspace, demo: DemoWeb, online: Path, tmp_path: Path
) -> None:
    history = places_of(demo, tmp_path / "places.sqlite")
    first = walk(demo)[0].url
    kept = workspace.folder_for("bees").path / "fetched.part.jsonl"
    kept.parent.mkdir(parents=True)
    page = {"url": first, "outcome": "fetched", "final_url": first, "html": "<p>from before"}
    kept.write_bytes(json.dumps(page).encode() + b'\n{"url": "torn')
    trailhound("import", "firefox", history, "-t", "bees", "--fetch")
    assert "<p>from before" in {visit.html for visit in visits(workspace)}
    assert not kept.exists()


def test_fetching_needs_a_contact(trailhound: Command, tmp_path: Path) -> None:
    history = places(tmp_path / "places.sqlite", [Step("http://a.test/", 2)])
    done = trailhound("import", "firefox", history, "-t", "bees", "--fetch")
    assert done.code == 2
    assert "--user-agent" in done.err
    assert "Traceback" not in done.err


def test_visited_bookmarks_are_marked(
    trailhound: Command, workspace: Workspace, tmp_path: Path
) -> None:
    chrome_history(tmp_path / "History", [Step("http://a.test/", 1), Step("http://a.test/b", 0, 1)])
    chrome_bookmarks_file(tmp_path / "Bookmarks", "Bees", ["http://a.test/b", "http://x.test/"])
    command = ("import", "chrome", tmp_path, "--topic", "bees", "--useful")
    assert trailhound(*command, "bookmarks:Bees", "--json").report["marked"] == 1
    (session,) = sessions(workspace)
    assert [each.url for each in session.events if isinstance(each, Mark)] == ["http://a.test/b"]
    done = trailhound(*command, "bookmarks:Cars")
    assert done.code == 2
    assert "Folders: Bees, Bookmarks bar" in done.err


def test_logs_get_pseudonyms_unless_addresses_are_kept(
    trailhound: Command, workspace: Workspace, tmp_path: Path
) -> None:
    log = tmp_path / "access.log"
    lines = [squid(f"10.0.0.{n % 3}", n, f"http://a.test/{n}") for n in range(9)]
    log.write_text("\n".join([*lines, "damaged"]))
    done = trailhound("import", "squid", log, "--topic", "bees", "-u", "http://a.test/4")
    assert done.code == 0, done.err
    assert "10 lines read, 9 kept" in done.out
    assert "1 skipped: not a line of this format" in done.out
    assert "3 sessions with 9 visits of 9 pages: 0 with content, 1 marked useful" in done.out
    assert "--fetch" in done.err
    stored = b"".join(path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file())
    assert b"10.0.0." not in stored
    trailhound("import", "squid", log, "--topic", "bees", "--keep-addresses")
    assert {"10.0.0.0", "10.0.0.1", "10.0.0.2"} == {each.user for each in sessions(workspace)}


def test_a_combined_log_of_a_part_of_the_time(
    trailhound: Command, workspace: Workspace, tmp_path: Path
) -> None:
    log = tmp_path / "access.log"
    hours = ("10:00:00 +0000", "12:00:00 +0000", "12:30:00 +0000", "15:00:00 +0000")
    log.write_text(
        "\n".join(combined("c", f"GET /{at[:2]}{at[3:5]} HTTP/1.1", at=at) for at in hours)
    )
    since, until = "2026-03-01T11:00+00:00", "2026-03-01T14:00+00:00"
    report = trailhound(
        "import", "combined", log, "--site", "https://a.test", "-t", "bees", "--json",
        "--since", since, "--until", until,
    ).report  # fmt: skip
    assert report["visits"] == 2
    assert report["skipped"]["outside the time asked for"] == 2
    assert report["kept"] == 2


def test_har_and_archives_are_imported(
    trailhound: Command, workspace: Workspace, tmp_path: Path
) -> None:
    archive = ArchiveBuilder()
    archive.page("http://a.test/", b"<title>A</title>")
    (tmp_path / "r.warc.gz").write_bytes(archive.content())
    done = trailhound(
        "import", "warc", tmp_path / "r.warc.gz", "-t", "bees", "-u", "http://a.test/"
    )
    assert done.code == 0, done.err
    assert "trailhound learn bees" in done.err
    assert trailhound("import", "wacz", tmp_path / "r.warc.gz", "-t", "bees").code == 0
    assert len(sessions(workspace)) == 1, "the same recording counts once"


LOGIN = "http://ann:PW@h.example/"


def recorded_with_login(kind: str, path: Path) -> Path:
    """Two pages that follow each other, with a name and a password in each address."""
    first, second = f"{LOGIN}a", f"{LOGIN}b"
    if kind == "firefox":
        return places(path, [Step(first, 2), Step(second, 1, 1)])
    if kind == "chrome":
        return chrome_history(path, [Step(first, 1), Step(second, 0, 1)])
    if kind == "squid":
        path.write_text("\n".join(squid("c", at, url) for at, url in enumerate((first, second))))
    elif kind == "combined":
        asked = ((f"GET {first} HTTP/1.1", "-"), (f"GET {second} HTTP/1.1", first))
        path.write_text("\n".join(combined("c", *each) for each in asked))
    elif kind == "har":
        entries = [entry(f"{LOGIN}start", 0, status=302, redirect=first), entry(first, 1)]
        frame = entry(second, 2, Referer=first, Sec_Fetch_Dest="iframe")
        path.write_text(json.dumps({"log": {"entries": [*entries, frame]}}))
    else:
        archive = ArchiveBuilder()
        archive.page(first, b"<title>A</title>")
        archive.page(second, b"<title>B</title>")
        if kind == "warc":
            path.write_bytes(archive.content())
        else:
            pages = [{"url": url, "ts": f"2024-01-01T00:0{n}:00Z"} for n, url in
                     enumerate((first, second))]  # fmt: skip
            package(path, pages, archive.content())
    return path


def addresses(workspace: Workspace) -> list[str | None]:
    """All that the topic's sessions hold."""
    return [
        getattr(event, name, None)
        for session in sessions(workspace)
        for event in session.events
        for name in ("url", "from_url", "requested_url", "frame_of")
    ]


@pytest.mark.parametrize("kind", ["har", "warc", "wacz", "firefox", "chrome", "squid", "combined"])
def test_names_and_passwords_in_addresses_are_not_kept(
    trailhound: Command, workspace: Workspace, tmp_path: Path, kind: str
) -> None:
    file = recorded_with_login(kind, tmp_path / "recording")
    importing = ("import", kind, file, "-t", "bees", "-u", "http://h.example/a")
    report = trailhound(*importing, "--json").report
    assert (report["visits"], report["marked"]) == (2, 1)
    assert not [each for each in addresses(workspace) if each and "PW" in each]
    assert [each.from_url for each in visits(workspace)][1] == "http://h.example/a"
    assert trailhound(*importing, "--json").report["known"] == 1
    assert len(visits(workspace)) == 2


@pytest.mark.parametrize("kind", ["firefox", "chrome"])
@pytest.mark.parametrize(
    "own", ["file:///home/ann/debts.html", "data:text/html,PW", "view-source:http://h.example/"]
)
def test_histories_leave_no_trace_of_what_is_not_on_the_web(
    trailhound: Command, workspace: Workspace, tmp_path: Path, kind: str, own: str
) -> None:
    web, redirected = "http://h.example/a", "http://h.example/b"
    if kind == "firefox":
        steps = [Step(own, 2), Step(web, 1, 1), Step(own, 2), Step(redirected, 6, 3)]
        file = places(tmp_path / "recording", steps)
    else:
        steps = [Step(own, 1), Step(web, 0, 1), Step(own, 1), Step(redirected, 0x4000_0000, 3)]
        file = chrome_history(tmp_path / "recording", steps)
    for number in range(2):
        report = trailhound("import", kind, file, "-t", "bees", "--json").report
        assert (report["visits"], report["known"]) == (2, number)
    assert report["skipped"]["not on the web"] == 2
    assert {each for each in addresses(workspace) if each} == {web, redirected}


def test_sessions_that_were_imported_with_secret_addresses_lose_them(
    trailhound: Command, workspace: Workspace, tmp_path: Path
) -> None:
    """As they were imported before such addresses were left out."""
    folder = workspace.folder_for("bees")
    folder.prepare()
    first = Visit(1_772_366_401.0, f"{LOGIN}a")
    lost = Visit(5.0, f"{LOGIN}gone", from_url="file:///PW", requested_url="file:///PW")
    old = Session("bees", (lost, first, Mark(5.0, lost.url)), recorder="firefox import")
    write_session(old, folder.sessions_path / "old.jsonl")
    file = recorded_with_login("firefox", tmp_path / "places.sqlite")
    assert trailhound("import", "firefox", file, "-t", "bees", "--json").report["known"] == 1
    assert not [each for each in addresses(workspace) if each and "PW" in each]
    assert [each.url for each in visits(workspace)] == [
        "http://h.example/gone", "http://h.example/a", "http://h.example/b"
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["har", "warc", "wacz", "squid", "combined"])
def test_what_a_recording_tells_twice_counts_once(
    trailhound: Command, workspace: Workspace, tmp_path: Path, kind: str
) -> None:
    file = recorded_with_login(kind, tmp_path / "recording.wacz")
    once = trailhound("import", kind, file, "-t", "once", "--json").report
    twice = tmp_path / "twice"
    if kind == "har":
        log = json.loads(file.read_text())
        log["log"]["entries"] *= 2
        twice.write_text(json.dumps(log))
    elif kind in ("warc", "wacz"):
        twice.mkdir()
        for name in ("a", "b"):
            shutil.copy(file, twice / f"{name}.{kind}")
    else:
        twice.write_text(f"{file.read_text()}\n{file.read_text()}")
    report = trailhound("import", kind, twice, "-t", "bees", "--json").report
    assert (report["visits"], report["with_content"]) == (once["visits"], once["with_content"])
    assert report["skipped"]["the same page at the same time"] == 2
    assert (report["read"], report["kept"]) == (2 * once["read"], once["kept"])
    (told,) = workspace.topic("once").sessions().values()
    assert [session.events for session in sessions(workspace)] == [told.events]


@pytest.mark.parametrize("kind", ["har", "warc", "wacz", "firefox", "chrome", "squid", "combined"])
def test_wrong_files_end_with_one_message(trailhound: Command, tmp_path: Path, kind: str) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(os.urandom(5000))
    for file in (wrong, tmp_path / "missing"):
        done = trailhound("import", kind, file, "--topic", "bees")
        assert done.code in (1, 2)
        assert done.err.startswith("Error:")
        assert "Traceback" not in done.err
    assert Workspace(tmp_path / "workspace").topics() == ()


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("--useful", "no-such-file"), "neither an address"),
        (("--useful", "bookmarks"), "knows no bookmarks"),
        (("--since", "yesterday"), "is no date"),
        (("--since", "2026-01-02", "--until", "2026-01-01"), "is not before"),
        (("--topic", "  "), "needs a name"),
        (("--max-pages", "5"), "--max-pages is for pages that are asked for. Give --fetch"),
        (("--user-agent", "bot (+mailto:a@b.test)"), "--user-agent is for pages that are asked"),
        (("--config", "nofile.toml"), "nofile.toml"),
    ],
)
def test_wrong_options_are_explained(
    trailhound: Command, tmp_path: Path, extra: tuple[str, ...], message: str
) -> None:
    done = trailhound("import", "har", tmp_path / "x.har", "--topic", "bees", *extra)
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_an_unknown_kind_is_told_which_there_are(trailhound: Command) -> None:
    done = trailhound("import", "nokind", "x.har", "--topic", "bees")
    assert done.code == 2
    told = " ".join(done.err.split())
    assert "Unknown kind of import 'nokind'. Known: " in told
    assert "firefox" in told


def test_titles_with_terminal_codes_and_hostile_names_do_no_harm(
    trailhound: Command, workspace: Workspace, tmp_path: Path
) -> None:
    history = places(tmp_path / "places.sqlite", [Step("http://a.test/\x1b[31m", 2)])
    done = trailhound(
        "import", "firefox", history, "-t", "../../bees", "-u", "http://b.test/\x1b[2J"
    )
    assert done.code == 0, done.err
    assert "\x1b" not in done.out + done.err
    assert not (tmp_path / "bees").exists()
    assert workspace.topics() == ("../../bees",)


def test_forget_says_what_it_would_do_and_what_it_does_not_cover(
    trailhound: Command, workspace: Workspace, tmp_path: Path
) -> None:
    history = places(
        tmp_path / "places.sqlite", [Step("http://a.test/", 2), Step("http://b.test/", 2)]
    )
    trailhound("import", "firefox", history, "--topic", "bees", "--useful", "http://a.test/")
    dry = trailhound("forget", "--topic", "bees", "--url", "http://a.test/", "--dry-run")
    assert "Would remove visits and marks in sessions: 2" in dry.out
    assert "Not covered: other topics, files outside the workspace" in dry.err
    assert "Also in" not in dry.err
    assert len(visits(workspace)) == 2
    trailhound("import", "firefox", history, "--topic", "wasps")
    dry = trailhound("forget", "--topic", "bees", "--url", "http://a.test/", "--dry-run")
    assert "Also in the sessions of: wasps. Repeat it there." in dry.err
    assert trailhound("forget", "--topic", "bees", "--url", "http://a.test/", "--json").report == {
        "dry_run": False,
        "removed": {"visits and marks in sessions": 2},
        "model": "",
        "also_in": ["wasps"],
    }
    assert [each.url for each in visits(workspace)] == ["http://b.test/"]
    nothing = trailhound("forget", "--topic", "bees", "--host", "a.test")
    assert "Nothing of that" in nothing.out


@pytest.mark.parametrize(
    "arguments",
    [(), ("--all", "--url", "http://a.test/"), ("--url", "nonsense"), ("--host", "a b")],
)
def test_forget_needs_to_know_what(trailhound: Command, arguments: tuple[str, ...]) -> None:
    done = trailhound("forget", "--topic", "bees", *arguments)
    assert done.code == 2
    assert "Traceback" not in done.err


def test_help_teaches(trailhound: Command) -> None:
    for kind in ("har", "warc", "wacz", "firefox", "chrome", "squid", "combined"):
        done = trailhound("import", kind, "--help")
        assert f"trailhound import {'wacz' if kind == 'warc' else kind}" in done.out
    assert "--dry-run" in trailhound("forget", "--help").out


def test_a_crawl_forgets_a_page_and_can_be_resumed(
    trailhound: Command, workspace: Workspace, demo: DemoWeb, online: Path, tmp_path: Path
) -> None:
    history = places_of(demo, tmp_path / "places.sqlite")
    useful = useful_file(demo, tmp_path / "useful.txt")
    trailhound("import", "firefox", history, "-t", "bees", "-u", useful, "--fetch")
    trailhound("learn", "bees")
    seed = demo.start_urls[0]
    assert trailhound("crawl", "bees", "--seed", seed, "--max-requests", "25", "--json").code == 0
    found = json.loads(trailhound("results", "bees", "--all", "--json").out)
    address = next(row["address"] for row in found if row["depth"] > 0)

    report = trailhound("forget", "--topic", "bees", "--url", address, "--json").report
    assert report["removed"]["results of crawls"] >= 1
    assert report["removed"]["records in archives"] >= 3
    assert report["removed"]["lines of crawls' logs"] >= 1
    assert report["removed"]["addresses in crawls' queues"] == 1
    left = json.loads(trailhound("results", "bees", "--all", "--json").out)
    assert address not in {row["address"] for row in left}
    assert len(left) >= len(found) - report["removed"]["results of crawls"]
    archive = workspace.topic("bees").path / "crawl" / "archive"
    assert address not in {row.headers.get("WARC-Target-URI") for row in read_folder(archive)}
    again = trailhound("forget", "--topic", "bees", "--url", address, "--json").report
    assert again["removed"] == {}
    resumed = trailhound("crawl", "bees", "--resume", "--max-requests", "35", "--json")
    assert resumed.code == 0, resumed.err


def test_nothing_in_the_topic_names_a_forgotten_host(
    trailhound: Command, workspace: Workspace, demo: DemoWeb, online: Path, tmp_path: Path
) -> None:
    history = places_of(demo, tmp_path / "places.sqlite")
    useful = useful_file(demo, tmp_path / "useful.txt")
    trailhound("import", "firefox", history, "-t", "bees", "-u", useful, "--fetch")
    trailhound("learn", "bees")
    seed = demo.start_urls[0]
    assert trailhound("crawl", "bees", "--seed", seed, "--max-requests", "40", "--json").code == 0
    topic = workspace.topic("bees").path
    (topic / "crawl" / "strategy.bin").write_bytes(b"whatever a strategy remembers")
    found = json.loads(trailhound("results", "bees", "--all", "--limit", "100", "--json").out)
    hosts = {row["address"].split("/")[2] for row in found}
    assert len(hosts) > 2
    for host in sorted(hosts)[:2]:
        assert {"results.db", "frontier.db"} <= places_that_name(topic, host)
        trailhound("forget", "--topic", "bees", "--host", host)
        assert places_that_name(topic, host) == set()
    assert not (topic / "crawl" / "strategy.bin").exists()


def places_that_name(topic: Path, host: str) -> set[str]:
    """Files that hold a host's name other than in the links of other pages."""
    link = re.compile(rb"""(?:href|src)=\\?["']?https?://""" + host.encode())
    in_model = re.compile(rb'"url":"https?://' + host.encode() + rb'[^"]*","anchor"')
    found = set()
    for path in topic.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        if host.encode() in in_model.sub(b"", link.sub(b"", content)):
            found.add(path.name)
    return found
