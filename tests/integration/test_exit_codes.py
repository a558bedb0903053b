"""Exit codes of all commands: 2 for a wrong command line, 1 for work that failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from live_webs import learn

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


def test_the_live_web_has_no_oracle(ended: Callable[[str], Done]) -> None:
    unknown = ended(f"{CRAWL} --strategy nonsense")
    assert (unknown.code, "oracle" in unknown.err, "best-first" in unknown.err) == (2, False, True)
    refused = ended(f"{CRAWL} --strategy oracle")
    assert refused.code == 2
    assert "is for the lab only" in refused.err
