"""Forgetting pages: in archives, results, queues, logs, sessions, contents and models."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from archived_exchanges import AT, exchange, read_folder
from kept_pages import keep, u
from learned_topics import HOST, park_session

from trailhound.cli.results import path_lines
from trailhound.config.settings import Settings
from trailhound.errors import ModelError, StorageError, UsageError
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.frontier.tables import forget_urls, is_blanked
from trailhound.records import Candidate
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.sessions.files import write_session
from trailhound.storage.cdxj import INDEX_NAME, parse_line
from trailhound.storage.forgetting import forget_lines, forget_records, forget_results
from trailhound.storage.results import REFRESHING, SITEMAPS_READ, ResultsStore
from trailhound.storage.results_reading import Results
from trailhound.storage.warc import ArchiveWriter
from trailhound.storage.warc_records import CaptureNotes
from trailhound.topics import learning
from trailhound.topics.crawls.folder import (
    EXPORTS,
    CrawlFolder,
    CrawlLock,
    CrawlRecord,
    RejudgeLock,
)
from trailhound.topics.crawls.marking import MARKS_FILE, mark_visited, marks_of
from trailhound.topics.finds.explaining import FORGOTTEN, shown_path
from trailhound.topics.learned import LearnedTopic
from trailhound.topics.learning import (
    LearningRequest,
    learn_each_label,
    learn_into,
    request_as_before,
)
from trailhound.topics.upkeep.forgetting import (
    ForgetReport,
    forget_everything,
    forget_pages,
    forget_session,
    one_host,
    one_url,
)
from trailhound.topics.upkeep.moving import merge_sessions, rename
from trailhound.topics.workspace import Workspace

SECRET = "http://secret.test/diary"


def archive_of(folder: Path, *urls: str, parent: str | None = None) -> None:
    with ArchiveWriter(folder, "bees", started_at=AT, max_file_bytes=3000) as archive:
        for url in urls:
            notes = CaptureNotes(parent=parent, depth=1, priority=0.5)
            archive.write([exchange(url, b"<p>" + url.encode() * 40)], notes)


def targets(folder: Path) -> set[str]:
    return {each.headers.get("WARC-Target-URI", "") for each in read_folder(folder)} - {""}


def assert_index_is_right(folder: Path) -> None:
    """Every line cuts out the record of its URL."""
    lines = (folder / INDEX_NAME).read_bytes().splitlines(keepends=True)
    assert len(lines) == sum(each.kind == "response" for each in read_folder(folder))
    for line in lines:
        entry = parse_line(line)[1]
        content = (folder / entry.filename).read_bytes()
        record = content[int(entry.offset) : int(entry.offset) + int(entry.length)]
        single = folder.parent / "one.warc.gz"
        single.write_bytes(record)
        (only,) = read_folder(folder.parent)
        assert only.headers["WARC-Target-URI"] == entry.url
        single.unlink()


def test_records_of_a_page_leave_the_archive_and_its_index(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    pages = [f"http://bees.test/{number}" for number in range(12)]
    archive_of(folder, *pages[:6], SECRET, *pages[6:])
    assert forget_records(folder, one_url(SECRET), dry_run=True) == 3
    assert SECRET in targets(folder)
    assert forget_records(folder, one_url(SECRET)) == 3
    assert targets(folder) == set(pages)
    assert_index_is_right(folder)
    assert forget_records(folder, one_url(SECRET)) == 0


def test_records_that_name_a_forgotten_page_go_too(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    archive_of(folder, "http://bees.test/", parent=SECRET)
    with ArchiveWriter(folder, "bees", started_at=AT) as archive:
        to_secret = exchange("http://a.test/r", b"", status=301, headers=(("Location", SECRET),))
        archive.write([to_secret], None)
    assert forget_records(folder, one_host("secret.test")) == 2
    assert all(b"secret" not in each.body for each in read_folder(folder))
    assert not any("Location" in dict(each.http_headers) for each in read_folder(folder))


def test_what_a_record_tells_in_words_counts_and_revisits_of_others_stay(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    with ArchiveWriter(folder, "bees", started_at=AT) as archive:
        unchanged = exchange("http://bees.test/", b"", status=304)
        archive.write([unchanged], CaptureNotes(number=1))
        archive.write([exchange(SECRET, b"x")], CaptureNotes(number=2))
        told = CaptureNotes(detail=f"redirects to {SECRET}, out of scope", number=3)
        archive.write([exchange("http://a.test/", b"y")], told)
    forget_records(folder, one_host("secret.test"))
    assert targets(folder) == {"http://bees.test/", "http://a.test/"}
    assert all(b"secret" not in each.body for each in read_folder(folder))


def test_what_a_crawl_has_begun_with_is_not_begun_again(tmp_path: Path) -> None:
    """Its sitemaps were read, and their pages would wait again."""
    path = tmp_path / "results.db"
    with closing(ResultsStore(path)) as store:
        store.save_state(SITEMAPS_READ, f"http://a.test/\n{SECRET}".encode())
        store.save_state(REFRESHING, b"yes")
    forget_results(path, one_host("secret.test"))
    with closing(ResultsStore(path)) as store:
        assert store.state(SITEMAPS_READ) == b"http://a.test/"
        assert store.state(REFRESHING) == b"yes"
    assert b"secret" not in path.read_bytes()


def test_hosts_without_an_address_of_theirs_are_forgotten(tmp_path: Path) -> None:
    with closing(SqliteFrontier(tmp_path / "frontier.db")) as frontier:
        frontier.add([Candidate("http://a.test/", 1.0)])
        frontier.delay_host("secret.test", 2e9)
    forget_urls(tmp_path / "frontier.db", one_host("secret.test"))
    assert b"secret" not in (tmp_path / "frontier.db").read_bytes()


def test_an_archive_with_nothing_left_is_gone(tmp_path: Path) -> None:
    archive_of(tmp_path / "archive", SECRET)
    forget_records(tmp_path / "archive", one_url(SECRET))
    assert read_folder(tmp_path / "archive") == []
    assert (tmp_path / "archive" / INDEX_NAME).read_bytes() == b""
    assert forget_records(tmp_path / "nowhere", one_url(SECRET)) == 0


def test_an_archive_in_use_is_left_alone(tmp_path: Path) -> None:
    with (
        ArchiveWriter(tmp_path / "archive", "bees", started_at=AT),
        pytest.raises(StorageError, match="in use"),
    ):
        forget_records(tmp_path / "archive", one_url(SECRET))


def test_queues_forget_urls_and_stay_usable(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    urls = ["http://a.test/1", SECRET, "http://a.test/2", "https://www.secret.test/x"]
    frontier = SqliteFrontier(path)
    frontier.add([Candidate(url, 0.5, b"m", parent=SECRET) for url in urls])
    frontier.close()
    assert forget_urls(path, one_host("secret.test"), dry_run=True) == 2
    assert forget_urls(path, one_host("secret.test")) == 2
    assert b"secret" not in path.read_bytes()
    again = SqliteFrontier(path)
    assert again.stats().waiting == 2
    assert again.state_of(SECRET) is None
    again.add([Candidate(SECRET, 0.9)])
    assert again.outcome_of(SECRET) is None
    again.close()


def test_logs_lose_the_lines_that_name_a_page(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    lines: list[dict[str, object]] = [
        {"event": "page", "url": "http://a.test/", "parent": None},
        {"event": "page", "url": "http://a.test/2", "parent": SECRET},
        {"event": "page", "url": SECRET, "parent": None},
        {"event": "notice", "message": f"gave up on {SECRET}."},
    ]
    log.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines) + b"torn {")
    assert forget_lines(log, one_url(SECRET), dry_run=True) == 3
    assert forget_lines(log, one_url(SECRET)) == 3
    other = {**lines[1], "parent": None}  # that page is not forgotten
    kept = [msgspec.json.encode(lines[0]), msgspec.json.encode(other), b"torn {"]
    assert log.read_bytes().splitlines() == kept


def learned(place: Path) -> Workspace:
    workspace = Workspace(place)
    learn_into(workspace, LearningRequest("bees", [park_session()]))
    return workspace


def all_sessions(workspace: Workspace) -> list[Session]:
    return list(workspace.topic("bees").sessions().values())


def test_other_topics_with_the_same_visits_are_named(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    session = park_session(targets={"bee1": "", "bee3": "queens", "bee4": "honey"})
    learn_each_label(workspace, LearningRequest("bees", [session]))
    other = workspace.folder_for("wasps")
    other.prepare()
    write_session(Session("wasps", (Visit(1.0, SECRET),)), other.sessions_path / "s.jsonl")
    (other.sessions_path / "broken.jsonl").write_bytes(b"\x00")
    (workspace.topic("bees-honey").path / "topic.json").write_bytes(b"damaged")
    for dry_run in (True, False):
        report = forget_pages(workspace, "bees", one_host("park.test"), dry_run=dry_run)
        assert report.also_in == ("bees-queens", "bees-honey")
    assert "; sessions of other topics keep it: bees-queens, bees-honey." in report.in_words()
    assert forget_pages(workspace, "bees", one_url(SECRET)).also_in == ("wasps",)
    assert forget_pages(workspace, "bees", one_host("nobody.test")).also_in == ()


def test_a_page_leaves_sessions_and_model(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    report = forget_pages(workspace, "bees", one_url(HOST + "gate"))
    assert report.removed == {"visits and marks in sessions": 1}
    assert report.model == "the model was learned again from what is left"
    (session,) = all_sessions(workspace)
    assert all(HOST + "gate" not in (e.url, e.from_url) for e in session.events if type(e) is Visit)
    pages = workspace.topic("bees").load().model.graph.pages
    assert HOST + "gate" not in {page.url for page in pages}
    assert len(pages) == 9


def test_damaged_lines_go_and_keep_no_model_from_being_learned(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    (path,) = workspace.topic("bees").sessions_path.glob("*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"type":"visit","url":"' + SECRET.encode() + b'",,}\n')
    dry = forget_pages(workspace, "bees", one_url(HOST + "gate"), dry_run=True)
    assert path.read_bytes() != whole
    report = forget_pages(workspace, "bees", one_url(HOST + "gate"))
    assert report.removed == dry.removed
    assert report.removed == {"damaged lines of sessions": 1, "visits and marks in sessions": 1}
    assert report.model == "the model was learned again from what is left"
    assert len(workspace.topic("bees").load().model.graph.pages) == 9
    left = b"".join(path.read_bytes() for path in workspace.topic("bees").path.rglob("*.jsonl"))
    assert b"secret.test" not in left


def test_a_damaged_line_may_hold_what_no_other_names(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    (path,) = workspace.topic("bees").sessions_path.glob("*.jsonl")
    before = all_sessions(workspace)
    with path.open("ab") as file:
        file.write(b'{"type":"visit","url":"' + SECRET.encode() + b'"\n')
    topic = workspace.topic("bees").path
    (topic / "crawl").mkdir()
    (topic / "crawl" / "strategy.bin").write_bytes(b"what was learned")
    report = forget_pages(workspace, "bees", one_host("secret.test"))
    assert report.removed == {"damaged lines of sessions": 1}
    assert (topic / "crawl" / "strategy.bin").exists(), "no page of it has gone"
    assert all_sessions(workspace) == before


def test_what_was_learned_of_a_line_before_it_was_damaged_goes_as_well(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    folder = workspace.topic("bees")
    (path,) = folder.sessions_path.glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    gate = (HOST + "gate").encode()
    path.write_bytes(b"".join(line[9:] if b'"url":"' + gate in line else line for line in lines))
    folder.picture_path.write_bytes(gate)
    (folder.path / "crawl").mkdir()
    (folder.path / "crawl" / "strategy.bin").write_bytes(gate)
    report = forget_pages(workspace, "bees", one_url(HOST + "gate"))
    assert report.removed.keys() >= {"damaged lines of sessions"}
    assert not folder.picture_path.exists()
    assert not (folder.path / "crawl" / "strategy.bin").exists()
    assert HOST + "gate" not in {page.url for page in folder.load().model.graph.pages}


def test_a_session_is_forgotten_beside_a_damaged_one(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    learn_into(workspace, LearningRequest("bees", [park_session(user="else")]))
    first, second = sorted(workspace.topic("bees").sessions_path.glob("*.jsonl"))
    with second.open("ab") as file:
        file.write(b"{}\n")
    report = forget_session(workspace, "bees", first.name)
    assert report.model == "the model was learned again from what is left"


def test_marks_go_with_their_pages(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    forget_pages(workspace, "bees", one_url(HOST + "bee1#top"))
    (session,) = all_sessions(workspace)
    marks = [event.url for event in session.events if isinstance(event, Mark)]
    assert marks == [HOST + "bee2", HOST + "bee3"]


def test_marks_made_beside_sessions_outlive_a_forgotten_one(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    topic = workspace.topic("bees")
    for page in ("bee1", "bee2", "gate"):
        mark_visited(topic, HOST + page, useful=page != "gate", now=5.0)
    forget_pages(workspace, "bees", one_url(HOST + "bee1"))
    assert marks_of(topic) == {HOST + "bee2": True, HOST + "gate": False}
    mark_visited(topic, HOST + "gate", useful=None, now=6.0)
    assert marks_of(topic) == {HOST + "bee2": True}
    forget_pages(workspace, "bees", one_host("park.test"))
    assert not (topic.sessions_path / MARKS_FILE).exists()


def test_sessions_are_merged_again_when_they_have_gone_on(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    source, target = workspace.folder_for("bees"), workspace.folder_for("wasps")
    source.prepare()
    target.prepare()
    visits = tuple(Visit(float(number), f"{HOST}p{number}", "") for number in range(3))
    write_session(Session("bees", visits[:2]), source.sessions_path / "one.jsonl")
    assert [merge_sessions(source, target) for _ in range(2)] == [1, 0]
    write_session(Session("bees", visits), source.sessions_path / "one.jsonl")
    assert merge_sessions(source, target) == 1
    assert target.sessions()["one.jsonl"].events == visits
    write_session(Session("wasps", visits[:1]), target.sessions_path / "one.jsonl")
    write_session(Session("bees", visits[1:]), source.sessions_path / "one.jsonl")
    assert merge_sessions(source, target) == 0, "what was changed here stays as it is"


def test_a_model_of_nothing_is_removed(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    report = forget_pages(workspace, "bees", one_host("park.test"))
    assert report.model.startswith("the model was removed")
    assert all_sessions(workspace) == []
    assert not workspace.topic("bees").model_path.exists()


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    workspace = learned(tmp_path)

    def contents() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    before = contents()
    assert forget_pages(workspace, "bees", one_host("park.test"), dry_run=True).removed
    assert forget_everything(workspace, "bees", dry_run=True).removed
    assert contents() == before


def test_a_whole_topic_is_forgotten(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    report = forget_everything(workspace, "bees")
    assert report.removed["sessions"] == 1
    assert workspace.topics() == ()
    assert not any(path.is_file() for path in (tmp_path / "topics").rglob("*"))


def test_a_topic_half_forgotten_is_no_topic_and_goes_on_the_next_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = learned(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", _be_killed)
        with pytest.raises(KeyboardInterrupt):
            forget_everything(workspace, "bees")
    assert any((tmp_path / "topics").rglob("*.jsonl"))
    assert workspace.topics() == ()
    with pytest.raises(UsageError, match="Unknown topic 'bees'"):
        workspace.topic("bees")
    assert forget_everything(workspace, "bees", dry_run=True).removed["files in all"] > 1
    assert forget_everything(workspace, "bees").removed["files in all"] > 1
    assert list((tmp_path / "topics").iterdir()) == []
    with pytest.raises(UsageError, match="Unknown topic 'bees'"):
        forget_everything(workspace, "bees")


def test_a_file_that_cannot_be_deleted_is_named_and_goes_on_the_next_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = learned(tmp_path)
    exports = workspace.topic("bees").path / EXPORTS
    exports.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", _be_refused)
        with pytest.raises(StorageError, match=r"Cannot delete .*give the command again"):
            forget_pages(workspace, "bees", one_host("park.test"))
    assert list(exports.parent.glob(".exports.*"))
    forget_pages(workspace, "bees", one_url(SECRET))
    assert not list(exports.parent.glob(".exports.*"))


def _be_refused(path: Path) -> None:
    raise PermissionError(13, "Permission denied", str(path))


def test_nothing_is_forgotten_under_a_running_crawl(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    with CrawlLock(workspace.topic("bees")):
        with pytest.raises(StorageError, match="Another crawl"):
            forget_pages(workspace, "bees", one_url(HOST))
        with pytest.raises(StorageError, match="Another crawl"):
            forget_everything(workspace, "bees")


def test_nothing_matching_changes_nothing(tmp_path: Path) -> None:
    assert forget_pages(learned(tmp_path), "bees", one_url(SECRET)) == ForgetReport()


def test_settings_of_a_crawl_forget_their_seeds(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    record = workspace.topic("bees").path / "crawl-1" / "crawl.json"
    record.parent.mkdir()
    record.write_bytes(
        msgspec.json.encode({"settings": {"crawl": {"seeds": [SECRET, "http://a.test/"]}}})
    )
    report = forget_pages(workspace, "bees", one_url(SECRET))
    assert report.removed == {"settings of crawls": 1}
    assert msgspec.json.decode(record.read_bytes())["settings"]["crawl"]["seeds"] == [
        "http://a.test/"
    ]


def test_that_a_host_was_read_as_the_person_is_forgotten_with_it(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    crawl = workspace.topic("bees").path / "crawl"
    crawl.mkdir()
    settings = {"fetch": {"as_me": ["secret.test:8443", "a.test"]}}
    (crawl / "crawl.json").write_bytes(msgspec.json.encode({"settings": settings}))
    (crawl / "log.jsonl").write_bytes(
        msgspec.json.encode({"event": "start", "settings": settings}) + b"\n"
    )
    assert not forget_pages(workspace, "bees", one_url("https://secret.test:8443/")).removed
    report = forget_pages(workspace, "bees", one_host("secret.test"))
    assert report.removed == {"lines of crawls' logs": 1, "settings of crawls": 1}
    kept = msgspec.json.decode((crawl / "crawl.json").read_bytes())
    assert kept["settings"]["fetch"]["as_me"] == ["a.test"]
    assert (crawl / "log.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    ("host", "url", "same"),
    [
        ("*.secret.test", "https://www.secret.test/x", True),
        (".secret.test", "https://secret.test/x", True),
        ("secret.test", "https://secret.test/x", True),
        ("Secret.Test", "http://www.secret.test:8080/", True),
        ("secret.test", "http://notsecret.test/", False),
        ("secret.test", "http://other.test/?u=http://secret.test/", False),
        ("www.secret.test", "http://secret.test/", False),
        ("[::1]", "http://[::1]:8080/", True),
        ("bücher.test", "http://xn--bcher-kva.test/", True),
        ("secret.test", "about:blank", False),
    ],
)
def test_a_host_means_itself_and_those_below(host: str, url: str, same: bool) -> None:
    assert one_host(host)(url) is same


@pytest.mark.parametrize("host", ["", "  ", "a.test/x", "http://a.test", "a b"])
def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="not the name of a host"):
        one_host(host)


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(UsageError, match="not an address"):
        one_url("a.test")


def test_results_forget_pages_words_and_references(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    forgotten = one_url(u("diary"))
    store = ResultsStore(path)
    keep(store, "open", score=0.9, text="honey")
    keep(store, "diary", score=0.9, parent="open", text="confession")
    keep(store, "next", score=0.9, parent="diary", duplicate_of=u("diary"))
    store.note_refusals([(u("trap"), "a trap", u("diary"))])
    store.close()
    assert forget_results(path, forgotten, dry_run=True) == 1
    with Results(path) as before:
        assert before.search("confession", 5)
    assert forget_results(path, forgotten) == 1
    assert b"diary" not in path.read_bytes()
    assert b"confess" not in path.read_bytes()
    with Results(path) as left:
        assert {row.address for row in left.ranked(10, everything=True)} == {u("open"), u("next")}
        assert left.search("honey", 5)
        assert not left.search("confession", 5)


def test_a_way_through_a_forgotten_page_says_so(tmp_path: Path) -> None:
    store = ResultsStore(tmp_path / "results.db")
    keep(store, "open", score=0.9)
    keep(store, "diary", score=0.9, parent="open")
    keep(store, "next", score=0.9, parent="diary")
    keep(store, "later", score=0.9, parent="next")
    keep(store, "resumed", score=0.9, parent="-forgotten-12")
    store.close()
    forget_results(tmp_path / "results.db", one_url(u("diary")))
    with Results(tmp_path / "results.db") as left:
        ways = {page.address: shown_path(left, page) for page in left.ranked(10, everything=True)}
    assert ways == {
        u("open"): [u("open")],
        u("next"): [FORGOTTEN, u("next")],
        u("later"): [FORGOTTEN, u("next"), u("later")],
        u("resumed"): [FORGOTTEN, u("resumed")],
    }
    assert path_lines(ways[u("later")], 80) == [f"via {FORGOTTEN} → {u('next')}"]


def test_what_stands_for_a_forgotten_address_is_known(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    frontier = SqliteFrontier(path)
    frontier.add([Candidate(SECRET, 0.5), Candidate("http://a.test/x", 0.5)])
    frontier.add([Candidate("http://a.test/1", 0.9, parent=SECRET)])
    frontier.add([Candidate("http://a.test/2", 0.8, parent="http://a.test/x")])
    frontier.close()
    forget_urls(path, one_host("secret.test"))
    forget_urls(path, one_url("http://a.test/x"))
    again = SqliteFrontier(path)
    parents = [again.state_of(f"http://a.test/{n}") for n in (1, 2)]
    again.close()
    named = [each.candidate.parent for each in parents if each and each.candidate]
    assert named
    assert all(parent is None or is_blanked(parent) for parent in named)
    assert not is_blanked("http://a.test/-forgotten-things")


class Meanwhile:
    """Does something while a topic is being learned, once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
        self._acts = [act]
        self._learn = learning.learn_alone
        monkeypatch.setattr(learning, "learn_alone", self)

    def __call__(self, *given: Any) -> LearnedTopic:
        for act in [*self._acts]:
            self._acts.clear()
            act()
        return self._learn(*given)


