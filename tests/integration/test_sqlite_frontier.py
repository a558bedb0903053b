"""The SQLite frontier against kills, torn files, full disks, locks and other people's files."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import crawl_to_be_killed as made_up
import pytest

from trailhound.errors import FrontierError
from trailhound.frontier.base import UrlState, UrlStatus
from trailhound.frontier.reading import look_up, queue_place
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.frontier.tables import FRONTIER
from trailhound.records import Candidate, Outcome
from trailhound.storage.sqlite import Migration
from trailhound.urls import host_key

KILLS = 5


def url(name: object, host: str = "a.test") -> str:
    return f"http://{host}/{name}"


def start_crawl(frontier: Path, diary: Path, *more: object) -> subprocess.Popen[bytes]:
    script = Path(made_up.__file__)
    return subprocess.Popen(
        [sys.executable, str(script), str(frontier), str(diary), *map(str, more)]
    )


def words(diary: Path, first: str) -> list[list[str]]:
    text = diary.read_text("ascii") if diary.exists() else ""
    lines = [line.split() for line in text.splitlines()]
    return [line[1:] for line in lines if line[0] == first]


def kill_after(process: subprocess.Popen[bytes], diary: Path, pages: int, seconds: float) -> None:
    """Kill the crawl ``seconds`` after it has finished so many pages in all."""
    while process.poll() is None and len(words(diary, "finished")) < pages:
        time.sleep(0.005)
    time.sleep(seconds)
    process.kill()
    process.wait()


def check_promises(path: Path, diary: Path) -> None:
    """Everything the diary says is in the file, and no page is there without its links."""
    frontier = SqliteFrontier(path)
    for (page,) in words(diary, "finished"):
        assert frontier.outcome_of(page) is Outcome.FETCHED
    for number in range(made_up.PAGES):
        page = made_up.address(number)
        if frontier.outcome_of(page) is not None:
            assert all(frontier.state_of(link) for link in made_up.links_of(page))
            assert frontier.outcome_of(made_up.redirect_of(page)) is Outcome.FETCHED
    stats = frontier.stats()
    assert stats.leased == 0
    until = {host: float(end) for host, end in words(diary, "delayed")}
    now = max(until.values(), default=0.0) - made_up.DELAY_SECONDS / 2
    for candidate in frontier.lease(stats.waiting, now):
        assert until.get(host_key(candidate.url), now) <= now
    frontier.close()


def test_a_crawl_killed_at_random_moments_loses_nothing(tmp_path: Path) -> None:
    rng = random.Random()
    path, diary = tmp_path / "frontier.db", tmp_path / "diary"
    for _ in range(KILLS):
        goal = len(words(diary, "finished")) + rng.randrange(made_up.PAGES // KILLS // 2)
        process = start_crawl(path, diary)
        kill_after(process, diary, goal, rng.random() / 50)
        check_promises(path, diary)
    assert start_crawl(path, diary).wait() == 0
    check_promises(path, diary)
    everything = {made_up.address(number) for number in range(made_up.PAGES)}
    frontier = SqliteFrontier(path)
    assert {page for page in everything if frontier.outcome_of(page)} == everything
    assert frontier.stats().waiting == 0
    frontier.close()
    fetches = Counter(page for (page,) in words(diary, "fetching"))
    assert sum(fetches.values()) - made_up.PAGES <= KILLS


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a crawl that was killed; the log holds all that happened."""
    folder = tmp_path_factory.mktemp("killed")
    process = start_crawl(folder / "frontier.db", folder / "diary")
    kill_after(process, folder / "diary", 150, 0.0)
    return folder


