from __future__ import annotations

import logging
from pathlib import Path

import pytest
from small_webs import record_web

from trailhound.errors import ConfigError, TopicError, UsageError
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics import describe_topics, topic_source
from trailhound.lab.topics.base import LabTopic
from trailhound.lab.topics.topics_file import EXAMPLE, read_topics_file
from trailhound.sessions.events import Mark, Session, Visit, header_line
from trailhound.sessions.files import write_session

HOME = "https://w.test/"
LOBBY = "https://w.test/lobby"
HALLS = [f"https://w.test/hall/{n}" for n in range(4)]
BEES = [f"https://w.test/bees/{n}.html" for n in range(10)]
ROCKS = [f"https://w.test/rocks/{n}" for n in range(10)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    links = {
        LOBBY: [HOME],
        HOME: [*HALLS, LOBBY],
        **{hall: [HOME, *BEES[n::4], *ROCKS[n::4]] for n, hall in enumerate(HALLS)},
        **{url: [HOME] for url in (*BEES, *ROCKS)},
    }
    texts = dict.fromkeys(BEES, "Honey from the bee hive")
    texts |= dict.fromkeys(ROCKS, "Granite, and beehives of stone")
    texts[BEES[3]] = "蜂蜜很甜"
    return record_web(tmp_path_factory.mktemp("file"), links, texts=texts)


def build(corpus: Corpus, folder: Path, table: str, name: str = "x") -> LabTopic:
    file = folder / "topics.toml"
    file.write_text(f"[topics.{name}]\n{table}\n", encoding="utf-8")
    return topic_source(corpus, file).build(name, 2, 1)


def members(topic: LabTopic) -> set[str]:
    shown = {event.url for event in topic.session.events if isinstance(event, Visit)}
    topical = shown & {event.url for event in topic.session.events if isinstance(event, Mark)}
    return set(topic.relevant) | topical


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (f"urls = {BEES}", set(BEES)),
        ('url_patterns = ["https://w.test/bees/*"]', set(BEES)),
        ('url_patterns = "*.html"', set(BEES)),
        ("url_regexes = ['/bees/[0-4]\\.html$']", set(BEES[:5])),
        ('words = ["honey"]', set(BEES) - {BEES[3]}),
        ('words = ["bee", "HONEY"]', set(BEES) - {BEES[3]}),
        ('words = ["bee  hive"]', set(BEES) - {BEES[3]}),
        ("text_regexes = ['^.*granite', 'honey']", {*BEES, *ROCKS} - {BEES[3]}),
        ('url_patterns = ["*/rocks/*", "*/bees/*"]\nwords = ["granite"]', set(ROCKS)),
        (f'urls = ["{BEES[3]}"]\nwords = ["granite"]', {*ROCKS, BEES[3]}),
        (f'urls = ["{BEES[0]}"]\nwords = "蜂蜜"', {BEES[0], BEES[3]}),
    ],
)
def test_pages_are_named_by_lists_patterns_and_words(
    corpus: Corpus, tmp_path: Path, table: str, expected: set[str]
) -> None:
    topic = build(corpus, tmp_path, f'{table}\nstart = "{HOME}"')
    assert members(topic) == expected
    assert len(topic.relevant) >= len(expected) // 2
    assert topic.graph.targets


def test_a_walk_begins_at_the_start_page_or_at_a_front_page(corpus: Corpus, tmp_path: Path) -> None:
    for line, start in ((f'start = "{LOBBY}"', LOBBY), ("", HOME)):
        topic = build(corpus, tmp_path, f'words = "granite"\n{line}')
        first = topic.session.events[0]
        assert isinstance(first, Visit)
        assert first.url == start


def test_a_recorded_session_is_taken_from_beside_the_file(corpus: Corpus, tmp_path: Path) -> None:
    events = (Visit(1.0, HOME), Visit(2.0, BEES[0]), Mark(3.0, BEES[0]), Visit(4.0, BEES[1]))
    write_session(Session("mine", events), tmp_path / "mine.jsonl")
    topic = build(corpus, tmp_path, f'urls = {BEES}\nsession = "mine.jsonl"')
    assert topic.relevant == set(BEES[2:])
    assert topic.session.events == events


