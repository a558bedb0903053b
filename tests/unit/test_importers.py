"""Importers by name: the built-in ones, and those of strangers."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from trailhound.cli.main import run
from trailhound.errors import ConfigError, SessionError
from trailhound.sessions import importers
from trailhound.sessions.importers import importer, importer_names, options_of, read_recording
from trailhound.sessions.importers.base import KnowsBookmarks, NamesPeople
from trailhound.topics.workspace import Workspace

STRANGER = (Path(__file__).parents[2] / "examples" / "own_importer.py").read_text("utf-8")


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    path = tmp_path / "listing.py"
    path.write_text(STRANGER)
    return path


def trailhound(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["trailhound", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        run()
    return int(ended.value.code or 0)


def test_the_built_in_importers_are_registered_like_any_other() -> None:
    built_in = {"har", "warc", "wacz", "chrome", "firefox", "squid", "combined"}
    assert built_in <= set(importer_names())
    made = {name: importer(name) for name in built_in}
    assert all(each.summary and each.reads for each in made.values())
    assert {name for name, each in made.items() if isinstance(each, KnowsBookmarks)} == {
        "chrome",
        "firefox",
    }
    assert {name for name, each in made.items() if isinstance(each, NamesPeople)} == {
        "squid",
        "combined",
    }
    assert "site" in options_of(made["combined"])


def test_a_strangers_importer_is_used_like_a_built_in_one(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = tmp_path / "visited.txt"
    recording.write_text("visited today\nhttp://a.test/\nno address\nhttp://c.test/\n")
    arguments = (recording, "--topic", "bees", "--skip", "1", "--workspace", tmp_path / "w")
    assert trailhound(monkeypatch, "import", stranger, *arguments) == 0
    (session,) = Workspace(tmp_path / "w").topic("bees").sessions().values()
    urls = [getattr(event, "url", "") for event in session.events]
    assert urls[:2] == ["http://a.test/", "http://c.test/"]


def test_the_help_tells_of_a_strangers_options(
    stranger: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert trailhound(monkeypatch, "import", stranger, "--help") == 0
    shown = capsys.readouterr().out
    assert "Lines to pass over first." in shown
    assert "One address in a line; the page before" in shown


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("return Imported(", "return len("), "broke while it read .*: TypeError"),
        (("tally = ", "return 5; tally = "), "TypeError: Imported is needed, not int"),
        (("tally = ", "raise KeyError('x'); tally = "), "broke while it read .*: KeyError"),
        (("Imported([Session(", "Imported((1 / n for n in [0]) or [Session("), "ZeroDivisionError"),
        (("Imported([Session(", "Imported([7, Session("), "Session is needed, not int"),
        (
            ("Imported([Session(", "Imported([Session(topic, [Visit(1.0, None)]), Session("),
            r"importer 'addresses' broke .* Expected `str`, got `null` - at `\$.events\[0\].url`",
        ),
        (
            ("Imported([Session(", "Imported([Session(topic, [Visit(float('nan'), '')]), Session("),
            "ValueError: nan is no time of an event",
        ),
        (
            ("Imported([Session(", "Imported([Session(topic, [Visit(1.0, '\\ud800')]), Session("),
            "broke while it read .*: Unicode",
        ),
        (
            ("Imported([Session(", "Imported([Session(topic, [Visit(1.0, '', b'')]), Session("),
            "Expected `str`, got `bytes`",
        ),
    ],
)
def test_an_importer_that_breaks_is_named(
    stranger: Path, tmp_path: Path, changed: tuple[str, str], message: str
) -> None:
    stranger.write_text(STRANGER.replace(*changed))
    (tmp_path / "visited.txt").write_text("http://a.test/")
    with pytest.raises(ConfigError, match=message):
        list(read_recording(importer(str(stranger)), tmp_path / "visited.txt", "bees", {}).sessions)


def test_known_errors_of_an_importer_stay_what_they_are(stranger: Path, tmp_path: Path) -> None:
    (tmp_path / "visited.txt").write_text("nothing")
    with pytest.raises(SessionError, match="holds no address"):
        read_recording(importer(str(stranger)), tmp_path / "visited.txt", "bees", {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "should define one importer"),
        ("import nonsense_that_is_not_there", "ModuleNotFoundError"),
        (STRANGER.replace("skip", "since"), "an option 'since', which all imports have"),
        (
            STRANGER.replace("    name = ", "    def __init__(self, x): pass\n    name = "),
            "cannot be made",
        ),
    ],
)
def test_a_broken_importer_gives_a_clear_error(
    stranger: Path,
    text: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stranger.write_text(text)
    assert trailhound(monkeypatch, "import", stranger, "some.file", "--topic", "bees") != 0
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_broken_package_does_not_hide_the_other_importers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    broken = EntryPoint("broken", "no_such_package:Importer", "trailhound.importers")
    entries = {**importers._catalogue._entries, "broken": broken}
    monkeypatch.setitem(vars(importers._catalogue), "_entries", entries)
    assert trailhound(monkeypatch, "import", "--help") == 0
    shown = capsys.readouterr().out
    assert "(broken)" in shown
    assert "firefox" in shown
    assert trailhound(monkeypatch, "import", "broken", "x", "--topic", "bees") != 0
    assert "loading it failed: ModuleNotFoundError" in " ".join(capsys.readouterr().err.split())