@pytest.mark.parametrize("seed", range(12))
def test_a_log_torn_by_a_power_cut_leaves_whole_pages(
    killed: Path, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    shutil.copy(killed / "frontier.db", tmp_path)
    log = bytearray((killed / "frontier.db-wal").read_bytes())
    cut = rng.randrange(len(log))
    torn = log[:cut] + rng.randbytes(rng.randrange(5000))
    (tmp_path / "frontier.db-wal").write_bytes(torn)
    check_promises(tmp_path / "frontier.db", tmp_path / "no diary")
    frontier = SqliteFrontier(tmp_path / "frontier.db")
    assert frontier.stats().finished <= 2 * len(words(killed / "diary", "finished")) + 2
    frontier.close()


def test_a_half_processed_redirect_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    frontier = SqliteFrontier(path)
    frontier.add([Candidate(url("old"), 1.0)])
    frontier.lease(1, 0.0)
    frontier.mark_seen(url("new"), Outcome.FETCHED)
    frontier.delay_host("a.test", 1.0)
    frontier.put_clock(60.0)
    frontier.close()
    frontier = SqliteFrontier(path)
    assert frontier.state_of(url("new")) is None
    assert [candidate.url for candidate in frontier.lease(9, 0.0)] == [url("old")]
    frontier.close()


def test_seeds_that_were_added_last_survive_a_close(tmp_path: Path) -> None:
    frontier = SqliteFrontier(tmp_path / "frontier.db")
    frontier.add(Candidate(url(n), 0.5) for n in range(25_000))
    frontier.close()
    frontier = SqliteFrontier(tmp_path / "frontier.db")
    assert frontier.stats().waiting == 25_000
    frontier.close()


def test_a_second_crawl_on_the_same_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    frontier = SqliteFrontier(path)
    with pytest.raises(FrontierError, match=r"frontier\.db is in use by another process.*wait"):
        SqliteFrontier(path)
    script = f"from trailhound.frontier.sqlite import SqliteFrontier; SqliteFrontier({str(path)!r})"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "is in use by another process" in other.stderr
    frontier.close()
    SqliteFrontier(path).close()


def test_looking_up_finds_the_last_place_and_the_last_opinion(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    frontier = SqliteFrontier(path)
    frontier.add(Candidate(url(n), 0.1, b"%d" % n, url("seed"), 1) for n in range(100))
    risen = [Candidate(url(n), 0.2, b"again", url(3), 2) for n in range(40, 60)]
    frontier.add(risen)
    frontier.rescore(lambda _: {url(7): 0.9, url(41): 0.8, url(42): 0.7})
    frontier.lease(1, 0.0)
    frontier.add([Candidate(url(42), 0.95)])
    frontier.finish(url(7), Outcome.FETCHED)
    expected = {
        7: Candidate(url(7), 0.9, b"7", url("seed"), 1),
        8: Candidate(url(8), 0.1, b"8", url("seed"), 1),
        41: Candidate(url(41), 0.8, b"again", url(3), 2),
        42: Candidate(url(42), 0.95),
        43: risen[3],
    }
    for n, candidate in expected.items():
        found = look_up(path, url(n))
        assert found is not None
        assert found.candidate == candidate
        assert found == frontier.state_of(url(n))
    frontier.close()


def test_a_reader_can_look_up_a_url_while_a_crawl_runs(tmp_path: Path) -> None:
    path = tmp_path / "frontier ?#.db"
    frontier = SqliteFrontier(path)
    seed = Candidate(url("seed"), 9.0)
    link = Candidate("https://b.test/x?y", 0.5, b"belief", url("seed"), 1)
    frontier.add([seed])
    frontier.lease(1, 0.0)
    frontier.add([link])
    frontier.finish(seed.url, Outcome.FETCHED)
    frontier.lease(1, 0.0)
    assert look_up(path, link.url) == UrlState(link.url, UrlStatus.WAITING, None, link)
    finished = UrlState(seed.url, UrlStatus.FINISHED, Outcome.FETCHED, seed)
    assert look_up(path, seed.url) == finished
    assert look_up(path, url("unknown")) is None
    assert look_up(path, url("seed", "unknown.test")) is None
    frontier.close()
    assert look_up(path, seed.url) == finished
    assert look_up(tmp_path / "none", seed.url) is None
    with pytest.raises(FrontierError, match=r"There is no frontier .*none"):
        queue_place(tmp_path / "none", seed.url)


def test_the_place_in_the_queue_is_the_order_of_leases(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    frontier = SqliteFrontier(path)
    frontier.add(Candidate(url(n, f"{n % 3}.test"), (n % 5) / 5) for n in range(40))
    frontier.add([Candidate(url(7, "1.test"), 0.7)])
    frontier.rescore(lambda _: {url(11, "2.test"): 0.9, url(12, "0.test"): 0.05})
    for leased in frontier.lease(5, 0.0):
        frontier.finish(leased.url, Outcome.FETCHED)
    frontier.delay_host("1.test", 60.0)
    places = {n: queue_place(path, url(n, f"{n % 3}.test")) for n in range(40)}
    waiting = {n: place for n, place in places.items() if place is not None}
    assert {place.waiting for place in waiting.values()} == {35}
    by_place = sorted(waiting, key=lambda n: waiting[n].ahead)
    assert [waiting[n].ahead for n in by_place] == list(range(35))
    leases = [candidate.url for candidate in frontier.lease(40, 60.0)]
    assert leases == [url(n, f"{n % 3}.test") for n in by_place]
    assert queue_place(path, url("unknown", "elsewhere.test")) is None
    frontier.close()


FILL_UP = """
import resource, sys
from trailhound.errors import FrontierError
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Candidate, Outcome
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
frontier = SqliteFrontier(sys.argv[1])
page = 0
frontier.add([Candidate("http://a.test/0", 1.0)])
try:
    while True:
        (candidate,) = frontier.lease(1, 0.0)
        links = range(100 * page + 1, 100 * page + 101)
        frontier.add([Candidate(f"http://a.test/{n}", 1.0) for n in links])
        frontier.finish(candidate.url, Outcome.FETCHED)
        page += 1
except FrontierError as error:
    print(page, error)
try:
    frontier.finish("http://a.test/0", Outcome.FETCHED)
except FrontierError as error:
    print("again:", error)
frontier.close()
"""


def test_a_disk_that_fills_up_is_told_and_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    command = [sys.executable, "-c", FILL_UP, str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    first, again = result.stdout.splitlines()
    pages, _, message = first.partition(" ")
    assert str(path) in message
    assert "everything up to the last finished page is safe" in message
    assert again == f"again: {message}"
    frontier = SqliteFrontier(path)
    assert frontier.stats().finished == int(pages) > 0
    assert frontier.stats().waiting == 1 + 99 * int(pages)
    frontier.close()


OPEN = """
import os, sys
from trailhound.errors import FrontierError
from trailhound.frontier.sqlite import SqliteFrontier
if os.geteuid() == 0:
    os.setuid(65534)  # root may write anywhere
try:
    SqliteFrontier(sys.argv[1]).close()
except FrontierError as error:
    print(error)
"""


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that other users can reach."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
@pytest.mark.parametrize("existing", [False, True])
def test_a_read_only_folder_is_told(open_to_all: Path, existing: bool) -> None:
    path = open_to_all / "frontier.db"
    if existing:
        SqliteFrontier(path).close()
    os.chmod(open_to_all, 0o555)
    command = [sys.executable, "-c", OPEN, str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    os.chmod(open_to_all, 0o755)
    assert "cannot be written to. Check that its folder exists" in result.stdout, result.stderr
    assert str(path) in result.stdout


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(FrontierError, match=r"cannot be written to\. Check that its folder exists"):
        SqliteFrontier(tmp_path / "missing" / "frontier.db")


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes, and no database at all.\n" * 50, "utf-8")
    with pytest.raises(FrontierError, match=r"notes\.txt is damaged or is not"):
        SqliteFrontier(path)
    assert path.read_text("utf-8").startswith("These are my notes")


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE visits (url TEXT)")
    connection.close()
    with pytest.raises(FrontierError, match=r"history\.db is an SQLite database, but not"):
        SqliteFrontier(path)
    with pytest.raises(FrontierError, match=r"history\.db is an SQLite database, but not"):
        look_up(path, url("x"))


def small_frontier(path: Path) -> None:
    frontier = SqliteFrontier(path)
    frontier.add(Candidate(url(n), n / 7) for n in range(2000))
    frontier.close()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    small_frontier(path)
    content = bytearray(path.read_bytes())
    content[8192:-8192] = random.Random(3).randbytes(len(content) - 16384)
    path.write_bytes(content)
    with pytest.raises(FrontierError, match=r"frontier\.db is damaged"):
        SqliteFrontier(path)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM url WHERE number = 7",
        "DELETE FROM place WHERE first = 1",
        "DELETE FROM host WHERE number = 1",
        "DELETE FROM finished",
        "UPDATE finished SET number = 999999",
    ],
)
def test_a_file_with_rows_missing_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "frontier.db"
    frontier = SqliteFrontier(path)
    frontier.add(Candidate(url(n), n / 7) for n in range(200))
    frontier.add([Candidate(url(0, "b.test"), 1.0), Candidate(url(0, "c.test"), 1.0)])
    frontier.mark_seen(url("moved", "c.test"), Outcome.FETCHED)
    frontier.commit()
    frontier.close()
    connection = sqlite3.connect(path)
    connection.execute(damage)
    connection.commit()
    connection.close()
    with pytest.raises(FrontierError, match=r"frontier\.db is damaged: "):
        SqliteFrontier(path)


def set_version(path: Path, version: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    small_frontier(path)
    set_version(path, FRONTIER.version + 1)
    with pytest.raises(FrontierError, match=r"newer Trailhound \(format 2.*Upgrade"):
        SqliteFrontier(path)
    with pytest.raises(FrontierError, match=r"newer Trailhound \(format 2.*Upgrade"):
        look_up(path, url("1"))
    set_version(path, FRONTIER.version)
    SqliteFrontier(path).close()


def test_an_older_file_is_migrated_step_by_step(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    small_frontier(path)
    steps: dict[int, Migration] = {
        1: lambda old: old.execute("ALTER TABLE host ADD COLUMN robots TEXT"),
        2: lambda old: old.execute("UPDATE host SET robots = 'none'"),
    }
    newer = replace(FRONTIER, version=3, migrations=steps)
    with pytest.raises(FrontierError, match="has format 1, this Trailhound reads 3"):
        newer.open_for_reading(path)
    for _ in range(2):
        connection = newer.open(path)
        hosts = connection.execute("SELECT name, robots FROM host").fetchall()
        assert hosts == [("a.test", "none")]
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        connection.close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    small_frontier(path)
    steps: dict[int, Migration] = {1: lambda old: old.execute("DROP TABLE host")}
    with pytest.raises(FrontierError, match="format 2, which is no longer supported"):
        replace(FRONTIER, version=3, migrations=steps).open(path)
    SqliteFrontier(path).close()


def test_the_file_says_whose_it_is(tmp_path: Path) -> None:
    small_frontier(tmp_path / "frontier.db")
    connection = sqlite3.connect(tmp_path / "frontier.db")
    assert connection.execute("PRAGMA application_id").fetchone() == (FRONTIER.application_id,)
    connection.close()


def test_before_the_first_page_has_ended_that_is_known(tmp_path: Path) -> None:
    """Whoever goes on then must look for pages that only other stores have."""
    path = tmp_path / "new.db"
    frontier = SqliteFrontier(path)
    frontier.add([Candidate(url("seed"), 1.0)])
    frontier.close()
    frontier = SqliteFrontier(path)
    assert frontier.last_page() == 0
    frontier.note_page(1)
    frontier.close()
    frontier = SqliteFrontier(path)
    assert frontier.last_page() == 1
    frontier.close()