def test_a_session_that_cannot_be_read_is_a_fault_of_its_topic(
    corpus: Corpus, tmp_path: Path
) -> None:
    (tmp_path / "damaged.jsonl").write_bytes(header_line("mine") + b"{broken}\n")
    topics_file = tmp_path / "topics.toml"
    sound, fitting = 'words = "granite"', f"urls = {BEES}"
    topics_file.write_text(
        f'[topics.a]\n{fitting}\nsession = "damaged.jsonl"\n'
        f'[topics.b]\n{fitting}\nsession = "none.jsonl"\n[topics.c]\n{sound}\n'
    )
    damaged, missing, whole = describe_topics(corpus.path, topics_file, n_seed_sets=1, seed=1)
    assert "Topic 'a'" in damaged.problem
    assert "line 2 is damaged" in damaged.problem
    assert "lenient" not in damaged.problem
    assert "Topic 'b'" in missing.problem
    assert (whole.problem, whole.relevant > 0) == ("", True)


def test_given_seeds_are_the_first_set(corpus: Corpus, tmp_path: Path) -> None:
    topic = build(corpus, tmp_path, f'words = "granite"\nseeds = ["{LOBBY}"]')
    assert topic.seed_sets[0] == (LOBBY,)
    assert len(topic.seed_sets) == 2


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ('words = "unheard"', TopicError, "Topic 'x' is empty"),
        ('url_pattern = "*"', UsageError, "Did you mean url_patterns"),
        ('url_regexes = "("', ConfigError, r"url_regexes in \[topics.x\].*no regular expression"),
        ('text_regexes = "*"', ConfigError, "text_regexes"),
        ("words = [3]", ConfigError, r"\[topics.x\].*Expected `str`"),
        ('words = [" "]', ConfigError, "empty word"),
        ('start = "https://w.test/"', ConfigError, "does not say which pages"),
        (f'urls = {BEES}\nstart = "{HOME}"\nsession = "s.jsonl"', ConfigError, "Keep the session"),
        (f'urls = {BEES}\nsession = "none.jsonl"', TopicError, "Topic 'x'.*none.jsonl"),
        (f'urls = {BEES}\nstart = "https://else.test/"', TopicError, "start page https://else"),
        (f'urls = {BEES}\nseeds = "https://else.test/"', TopicError, "seed https://else.test/"),
        (f'urls = {BEES}\nseeds = "{HALLS[0]}"', TopicError, "cannot be a seed"),
        (f'urls = ["{BEES[0]}"]', TopicError, "cannot be browsed"),
    ],
)
def test_what_cannot_be_meant_is_explained(
    corpus: Corpus, tmp_path: Path, table: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        build(corpus, tmp_path, table)


def test_a_web_without_distant_pages_has_no_seeds(tmp_path: Path) -> None:
    web = record_web(tmp_path, {HOME: HALLS[:2], HALLS[0]: [HOME], HALLS[1]: [HOME]})
    with pytest.raises(TopicError, match="too few seeds"):
        build(web, tmp_path, 'url_patterns = "*/hall/*"')


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("[topics.x\n", ConfigError, r"topics.toml is not valid TOML: .*line 1"),
        ("a = 1\n[topics.x]\nb = = 2\n", ConfigError, "line 3"),
        ("", ConfigError, "names no topic"),
        ("topics = 3", ConfigError, "names no topic"),
        ("[topics]\nx = 3", ConfigError, "must be a table"),
        ("[topic.x]\nwords = 'a'", UsageError, "Did you mean topics"),
    ],
)
def test_files_that_cannot_be_read_are_named(
    tmp_path: Path, content: str, error: type[Exception], message: str
) -> None:
    file = tmp_path / "topics.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(error, match=message):
        read_topics_file(file)


def test_missing_and_foreign_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no topics file .*gone\.toml"):
        read_topics_file(tmp_path / "gone.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_topics_file(tmp_path / "bytes.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_topics_file(tmp_path)


def test_unrecorded_urls_of_a_list_are_told(
    corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        build(corpus, tmp_path, f"urls = {[*BEES, 'https://w.test/gone']}")
    assert "1 of the 11 URLs" in caplog.text


def test_topics_are_listed_in_the_order_of_the_file(corpus: Corpus, tmp_path: Path) -> None:
    file = tmp_path / "topics.toml"
    file.write_text("[topics.b]\nwords='x'\n[topics.a]\nwords='y'\n", encoding="utf-8")
    assert topic_source(corpus, file).names() == ("b", "a")


def test_a_corpus_that_brings_no_topics_asks_for_a_file_and_shows_one(
    corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.raises(TopicError, match="--topics FILE") as caught:
        topic_source(corpus)
    assert EXAMPLE in str(caught.value)
    assert len(EXAMPLE.splitlines()) == 6
    (tmp_path / "example.toml").write_text(EXAMPLE, encoding="utf-8")
    assert list(read_topics_file(tmp_path / "example.toml")) == ["beekeeping"]
