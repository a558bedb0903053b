"""``crawl``, ``results``, ``export``, ``explain`` and ``config`` as a user meets them."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from live_webs import learn, options, wait_until
from warcio.archiveiterator import ArchiveIterator

from command_line import COMMAND, Command
from trailhound.demo import DemoWeb
from trailhound.topics.workspace import Workspace

TOPIC = "bees"


@pytest.fixture(scope="module")
def workspace_folder(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    learn(web, max(web.topics, key=lambda name: len(web.topics[name])), folder)
    (topic,) = (folder / "topics").iterdir()
    record = json.loads((topic / "topic.json").read_text())
    (topic / "topic.json").write_text(json.dumps({**record, "name": TOPIC}))
    topic.rename(topic.with_name(TOPIC))
    return folder


@pytest.fixture
def crawled(trailhound: Command, web: DemoWeb, port: int, workspace_folder: Path) -> Command:
    """The same, after a crawl."""
    if not (workspace_folder / "topics" / TOPIC / "crawl").exists():
        seeds = [option for seed in web.start_urls for option in ("--seed", seed)]
        limits = ["--max-requests", "150", "--strategy", "best-first"]
        done = trailhound("crawl", TOPIC, *seeds, *limits, *options(port))
        assert done.code == 0, done.err
        assert "the request budget is spent" in done.out
        assert "trailhound results bees" in done.out
    return trailhound


def test_results_are_ranked_with_title_snippet_and_path(crawled: Command, web: DemoWeb) -> None:
    done = crawled("results", TOPIC, "--limit", "3")
    assert done.code == 0
    assert re.search(r"^ +1 +[01]\.\d\d +\S", done.out, re.MULTILINE)
    assert "via http://" in done.out
    assert re.search(r"3 of \d+ relevant pages", done.err)
    pages = json.loads(crawled("results", TOPIC, "--json", "--new").out)
    scores = [page["score"] for page in pages]
    assert scores == sorted(scores, reverse=True)
    assert all(page["path"][0] in web.start_urls for page in pages)
    assert not any(page["known"] for page in pages)


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("command", ["results", "inspect", "topics"])
def test_narrow_terminals_show_whole_words_and_numbers(
    crawled: Command, monkeypatch: pytest.MonkeyPatch, command: str, width: int
) -> None:
    topic = () if command == "topics" else (TOPIC,)
    wide = crawled(command, *topic).out
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = crawled(command, *topic).out
    lines = [line for line in narrow.splitlines() if "http://" not in line]  # left whole, to copy
    assert max(map(len, lines)) <= width
    lost = set(wide.split()) - set(narrow.split())
    assert not {word for word in lost if re.fullmatch(r"[\d.,]+", word)}
    if command == "results":
        assert not lost


def test_inspect_shows_ten_words_by_each_measure_or_as_many_as_wanted(
    trailhound: Command,
) -> None:
    kept = json.loads(trailhound("inspect", TOPIC, "--json").out)["clusters"]
    assert max(len(cluster["log_odds"]) for cluster in kept) > 10

    def most_words(*options: str) -> int:
        text = " ".join(trailhound("inspect", TOPIC, *options).out.split())
        listed = re.findall(r"by (?:log odds|mutual information): (.*?)(?= by |·)", text)
        assert len(listed) == 2 * len(kept)
        return max(len(words.split(",")) for words in listed)

    assert most_words() == 10
    assert most_words("--words", "3") == 3
    assert most_words("--words", "30") == max(
        len(cluster[measure]) for cluster in kept for measure in ("log_odds", "mutual_information")
    )


def test_results_can_be_searched(crawled: Command) -> None:
    title = json.loads(crawled("results", TOPIC, "--json", "-n", "1").out)[0]["title"]
    word = max(re.findall(r"\w+", title), key=len)
    found = json.loads(crawled("results", TOPIC, "--json", "--search", word).out)
    assert title in [page["title"] for page in found]
    assert json.loads(crawled("results", TOPIC, "--json", "--search", "zzzzz").out) == []
    matches = json.loads(
        crawled("results", TOPIC, "--json", "--known", "-n", "999", "--search", word).out
    )
    done = crawled("results", TOPIC, "-n", "1", "--search", word)
    assert re.search(rf"^1 of {len(matches)} matching pages?\b", done.err, re.MULTILINE)
    hidden = sum(page["known"] or page["marked"] is not None for page in matches)
    assert (f"({hidden} of them visited or marked by you: --known)" in done.err) == (hidden > 0)
    done = crawled("results", TOPIC, "--search", "zzzzz")
    assert done.code == 0
    assert "Nothing matches: no relevant page holds all of 'zzzzz'" in done.err
    assert "0 of" not in done.err


def test_results_with_a_low_score_are_shown_on_demand(crawled: Command) -> None:
    relevant = json.loads(crawled("results", TOPIC, "--json", "-n", "1000").out)
    more = json.loads(crawled("results", TOPIC, "--json", "-n", "1000", "--min-score", "0").out)
    everything = json.loads(crawled("results", TOPIC, "--json", "-n", "1000", "--all").out)
    assert len(relevant) < len(more) <= len(everything)


def test_what_an_earlier_crawl_has_found_can_be_looked_at(
    crawled: Command, workspace_folder: Path
) -> None:
    latest = workspace_folder / "topics" / TOPIC / "crawl"
    shutil.copytree(latest, latest.with_name("crawl-1"))
    try:
        for command in (["results", TOPIC, "--json"], ["export", TOPIC, "-f", "urls"]):
            assert crawled(*command, "--crawl", "crawl-1").out == crawled(*command).out
        wrong = crawled("results", TOPIC, "--crawl", "crawl-7")
        assert (wrong.code, "crawl-1" in wrong.err) == (2, True)
        none = crawled("results", TOPIC, "--search", "nosuchword")
        assert "Nothing matches" in none.err
        empty = crawled("results", TOPIC, "--min-score", "1")
        assert "An earlier crawl may have some: --crawl crawl-1" in empty.err
        both = crawled("results", TOPIC, "--since-last", "--crawl", "crawl-1")
        assert (both.code, "Leave --crawl out" in both.err) == (2, True)
    finally:
        shutil.rmtree(latest.with_name("crawl-1"))


def test_results_leave_in_every_format(crawled: Command, tmp_path: Path) -> None:
    urls = crawled("export", TOPIC, "--format", "urls").out.split()
    assert urls
    lines = crawled("export", TOPIC).out.splitlines()
    assert [json.loads(line)["url"] for line in lines] == urls
    table = crawled("export", TOPIC, "-f", "csv", "-n", "2").out
    assert table.startswith("rank,url,title")
    done = crawled("export", TOPIC, "-f", "warc", "-o", tmp_path / "bees.warc.gz")
    assert f"{len(urls)} pages" in done.err
    archived = (tmp_path / "bees.warc.gz").read_bytes()
    records = ArchiveIterator(io.BytesIO(archived))
    assert {record.rec_headers["WARC-Target-URI"] for record in records} == set(urls)
    assert list(tmp_path.glob(".*")) == [], "no drafts are left"
    crawled("export", TOPIC, "-n", "2", "-o", tmp_path / "two.CSV")
    assert (tmp_path / "two.CSV").read_bytes() == table.encode(), "the ending says what to write"
    crawled("export", TOPIC, "-n", "2", "-f", "urls", "-o", tmp_path / "two.csv")
    assert (tmp_path / "two.csv").read_text().split() == urls[:2], "but --format wins"
    done = crawled("export", TOPIC, "-o", tmp_path / "two.html")
    assert (done.code, "--format jsonl|csv" in done.err) == (2, True)
    done = crawled("export", TOPIC, "-o", tmp_path / "new" / "x.jsonl")
    assert done.code == 0
    assert f"Made the folder {tmp_path / 'new'}" in done.err
    assert f"{len(urls)} pages in {tmp_path / 'new' / 'x.jsonl'}" in done.err
    done = crawled("export", TOPIC, "-o", tmp_path / "bees.warc.gz" / "x.jsonl")
    assert done.code == 1
    assert "Check that its folder exists" in done.err


def test_every_page_can_be_explained(crawled: Command, web: DemoWeb) -> None:
    best = json.loads(crawled("results", TOPIC, "--json", "-n", "1").out)[0]
    done = crawled("explain", TOPIC, best["address"])
    assert "It was fetched, and is relevant" in done.out
    assert f"It was number {best['number']} of the crawl" in done.out
    assert re.search(r"Words that speak for it: .*(bees?|hives?|varroa|mites?)", done.out)
    assert "The path to it:" in done.out
    bare = crawled("explain", TOPIC, best["address"].removeprefix("http://"))
    assert bare.out == done.out, "the site has no https"
    told = json.loads(crawled("explain", TOPIC, "http://x.demo.test/", "--json").out)
    assert told["verdict"] == "never-seen"
    assert crawled("explain", TOPIC, "mailto:x").code == 2


def test_a_second_crawl_is_refused_and_a_resumed_one_needs_a_larger_budget(
    crawled: Command, port: int
) -> None:
    again = crawled("crawl", TOPIC, "--seed", "http://a.test/", *options(port))
    assert again.code == 2
    assert "--resume" in again.err
    assert "--restart" in again.err
    spent = crawled("crawl", TOPIC, "--resume")
    assert (spent.code, "--max-requests 300" in spent.err) == (2, True)
    more = crawled("crawl", TOPIC, "--resume", "--max-pages", "170", "--json", "-v")  # old name
    assert len(re.findall(r"^\d+ fetched .*http://.*priority", more.err, re.MULTILINE)) >= 10
    told = json.loads(more.out)
    assert (told["reason"], told["requests"] >= 170) == ("requests-spent", True)
    before = told["earlier_runs"]
    assert (before["requests"], before["pages"] + told["pages"] > 150) == (150, True)
    both = crawled("crawl", TOPIC, "--resume", "--restart")
    assert (both.code, "Give one of them" in both.err) == (2, True)
    both = crawled("crawl", TOPIC, "--resume", "--fresh")
    assert (both.code, "--restart --fresh" in both.err) == (2, True)


def test_commands_for_topics_that_are_not_there_say_what_to_do(trailhound: Command) -> None:
    for command in (["results", "beez"], ["export", "beez"], ["explain", "beez", "http://a.test/"]):
        done = trailhound(*command)
        assert (done.code, "Did you mean bees?" in done.err) == (2, True)
    assert "Did you mean bees?" in trailhound("crawl", "beez", "--seed", "http://a.test/").err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["crawl", TOPIC, "--max-requests", "many"], "'many' is no whole number"),
        (["crawl", TOPIC, "--max-requests", "0"], "0 is too small: give 1 or more"),
        (["crawl", TOPIC, "--delay", "soon"], "'soon' is no number"),
        (["results", TOPIC, "--min-score", "3"], "3 is too large: give 1.0 or less"),
        (["export", TOPIC, "--format", "csvv"], "'--format' / '-f': 'csvv' is not one of 'jsonl'"),
    ],
)
def test_values_that_make_no_sense_are_named(
    trailhound: Command, words: list[str], told: str
) -> None:
    done = trailhound(*words)
    assert (done.code, told in done.err) == (2, True), done.err


def test_a_crawl_must_say_who_it_is(trailhound: Command) -> None:
    done = trailhound("crawl", TOPIC, "--restart", "--seed", "http://a.test/")
    assert done.code == 2
    for words in ("--user-agent", "TRAILHOUND_USER_AGENT", "trailhound.toml"):
        assert words in done.err


def test_a_crawl_that_asks_nobody_need_not_say_who_it_is(
    trailhound: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "saved" / "hives.test").mkdir(parents=True)
    (tmp_path / "saved" / "hives.test" / "index.html").write_text("<p>A hive of bees.</p>")
    fetcher = Path(__file__).parents[2] / "examples" / "own_fetcher.py"
    done = trailhound(
        *("crawl", "hives", "--seed", "http://hives.test/", "--judge", "keywords:words=hive"),
        *("--fetcher", f"{fetcher}:folder=saved", "--workspace", tmp_path / "own", "--json"),
    )
    assert done.report["pages"] == 1
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "saved" / "hives.test" / "more.html").write_text("<p>Another hive.</p>")
    more = ("--resume", "--seed", "http://hives.test/more.html")
    done = trailhound("crawl", "hives", *more, "--workspace", tmp_path / "own", "--json")
    assert done.report["pages"] == 1, "the folder is where it was"


def test_a_crawl_without_time_or_with_strange_seeds_is_refused(
    trailhound: Command, tmp_path: Path
) -> None:
    assert trailhound("crawl", TOPIC, "--max-time", "0s").code == 2
    assert trailhound("crawl", TOPIC, "--max-time", "soon").code == 2
    assert trailhound("crawl", TOPIC, "--seeds", tmp_path / "none.txt").code == 2


def test_config_shows_origins_and_finds_mistakes(
    trailhound: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAILHOUND_MAX_REQUESTS", "77")
    file = tmp_path / "trailhound.toml"
    file.write_text("[fetch]\ndelay_seconds = 3\n")
    told = json.loads(trailhound("config", "show", "--json").out)
    assert told["crawl.max_requests"] == {"value": 77, "origin": "TRAILHOUND_MAX_REQUESTS"}
    assert told["fetch.delay_seconds"] == {"value": 3.0, "origin": str(file)}
    assert told["fetch.obey_robots"] == {"value": True, "origin": "default"}
    shown = trailhound("config", "show")
    assert "fetch.delay_seconds" in shown.out
    assert trailhound("config", "check").code == 0
    monkeypatch.setenv("TRAILHOUND_MAXREQUESTS", "1")
    for command in (("config", "check"), ("config", "show"), ("demo",)):
        done = trailhound(*command)
        assert done.code == 2
        assert "TRAILHOUND_MAX_REQUESTS" in done.err
    file.write_text("[fetch]\ndelay = 3\n")
    done = trailhound("config", "check")
    assert (done.code, "Unknown setting in [fetch] 'delay'" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ('[crawl]\nstrategy = "nope"', "Unknown strategy 'nope'"),
        ('[crawl]\nseeds = ["pathfinder"]', "'pathfinder' is no web address"),
        ('[crawl]\nseeds_from = "search"', "needs something to ask"),
        ('[crawl]\nfrontier = "nope"', "Unknown frontier 'nope'"),
        ('[judge]\nkind = "nope"', "Unknown judge 'nope'"),
        ("[fetch]\ndelay_seconds = 0.01", "would be impolite"),
        ('[fetch]\nuser_agent = "bot"', "does not say whom to contact"),
        ('[fetch]\nallow_addresses = ["127.0.0.1/99"]', "127.0.0.1/99"),
        ('[fetch]\nproxies = ["foo"]', "'foo' is no address of a proxy"),
        ('[fetch]\ndocuments = "foo"', "foo"),
        ('[output]\nsinks = ["nope"]', "Unknown sink 'nope'"),
    ],
)
def test_what_a_crawl_would_refuse_is_found_in_the_file(
    trailhound: Command, tmp_path: Path, wrong: str, reason: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(wrong)
    done = trailhound("config", "check", "--config", file)
    assert (done.code, reason in done.err) == (2, True), done.err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("stop_signal", ["SIGINT", "SIGTERM"])
def test_stop_signals_stop_cleanly_and_say_how_to_go_on(
    web: DemoWeb, port: int, trailhound: Command, tmp_path: Path, stop_signal: str
) -> None:
    topic = learn(web, min(web.topics), tmp_path)
    seeds = [option for seed in web.start_urls for option in ("--seed", seed)]
    command = [*COMMAND, "crawl", topic.name, "--workspace", str(tmp_path)]
    process = subprocess.Popen(
        [*command, *seeds, "--max-requests", "100000", *options(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "120"},
    )
    log = topic.path / "crawl" / "log.jsonl"
    wait_until(lambda: log.exists() and log.read_bytes().count(b'"page"') > 20)
    process.send_signal(getattr(signal, stop_signal))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "it was interrupted" in out
    assert f"Go on with: trailhound crawl {topic.name} --resume" in out
    ends = [json.loads(line) for line in log.read_text().splitlines()]
    assert ends[-1]["event"] == "end"
    assert ends[0]["event"] == "start"
    total = ends[-1]["requests"] + 20
    resumed = ["crawl", topic.name, "--resume", "--workspace", str(tmp_path), "--json"]
    assert trailhound(*resumed, "--max-requests", str(total)).report["requests"] >= total
    asked = [json.loads(line)["url"] for line in log.read_text().splitlines() if '"page"' in line]
    assert len(set(asked)) == len(asked), "nothing was in flight, so nothing comes twice"


def test_a_terminal_that_lacks_letters_shows_the_others(tmp_path: Path) -> None:
    Workspace(tmp_path).folder_for("蜜蜂").prepare()
    command = [*COMMAND, "topics", "--workspace", str(tmp_path)]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    shown = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert b"??" in shown.stdout
    told = subprocess.run([*command, "--json"], env=environment, capture_output=True, check=True)
    assert "蜜蜂" in str(json.loads(told.stdout))


def test_a_crawl_that_cannot_begin_leaves_no_topic(trailhound: Command) -> None:
    flags = ["--seed", "http://a.test/", "--judge", "keywords:words=x", "--from", "nobody"]
    assert trailhound("crawl", "never", *flags, "--user-agent", "bot (+http://a.test/)").code == 2
    assert "never" not in trailhound("topics", "--json").out
