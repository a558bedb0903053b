"""Exit codes of all commands: 2 for a wrong command line, 1 for work that failed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from live_webs import learn

from trailhound.cli.main import run
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
    f"{CRAWL} --search none.warc",
    f"{CRAWL} --judge none.py",
    f"{CRAWL} --strategy none.py",
    "turns {topic} --search none.warc --user-agent bot(+http://tiny.test/)",
]

Ended = Callable[[str], tuple[int, str]]


@pytest.fixture(scope="module")
def workspace(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    learn(web, min(web.topics), folder)
    return folder


@pytest.fixture
def ended(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    workspace: Path,
    tmp_path: Path,
) -> Ended:
    """The exit code of a command, and what it said."""
    (topic,) = (path.name for path in (workspace / "topics").iterdir())
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.setenv("TRAILHOUND_WORKSPACE", str(workspace))
    monkeypatch.chdir(tmp_path)

    def execute(command: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["trailhound", *command.format(topic=topic).split()])
        with pytest.raises(SystemExit) as exit_:
            run()
        assert isinstance(exit_.value.code, int)
        return exit_.value.code, capfd.readouterr().err

    return execute


@pytest.mark.parametrize("command", MISSING)
def test_what_is_named_and_does_not_exist_is_a_wrong_command_line(
    ended: Ended, command: str
) -> None:
    code, said = ended(command)
    assert code == 2, said
    assert said.strip().startswith("Error: ")


@pytest.mark.parametrize(
    "command",
    ["learn x --session bad", "import har bad --topic x", "corpus info bad", "lab report bad"],
)
def test_what_is_there_but_cannot_be_used_is_a_failure(
    ended: Ended, tmp_path: Path, command: str
) -> None:
    (tmp_path / "bad").write_text("not what it should be")
    code, said = ended(command)
    assert code == 1, said


def test_the_live_web_has_no_oracle(ended: Ended) -> None:
    code, said = ended(f"{CRAWL} --strategy nonsense")
    assert (code, "oracle" in said, "best-first" in said) == (2, False, True)
    code, said = ended(f"{CRAWL} --strategy oracle")
    assert code == 2
    assert "is for the lab only" in said
