"""What people mark and what is learned changes the results of a crawl at once, from its archive."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_webs import Resource, Site, TinySite, learn

from command_line import Command
from trailhound.demo import DemoWeb
from trailhound.errors import StorageError, UsageError
from trailhound.sessions.events import Mark, Session
from trailhound.sessions.files import write_session
from trailhound.sessions.path_sessions import SEARCH_TURNS
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.topics.control.overview import overview
from trailhound.topics.crawls.archived_pages import ArchivedContent
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import heed_marks, mark_results, open_results
from trailhound.topics.finds.rejudging import PAGES_TOGETHER, Rejudged, rejudge
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.runs.judging import choose_threshold, judge_of, threshold_of
from trailhound.topics.workspace import Workspace


@pytest.fixture(scope="module")
def finished(
    web: DemoWeb, port: int, topic_name: str, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A workspace whose topic has been crawled."""
    folder = tmp_path_factory.mktemp("finished")
    topic = learn(web, topic_name, folder)
    with Site(topic, port).begun(crawl__seeds=web.start_urls, crawl__max_requests=150) as crawl:
        list(crawl.run())
    return folder


@pytest.fixture
def workspace_folder(tmp_path: Path) -> Path:
    return tmp_path  # where ``crawled`` keeps its topic


@pytest.fixture
def crawled(finished: Path, topic_name: str, tmp_path: Path) -> CrawlFolder:
    """A copy of it."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return CrawlFolder(Workspace(tmp_path).topic(topic_name))


def listed(folder: CrawlFolder) -> set[str]:
    with open_results(folder) as results:
        return {page.address for page in results.ranked()}


def near_misses(folder: CrawlFolder) -> list[StoredPage]:
    with open_results(folder) as results:
        return results.near_misses()


def rows(folder: CrawlFolder) -> list[tuple[Any, ...]]:
    query = "SELECT address, score, relevant, duplicate_of, fingerprint FROM event ORDER BY id"
    with closing(sqlite3.connect(folder.results)) as connection:
        return connection.execute(query).fetchall()


def forget_words(folder: CrawlFolder) -> int:
    """As if a crawl of an earlier version had kept none; how many there were."""
    with closing(sqlite3.connect(folder.results)) as connection, connection:
        return connection.execute("DELETE FROM words").rowcount


def learn_again(folder: CrawlFolder) -> None:
    place = Workspace(folder.topic.path.parent.parent)
    learn_into(place, LearningRequest(folder.topic.name))


def taught(folder: CrawlFolder) -> None:
    """Marks that make the next model another one."""
    addresses = [page.address for page in near_misses(folder)[:3]]
    mark_results(folder, addresses, True, 2e9)
    learn_again(folder)


def test_marks_move_results_at_once(crawled: CrawlFolder, trailhound: Command) -> None:
    name, before = crawled.topic.name, listed(crawled)
    miss, find = near_misses(crawled)[0], sorted(before)[0]
    mark_results(crawled, [miss.address], True, 2e9)
    mark_results(crawled, [find], False, 2e9)
    after = (before | {miss.address}) - {find}
    assert listed(crawled) == after
    exported = trailhound("export", name, "-f", "urls").out.split()
    assert set(exported) == after
    words = " ".join(miss.title.split()[:3])
    matches = json.loads(trailhound("results", name, "--search", words, "--known", "--json").out)
    assert miss.address in {page["address"] for page in matches}
    mark_results(crawled, [miss.address, find], None, 2.1e9)
    assert listed(crawled) == before
    (topic,) = overview(Workspace(crawled.topic.path.parent.parent))
    assert topic.crawl is not None
    assert topic.crawl.finds == len(before)


def test_marks_made_while_browsing_count_and_those_of_no_person_do_not(
    crawled: CrawlFolder,
) -> None:
    before, (first, second) = listed(crawled), near_misses(crawled)[:2]
    useful = [Mark(2e9, f"{first.address}#part")]
    write_session(Session("x", tuple(useful)), crawled.topic.sessions_path / "monday.jsonl")
    machine = Session("x", (Mark(2e9, second.address),), recorder=SEARCH_TURNS)
    write_session(machine, crawled.topic.sessions_path / "turns.jsonl")
    assert listed(crawled) == before | {first.address}
    taken_back = Session("x", (*useful, Mark(2.1e9, first.address, None)))
    write_session(taken_back, crawled.topic.sessions_path / "monday.jsonl")
    assert listed(crawled) == before


def test_useful_pages_of_the_session_are_finds_of_the_crawl(crawled: CrawlFolder) -> None:
    graph = crawled.topic.load().model.graph
    targets = {graph.pages[number].url for number in graph.targets}
    with open_results(crawled) as results:
        fetched = {page.address for page in results.ranked(min_score=0.0, everything=True)}
        marked = {page.address for page in results.since(0) if page.marked}
    assert targets & fetched
    assert targets & fetched == marked
    assert marked <= listed(crawled)


def test_results_that_cannot_be_written_are_read_as_they_are(
    crawled: CrawlFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, miss = listed(crawled), near_misses(crawled)[0]
    write_session(
        Session("x", (Mark(2e9, miss.address),)), crawled.topic.sessions_path / "monday.jsonl"
    )

    def refused(path: Path) -> None:
        raise StorageError(f"{path} cannot be written")

    monkeypatch.setattr("trailhound.topics.crawls.marking.Verdicts", refused)
    assert listed(crawled) == before
    monkeypatch.undo()
    assert listed(crawled) == before | {miss.address}


def test_every_archived_page_is_judged_with_what_was_learned(crawled: CrawlFolder) -> None:
    assert rejudge(crawled) == Rejudged(), "the crawl has judged them so"
    taught(crawled)
    before = listed(crawled)
    told: list[tuple[int, int]] = []
    done = rejudge(crawled, progress=lambda *each: told.append(each))
    pages = [row for row in rows(crawled) if row[1] is not None]
    assert (done.judged, done.unarchived, done.unread) == (len(pages), 0, 0)
    assert told[0] == (0, len(pages))
    assert told[-1] == (len(pages), len(pages))
    after = listed(crawled)
    assert (done.joined, done.left) == (len(after - before), len(before - after))
    judge = judge_of(crawled).judge
    with ArchivedContent(crawled.archive) as content:
        for address, score, *_ in pages:
            page = content.page(address)
            assert page is not None
            assert score == pytest.approx(min(judge.judge(page).score, 1.0))
    with Results(crawled.results) as results:
        assert results.unsearchable() == []
        assert results.stray_texts() == []
    assert rejudge(crawled) == Rejudged(), "a second time there is nothing to do"


def test_kept_words_and_archived_content_lead_to_the_same_verdicts(
    crawled: CrawlFolder, tmp_path: Path
) -> None:
    taught(crawled)
    copy = CrawlFolder(crawled.topic, tmp_path / "copy")
    shutil.copytree(crawled.path, copy.path)
    assert forget_words(copy) > 100
    by_words, by_content = rejudge(crawled), rejudge(copy)
    assert by_words == by_content
    assert rows(crawled) == rows(copy)
    assert forget_words(copy) > 100, "they are kept for the next time"
    shutil.rmtree(crawled.archive)
    mark_of_no_crawl = Session("x", (Mark(2e9, "http://nowhere.demo.test/"),))
    write_session(mark_of_no_crawl, crawled.topic.sessions_path / "monday.jsonl")
    choose_threshold(crawled, 0.01)
    assert rejudge(crawled).joined > 0, "words are enough, though only titles are searched"
    with Results(crawled.results) as results:
        assert results.unsearchable() == []


def test_it_can_be_stopped_anywhere_and_goes_on(crawled: CrawlFolder, tmp_path: Path) -> None:
    taught(crawled)
    copy = CrawlFolder(crawled.topic, tmp_path / "copy")
    shutil.copytree(crawled.path, copy.path)
    whole = rejudge(copy)
    asked = 0
    parts: list[Rejudged] = []
    while not parts or not parts[-1].is_complete:
        stop_at = asked + PAGES_TOGETHER + 7

        def stop(limit: int = stop_at) -> bool:
            nonlocal asked
            asked += 1
            return asked >= limit

        parts.append(rejudge(crawled, stop=stop))
    assert len(parts) > 2
    assert sum(part.judged for part in parts) == whole.judged
    assert rows(crawled) == rows(copy)
    assert rejudge(crawled, stop=lambda: True) == Rejudged()


def test_a_stop_before_the_first_page_changes_nothing(crawled: CrawlFolder) -> None:
    taught(crawled)
    before = rows(crawled)
    assert rejudge(crawled, stop=lambda: True) == Rejudged(is_complete=False)
    assert rows(crawled) == before
    assert rejudge(crawled).judged > 0


def test_a_crawl_and_a_rejudging_do_not_disturb_each_other(
    web: DemoWeb, topic_name: str, port: int, tmp_path: Path
) -> None:
    site = Site(learn(web, topic_name, tmp_path), port)
    folder = CrawlFolder(site.topic)
    with site.begun(crawl__seeds=web.start_urls, crawl__max_requests=120) as crawl:
        events = crawl.run()
        for _ in range(40):
            next(events)
        taught(folder)
        done: list[Rejudged] = []
        again = threading.Thread(target=lambda: done.append(rejudge(folder)))
        again.start()
        rest = len(list(events))
        again.join(60)
    assert rest > 0
    assert done[0].is_complete
    assert done[0].judged > 0
    left = rejudge(folder)
    judged = [row for row in rows(folder) if row[1] is not None]
    assert left.judged <= len(judged)
    judge = judge_of(folder).judge
    with ArchivedContent(folder.archive) as content:
        pages = {address: content.page(address) for address, *_ in judged}
    assert {address: score for address, score, *_ in judged} == {
        address: pytest.approx(min(judge.judge(page).score, 1.0))
        for address, page in pages.items()
        if page is not None
    }
    with site.resumed(crawl__max_requests=130) as crawl:
        list(crawl.run())
    assert rejudge(folder) == Rejudged(), "a crawl that is resumed judges by what was learned"


def test_one_at_a_time(crawled: CrawlFolder) -> None:
    taught(crawled)
    refused: list[str] = []

    def second() -> bool:
        if not refused:
            with pytest.raises(StorageError, match="being judged again already") as error:
                rejudge(crawled)
            refused.append(str(error.value))
        return False

    assert rejudge(crawled, stop=second).is_complete
    assert refused


def test_pages_without_archived_content_keep_their_scores(crawled: CrawlFolder) -> None:
    taught(crawled)
    shutil.rmtree(crawled.archive)
    forget_words(crawled)
    before = rows(crawled)
    done = rejudge(crawled)
    assert done.judged == 0
    assert done.unarchived == sum(row[1] is not None for row in before)
    assert rows(crawled) == before
    assert "keep their scores" in done.in_words()


def test_a_chosen_threshold_holds_for_results_and_crawls(
    crawled: CrawlFolder, port: int, trailhound: Command
) -> None:
    before, learned = listed(crawled), threshold_of(crawled)
    assert learned is not None
    assert not learned.chosen
    wanted = near_misses(crawled)[4].score
    assert wanted is not None
    with open_results(crawled) as results:
        expected = results.at_threshold(wanted)
        taken_in = {page.address for page in results.near_misses(min_score=wanted)}
    assert expected.joined == len(taken_in) > 0
    assert choose_threshold(crawled, wanted).threshold == wanted
    done = rejudge(crawled)
    assert (done.joined, done.left) == (expected.joined, 0)
    assert done.judged < len(rows(crawled)) / 2, "only those between the thresholds are read"
    assert listed(crawled) == before | taken_in
    assert rejudge(crawled) == Rejudged()
    learn_again(crawled)
    assert threshold_of(crawled) == learned.__class__(
        learned.judge, wanted, learned.learned, chosen=True
    ), "learning again does not forget it"
    with Site(crawled.topic, port).resumed(crawl__max_requests=160) as crawl:
        list(crawl.run())
    assert rejudge(crawled) == Rejudged(), "the crawl has judged by it"
    name = crawled.topic.name
    told = trailhound("rejudge", name, "--threshold", "learned", "--dry-run", "--json").report
    assert told["effect"]["left"] >= len(taken_in)
    report = trailhound("rejudge", name, "--threshold", "learned", "--json").report
    assert report["rejudged"]["left"] == told["effect"]["left"]
    assert report["threshold"]["chosen"] is False
    assert before <= listed(crawled)
    assert not taken_in & listed(crawled)
    (of_crawl,) = trailhound("crawls", "--json").report
    (of_topic,) = trailhound("topics", "--json").report
    assert of_crawl["finds"] == of_topic["crawl"]["finds"], "not what it told when it ended"


def test_what_cannot_be_a_threshold_is_told(crawled: CrawlFolder, trailhound: Command) -> None:
    name = crawled.topic.name
    for arguments, reason in [
        (["--threshold", "much"], "neither a score"),
        (["--threshold", "1.5"], "from 0 to 1"),
        (["--dry-run"], "Give --threshold"),
    ]:
        code, _, err = trailhound("rejudge", name, *arguments)
        assert code == 2
        assert reason in err
    record = json.loads(crawled.record_path.read_text("utf-8"))
    record["settings"]["judge"] = {"kind": "auto", "threshold": 0.4}
    crawled.record_path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(UsageError, match="threshold in its settings"):
        choose_threshold(crawled, 0.2)
    record["settings"]["judge"] = {"kind": "keywords:words=bee"}
    crawled.record_path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(UsageError, match="has no threshold"):
        choose_threshold(crawled, 0.2)
    assert threshold_of(crawled) is None


def test_learning_on_the_command_line_judges_again(
    crawled: CrawlFolder, trailhound: Command
) -> None:
    name = crawled.topic.name
    first, second = (page.address for page in near_misses(crawled)[:2])
    code, _, err = trailhound("mark", name, first, "--learn")
    assert code == 0
    assert "joined the results" in err
    trailhound("mark", name, second)
    (told,) = trailhound("learn", name, "--no-rejudge", "--json").report
    assert told["rejudged"] is None
    (told,) = trailhound("learn", name, "--json").report
    assert told["rejudged"]["judged"] > 100
    assert told["rejudged"]["is_complete"]
    assert {first, second} <= listed(crawled)
    code, _, err = trailhound("rejudge", name)
    assert (code, "0 pages joined the results, 0 left them." in err) == (0, True)


def test_ctrl_c_stops_and_the_next_time_goes_on(
    crawled: CrawlFolder, trailhound: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught(crawled)

    @contextmanager
    def interrupting(_: str) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, _: signal.raise_signal(signal.SIGINT) if done else None

    monkeypatch.setattr("trailhound.cli.rejudge.pages_bar", interrupting)
    name = crawled.topic.name
    done = trailhound("learn", name, "--json")
    assert done.code == 130
    assert f"trailhound rejudge {name}" in done.err
    (told,) = json.loads(done.out)
    assert told["rejudged"]["judged"] == PAGES_TOGETHER
    rest = rejudge(crawled)
    assert rest.judged == sum(row[1] is not None for row in rows(crawled)) - PAGES_TOGETHER


HIVES = "".join(
    f"<p>Sentence {n} tells of hives, honey and wax in words of its own.</p>" for n in range(20)
)
BURSTING = b"".join(b"<p><i id=%d>" % n for n in range(300)) + b"hives"
"""Not for a parser that cannot be stopped."""


def test_hostile_pages_and_copies(web: DemoWeb, topic_name: str, tmp_path: Path) -> None:
    """A page that bursts its parser, one that the judge fails on, and copies of a page."""
    links = "".join(f'<a href="/{n}">page {n}</a>' for n in ("a", "b", "c", "bursting"))
    resources = {
        "/": Resource(f"<p>{links}</p>".encode()),
        "/a": Resource(f"<title>A</title>{HIVES}".encode()),
        "/b": Resource(f"<title>B</title>{HIVES}".encode()),
        "/c": Resource(f"<title>C</title>{HIVES} not this".encode()),
        "/bursting": Resource(BURSTING),
    }
    judge = tmp_path / "mine.py"
    judge.write_text("def judge(page):\n    return 'hives' in page.text\n")
    with TinySite(resources) as tiny:
        site = Site(learn(web, topic_name, tmp_path / "w"), tiny.port, host="h.test")
        with site.begun(
            crawl__seeds=("http://h.test/",),
            judge__kind=str(judge),
            fetch__delay_seconds=0.0,
            fetch__allow_impolite=True,
        ) as crawl:
            list(crawl.run())
    folder = CrawlFolder(site.topic)
    with Results(folder.results) as results:
        (original,) = {page.duplicate_of for page in results.since(0) if page.duplicate_of}
    before = listed(folder)
    assert rejudge(folder) == Rejudged()
    path = original.removeprefix("http://h.test")
    judge.write_text(
        "def judge(page):\n"
        f"    if page.url.endswith('{path}'):\n        return False\n"
        "    if page.url == 'http://h.test/':\n        raise RuntimeError('no')\n"
        "    return 'hives' in page.text\n"
    )
    done = rejudge(folder)
    assert done.unread >= 1, "the judge failed on the first page"
    assert done.judged + done.unread == len([row for row in rows(folder) if row[1] is not None])
    after = listed(folder)
    copies = {f"http://h.test/{name}" for name in "abc"} - {original}
    assert original in before
    assert original not in after
    assert len(after & copies) == 1, "one of the copies takes its place"
    assert (done.joined, done.left) == (1, 1)
    record = json.loads(folder.record_path.read_text("utf-8"))
    record["settings"]["judge"] = {"kind": "keywords:words=hives"}
    folder.record_path.write_text(json.dumps(record), "utf-8")
    done = rejudge(folder)
    assert (done.judged, done.unread) == (5, 0), "the bursting one is read in a process apart"
    assert {original, "http://h.test/bursting"} <= listed(folder)


def test_heeding_is_cheap_when_nothing_is_new(
    crawled: CrawlFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    heed_marks(crawled)
    monkeypatch.setattr("trailhound.topics.crawls.marking.Verdicts", None)  # it would be an error
    assert heed_marks(crawled) == (0, 0)
