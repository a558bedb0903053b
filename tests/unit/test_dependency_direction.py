"""Which package may import which: the data flow, enforced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import trailhound

ROOT = Path(trailhound.__file__).parent

FIRST_TIER = frozenset(
    {"records", "errors", "urls", "utf8", "counting", "media_types", "notebooks"}
    | {"config", "signals", "command_links"}
)
LEARNING = FIRST_TIER | {"sessions", "text", "models"}
RANKING = LEARNING | {"sources", "strategies", "judges", "plugins"}
STORES = frozenset({"frontier", "fetching", "storage"})
CRAWLING = RANKING | STORES | {"crawling"}
LAB = CRAWLING | {
    "cluster",
    "web_archives",
    "lab",
    "topics",
    "demo",
    "plugins",
    "reports",
}
TOPICS = CRAWLING | {"topics", "web_archives"}

ALLOWED: dict[str, frozenset[str]] = {
    "records": frozenset(),
    "errors": frozenset(),
    "counting": frozenset(),
    "command_links": frozenset({"records", "urls"}),
    "utf8": frozenset(),
    "media_types": frozenset({"errors"}),
    "signals": frozenset(),
    "notebooks": frozenset({"errors"}),
    "urls": FIRST_TIER,
    "sources": FIRST_TIER | {"sessions", "text", "fetching", "storage", "web_archives"},
    "sessions": LEARNING | {"plugins", "storage", "web_archives"},
    "web_archives": FIRST_TIER,
    "text": FIRST_TIER,
    "models": LEARNING,
    "strategies": RANKING,
    "judges": RANKING,
    "frontier": FIRST_TIER | {"frontier", "storage"},
    "fetching": FIRST_TIER | {"fetching"},
    "storage": FIRST_TIER | {"storage"},
    "demo": CRAWLING | {"demo"},
    "plugins": FIRST_TIER,
    "topics": TOPICS,
    "cluster": TOPICS | {"cluster"},
    "library": TOPICS,
    "integrations": TOPICS | {"library", "integrations"},
    "collector": FIRST_TIER | {"collector", "sessions", "storage", "topics"},
    "reports": TOPICS,
    "web": LAB | TOPICS | {"collector", "portal"},
    "portal": TOPICS,
    "crawling": CRAWLING,
    "config": frozenset({"errors", "counting"}),
    "lab": LAB,
    "testing": LAB | TOPICS,
    "__main__": frozenset({"cli"}),
    "cli": LAB | TOPICS | {"cli", "cluster", "collector", "portal", "web"},
}

TOPIC_FOLDERS: dict[str, frozenset[str]] = {
    "": frozenset(),
    "crawls": frozenset({""}),
    "runs": frozenset({"", "crawls"}),
    "finds": frozenset({"", "crawls", "runs"}),
    "control": frozenset({"", "crawls", "runs"}),
    "upkeep": frozenset({"", "crawls", "runs", "control"}),
}
"""Which folder of ``topics`` may import which; "" is what lies in none: topic, sessions, model."""

IMPURE = frozenset({"socket", "time", "random", "asyncio", "aiohttp", "sqlite3", "os", "pathlib"})
PURE_PACKAGES = ("sessions", "text", "models", "strategies", "judges")
READING_FILES = ("sessions/files.py", "sessions/importers/")
"""Where browsing comes from the disk: session files, and what other programs recorded."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        part = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if part != "__init__":
            yield part, path


def reads_files(path: Path) -> bool:
    return path.relative_to(ROOT).as_posix().startswith(READING_FILES)


def imported_names(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            assert node.module
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_parts(path: Path) -> set[str]:
    names = (name.split(".") for name in imported_names(path))
    parts = {name[1] for name in names if name[0] == "trailhound" and len(name) > 1}
    return {part for part in parts if (ROOT / part).is_dir() or (ROOT / f"{part}.py").exists()}


@pytest.mark.parametrize(("part", "path"), list(modules()), ids=lambda value: str(value)[-40:])
def test_imports_follow_the_data_flow(part: str, path: Path) -> None:
    assert part in ALLOWED, f"say in this test what the new part '{part}' may import"
    assert own_parts(path) <= ALLOWED[part] | {part}


def topic_folder(name: str) -> str:
    """Of a module of ``topics``, by its name without that beginning."""
    folder = name.partition(".")[0]
    return folder if (ROOT / "topics" / folder).is_dir() else ""


@pytest.mark.parametrize(
    "path", sorted((ROOT / "topics").rglob("*.py")), ids=lambda path: str(path)[-40:]
)
def test_folders_of_topics_are_built_on_each_other(path: Path) -> None:
    folder = path.relative_to(ROOT / "topics").parent.as_posix().removeprefix(".")
    assert folder in TOPIC_FOLDERS, f"say in this test what the new folder '{folder}' may import"
    start = "trailhound.topics."
    names = (name for name in imported_names(path) if name.startswith(start))
    used = {topic_folder(name.removeprefix(start)) for name in names}
    assert used <= TOPIC_FOLDERS[folder] | {folder}


@pytest.mark.parametrize(
    "path",
    [path for part, path in modules() if part in PURE_PACKAGES],
    ids=lambda path: str(path)[-40:],
)
def test_whoever_asks_a_source_knows_its_protocol_alone(path: Path) -> None:
    names = {name for name in imported_names(path) if name.startswith("trailhound.sources.")}
    assert all(name.rpartition(".")[2][0].isupper() for name in names), path.name


@pytest.mark.parametrize(
    ("part", "path"),
    [(part, path) for part, path in modules() if part in PURE_PACKAGES and not reads_files(path)],
    ids=lambda value: str(value)[-40:],
)
def test_learning_and_ranking_are_pure(part: str, path: Path) -> None:
    used = {name.split(".")[0] for name in imported_names(path)} & IMPURE
    if path.name == "choosing.py":  # looks parts up by name, Python files of the user included
        used -= {"pathlib"}
    # A seeded generator of its own is not global randomness.
    if part == "strategies":
        used -= {"random"}
    assert not used, f"{path.name} reaches outside: {sorted(used)}"


@pytest.mark.parametrize(
    "path",
    [path for part, path in modules() if part in PURE_PACKAGES and not reads_files(path)],
    ids=lambda path: str(path)[-40:],
)
def test_what_is_pure_does_not_use_what_reads_files(path: Path) -> None:
    readers = ("trailhound.sessions.files", "trailhound.sessions.importers", "trailhound.storage")
    used = {name for name in imported_names(path) if name.startswith(readers)}
    if path.relative_to(ROOT).as_posix() == "strategies/collaborative/strategy.py":
        # An option of it names a folder of descriptions.
        used -= {"trailhound.sessions.files", "trailhound.sessions.files.read_topic_set"}
    assert not used