def test_what_is_forgotten_while_learning_stays_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path)
    learn_into(workspace, LearningRequest("bees", [park_session()]))
    forgotten = one_url(f"{HOST}hall2")
    Meanwhile(monkeypatch, lambda: forget_pages(workspace, "bees", forgotten))
    learned = learn_into(workspace, LearningRequest("bees"))
    assert len(learned.model.graph.pages) == 9
    topic = workspace.topic("bees")
    (kept,) = topic.sessions().values()
    urls = [each.url for each in kept.events if isinstance(each, Visit | Mark)]
    assert not any(map(forgotten, urls))
    assert len(topic.load().model.graph.pages) == 9


def test_what_is_recorded_while_learning_is_no_reason_to_begin_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, session = Workspace(tmp_path), park_session()
    beginning = msgspec.structs.replace(session, events=session.events[:-1])
    learn_into(workspace, LearningRequest("bees", [beginning]))
    topic = workspace.topic("bees")
    (name,) = topic.session_names()
    Meanwhile(monkeypatch, lambda: write_session(session, topic.sessions_path / name))
    told: list[str] = []
    learn_into(workspace, LearningRequest("bees"), told.append)
    assert len([each for each in told if each.startswith("Learning from")]) == 1
    assert topic.sessions()[name] == session


