"""Exit codes of all commands: 2 for a wrong command line, 1 for work that failed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from live_webs import USER_AGENT, Resource, TinySite, learn

from command_line import Command, Done
from trailhound.demo import DemoWeb

CRAWL = "crawl {topic} --seed http://tiny.test/ --user-agent bot(+http://tiny.test/)"

MISSING = [
    "learn x --session none.jsonl",
    "learn x --session none/",
    "learn {topic} --content none.thc",
    "learn {topic} --content none.warc.gz",
    "import har none.har --topic x",
    "import warc none.warc --topic x",
    "import wacz none.wacz --topic x",
    "import chrome none --topic x",
    "import firefox none --topic x",
    "import squid none.log --topic x",
    "import combined none.log --topic x",
    "import har none.har --topic x --useful none.txt",
    "inspect none",
    "inspect {topic} --workspace none",
    "results none",
    "results {topic}",
    "mark none http://tiny.test/",
    "mark {topic} --from none.txt",
    "export none",
    "explain none http://tiny.test/",
    "forget none --all",
    "forget --topic none --all",
    "forget --all",
    "corpus import webkb none -o x.thc",
    "corpus import wikispeedia none -o x.thc",
    "corpus import warc none -o x.thc",
    "corpus info none.thc",
    "lab topics none.thc",
    "lab run none.thc --strategy best-first -o out",
    "lab report none",
    "config show --config none.toml",
    "crawl none --seed http://tiny.test/",
    f"{CRAWL} --workspace none",
    f"{CRAWL} --config none.toml",
    f"{CRAWL} --seeds none.txt",
    f"{CRAWL} --trace none.log --strategy collaborative",
    f"{CRAWL} --backlinks none.txt --strategy context-graph",
    f"{CRAWL} --strategy content-link:query=bees --search none.warc",
    f"{CRAWL} --judge none.py",
    f"{CRAWL} --strategy none.py",
    "turns {topic} --search none.warc --user-agent bot(+http://tiny.test/)",
]


@pytest.fixture(scope="module")
def workspace_folder(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    learn(web, min(web.topics), folder)
    return folder


@pytest.fixture
def ended(trailhound: Command, workspace_folder: Path) -> Callable[[str], Done]:
    """How a command ends that may be about the topic there is."""
    (topic,) = (path.name for path in (workspace_folder / "topics").iterdir())
    return lambda command: trailhound(*command.format(topic=topic).split())


@pytest.mark.parametrize("command", MISSING)
def test_what_is_named_and_does_not_exist_is_a_wrong_command_line(
    ended: Callable[[str], Done], command: str
) -> None:
    done = ended(command)
    assert done.code == 2, done.err
    assert done.err.strip().startswith("Error: ")


@pytest.mark.parametrize(
    "command",
    ["learn x --session bad", "import har bad --topic x", "corpus info bad", "lab report bad"],
)
def test_what_is_there_but_cannot_be_used_is_a_failure(
    trailhound: Command, tmp_path: Path, command: str
) -> None:
    (tmp_path / "bad").write_text("not what it should be")
    done = trailhound(*command.split())
    assert done.code == 1, done.err


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("topics --workspace bad", 2, "is no folder"),
        ("crawls --workspace bad", 2, "is no folder"),
        ("serve --port 0 --workspace bad/in", 1, "Something else has that name"),
        ("serve --background --workspace bad/in", 1, "Something else has that name"),
        ("access add a.test --header X:b --workspace bad/in", 1, "Something else has that name"),
    ],
)
def test_a_workspace_that_cannot_be_is_told(
    trailhound: Command, tmp_path: Path, command: str, code: int, words: str
) -> None:
    (tmp_path / "bad").write_text("a file")
    done = trailhound(*command.split())
    assert (done.code, words in done.err) == (code, True), done.err


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("learn {topic} --label none", "Leave out --label"),
        ("schedule {topic} --set fetch.user_agent=", "who you are"),
        ("schedule {topic} --set fetch.user_agent=bot", "whom to contact"),
    ],
)
def test_what_would_be_refused_later_is_refused_at_once(
    ended: Callable[[str], Done], command: str, words: str
) -> None:
    done = ended(command)
    assert (done.code, words in " ".join(done.err.split())) == (2, True), done.err


def test_commands_that_are_told_belong_to_the_workspace_that_was_chosen(
    trailhound: Command, tmp_path: Path
) -> None:
    done = trailhound("inspect", "bees", "--workspace", "my place")
    assert done.err.splitlines()[-1] == "(Add --workspace 'my place' to these commands.)"
    assert "(Add" not in trailhound("inspect", "bees").err


def test_the_live_web_has_no_oracle(ended: Callable[[str], Done]) -> None:
    unknown = ended(f"{CRAWL} --strategy nonsense")
    assert (unknown.code, "oracle" in unknown.err, "best-first" in unknown.err) == (2, False, True)
    refused = ended(f"{CRAWL} --strategy oracle")
    assert refused.code == 2
    assert "is for the lab only" in refused.err


@pytest.fixture
def site() -> Iterator[TinySite]:
    page = Resource(b"<p>Wasps. <a href=/gone>1</a> <a href=/gone?again>2</a>")
    with TinySite({"/": page}) as server:
        yield server


Crawled = Callable[..., Done]


@pytest.fixture
def crawled(trailhound: Command, site: TinySite, tmp_path: Path) -> Crawled:
    """How a crawl of the tiny site ends that needs no session."""

    def crawl(
        seed: str, *more: str, judge: str = "keywords:words=wasp", allowed: bool = True
    ) -> Done:
        allow = ["--allow-address", "tiny.test"] if allowed else []
        where = ["--resolve", f"tiny.test=127.0.0.1:{site.port}", "--user-agent", USER_AGENT]
        place = ["--workspace", str(tmp_path / "place")]
        return trailhound(
            "crawl", "wasps", "--seed", seed, "--judge", judge, *where, *allow, *place, *more
        )

    return crawl


def test_what_went_wrong_is_in_one_table(crawled: Crawled) -> None:
    done = crawled("http://tiny.test/")
    assert done.code == 0, done.err
    assert "went wrong" in done.out
    (line,) = (line for line in done.out.splitlines() if "there is no such page" in line)
    assert line.split()[5] == "2"
    assert re.search(r"http://tiny\.test/gone(\?again)?: HTTP 404 Not Found", line)
    assert "The seed" not in done.err
    told = crawled("http://tiny.test/", "--restart", "--json").report
    assert told["failed"] is None
    (wrong,) = told["went_wrong"]
    assert (wrong["outcome"], wrong["times"]) == ("not-found", 2)
    assert wrong["example"].endswith(": HTTP 404 Not Found")


def test_a_crawl_without_trouble_has_no_such_table(crawled: Crawled, site: TinySite) -> None:
    site.resources["/"] = Resource(b"<p>Wasps.")
    done = crawled("http://tiny.test/")
    assert (done.code, "went wrong" in done.out) == (0, False)
    again = crawled("http://tiny.test/", "--resume")
    assert again.code == 0, "nothing was left to ask for"


@pytest.mark.parametrize(
    ("seed", "words", "allowed"),
    [
        ("http://tiny.test/gone", "was not fetched: HTTP 404 Not Found.", True),
        ("http://tiny.test/shut", "was not fetched: robots.txt of tiny.test forbids", True),
        ("http://tiny.test/", "add --allow-address tiny.test.", False),
        (f"http://{'x' * 64}.example/", "DNS knows no such host", True),
        ("https://tiny.test/", "cannot be fetched now: robots.txt of tiny.test: no secure", True),
    ],
)
def test_a_seed_says_at_once_why_it_fails_and_the_crawl_fails(
    crawled: Crawled, site: TinySite, seed: str, words: str, allowed: bool
) -> None:
    site.resources["/robots.txt"] = Resource(
        b"User-agent: *\nDisallow: /shut", headers={"Content-Type": "text/plain"}
    )
    done = crawled(seed, allowed=allowed)
    assert done.code == 1
    notice = " ".join(done.err.split())
    assert f"The seed {seed}" in notice
    assert words in notice
    assert "Nothing was fetched." in done.out
    assert "went wrong" in done.out
    assert "no candidate is left" not in done.out
    assert "starved" not in done.out
    told = json.loads(crawled(seed, "--restart", "--json", allowed=allowed).out)
    assert told["failed"] == "Nothing was fetched."
    assert told["went_wrong"]
    again = crawled(seed, "--resume", allowed=allowed)
    assert (again.code, "Nothing was fetched." in again.out) == (1, True)
    assert "starved" not in again.out


def test_a_seed_that_failed_is_asked_again_when_the_cause_is_mended(crawled: Crawled) -> None:
    refused = crawled("http://tiny.test/", allowed=False)
    assert "ask them again: trailhound crawl wasps --resume" in refused.out
    done = crawled("http://tiny.test/", "--resume")
    assert "1 seed that could not be fetched will be asked for again." in done.err
    assert (done.code, "1 fetched" in done.out) == (0, True), done.out
    assert "asked for again" not in crawled("http://tiny.test/", "--resume").err


def test_a_judge_that_breaks_on_every_page_fails_the_crawl(
    crawled: Crawled, tmp_path: Path
) -> None:
    judge = tmp_path / "failing.py"
    judge.write_text("def judge(page):\n    raise RuntimeError('no database')\n")
    done = crawled("http://tiny.test/", judge=str(judge))
    assert done.code == 1
    assert "Every page that was fetched was lost" in done.out
    assert "no database" in done.out
    judge.write_text("def judge(page):\n    return 1.0\n")
    assert crawled("http://tiny.test/", "--resume", judge=str(judge)).code == 0


@pytest.mark.parametrize(("fails_on", "code"), [("/", 1), ("/gone", 0)])
def test_a_sink_that_breaks_on_every_page_fails_the_crawl(
    crawled: Crawled, tmp_path: Path, fails_on: str, code: int
) -> None:
    sink = tmp_path / "failing.py"
    sink.write_text(
        "class Failing:\n"
        "    @classmethod\n"
        "    def open(cls, topic, folder):\n"
        "        return cls()\n"
        "    def keep(self, finished):\n"
        f"        if {fails_on!r} in finished.event.url:\n"
        "            raise RuntimeError('no database')\n"
        "    def close(self):\n"
        "        pass\n"
    )
    done = crawled("http://tiny.test/", "--sink", str(sink))
    assert done.code == code
    assert ("The sink Failing failed on every page." in done.out) is bool(code)
    assert "The sink Failing failed" in done.out
    assert "no database" in done.out