def test_a_topic_that_goes_while_it_is_learned_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path)
    learn_into(workspace, LearningRequest("bees", [park_session()]))
    Meanwhile(monkeypatch, lambda: forget_everything(workspace, "bees"))
    with pytest.raises(ModelError, match=r"deleted or renamed.*Nothing was saved"):
        learn_into(workspace, LearningRequest("bees"))
    assert workspace.topics() == ()
    learn_into(workspace, LearningRequest("bees", [park_session()]))
    Meanwhile(monkeypatch, lambda: rename(workspace, workspace.topic("bees"), "wasps"))
    with pytest.raises(ModelError, match="deleted or renamed"):
        learn_into(workspace, LearningRequest("bees"))
    assert workspace.topics() == ("wasps",)
    assert workspace.topic("wasps").is_learned()


def test_a_rename_that_was_killed_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path)
    learn_into(workspace, LearningRequest("bees", [park_session()]))
    topic = workspace.topic("bees")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", _be_killed)
        with pytest.raises(KeyboardInterrupt):
            rename(workspace, topic, "Wasps")
    assert workspace.topics() == ("Wasps",)
    assert workspace.topic("Wasps").is_learned()
    with pytest.raises(UsageError, match="Unknown topic 'bees'"):
        workspace.topic("bees")


def test_nothing_is_renamed_while_its_pages_are_judged_again(tmp_path: Path) -> None:
    workspace = learned(tmp_path)
    topic = workspace.topic("bees")
    crawl = CrawlFolder(topic)
    crawl.make()
    crawl.write(CrawlRecord(topic="bees", settings=Settings(), created_at=0.0, states=0, model=""))
    with RejudgeLock(crawl), pytest.raises(StorageError, match="judged again"):
        rename(workspace, topic, "wasps")
    rename(workspace, topic, "wasps")
    assert CrawlFolder(workspace.topic("wasps")).read().topic == "wasps"


def test_what_was_chosen_stays_chosen_when_it_is_learned_again(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    request = LearningRequest("bees", [park_session()], threshold=0.123)
    assert learn_into(workspace, request).origin.topic == "bees"
    again = request_as_before(workspace.topic("bees"))
    assert again.threshold == 0.123
    (workspace.topic("bees").model_path / "model.json").write_text("damaged")
    assert request_as_before(workspace.topic("bees")) == LearningRequest("bees")
    assert request_as_before(workspace.folder_for("wasps")) == LearningRequest("wasps")


def _be_killed(*_: object) -> None:
    raise KeyboardInterrupt
