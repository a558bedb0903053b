"""What is published: archives that repeat byte by byte, that need only what they ask for."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from importlib.metadata import requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "trailhound"
PARTS_OF_EXTRAS = {
    "cluster/": {"fsspec", "ray"},
    "integrations/scrapy/": {"scrapy", "twisted", "itemadapter"},
}
"""Parts that are loaded only by those who installed the extra."""

CALLED_OTHERWISE = {"Stemmer": "pystemmer", "cchardet": "faust-cchardet"}
"""Packages whose modules do not have their name."""


def build(tree: Path, to: Path) -> dict[str, bytes]:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(to)]
    subprocess.run(command, cwd=tree, check=True, capture_output=True, timeout=300)
    return {path.name: path.read_bytes() for path in to.iterdir()}


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    build(ROOT, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(archives: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(next(archives.glob("*.whl"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (each for each in wheel.namelist() if each.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode())


def test_built_from_its_own_sources_everything_is_the_same(archives: Path, tmp_path: Path) -> None:
    with tarfile.open(next(archives.glob("*.tar.gz"))) as packed:
        packed.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    (tree / "src/trailhound/urls.py").touch()  # of another time
    first = {path.name: path.read_bytes() for path in archives.iterdir()}
    second = build(tree, tmp_path / "again")
    assert sorted(second) == sorted(first)
    assert [name for name in first if first[name] != second[name]] == []


def test_the_wheel_holds_all_files_and_no_others(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    own = {
        f"trailhound/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert own <= names
    assert {"trailhound/py.typed", "trailhound/extension/manifest.json"} <= names
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"trailhound", next(top for top in tops if top.endswith(".dist-info"))}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_its_description_is_complete(metadata: Message) -> None:
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    wanted: dict[str, set[str]] = {}
    for each in metadata.get_all("Requires-Dist", []):
        requirement, _, extra = each.partition("; extra == ")
        wanted.setdefault(extra.strip("'"), set()).add(requirement)
    some = (wanted[extra] for extra in wanted if extra not in ("", "all", "dev"))
    assert wanted["all"] == set().union(*some)


def test_every_dependency_and_extra_is_explained(metadata: Message) -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    told = {word.lower() for word in re.findall(r"[\w-]+", text)}
    plain = {name_of(each) for each in metadata.get_all("Requires-Dist", []) if ";" not in each}
    assert plain - told <= {"yarl"}, "it comes with aiohttp"
    for extra in set(metadata.get_all("Provides-Extra", [])) - {"dev"}:
        assert f"`{extra}`" in text or f"[{extra}]" in text


def name_of(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def loaded_at_import(path: Path) -> set[str]:
    """Packages that a module imports as soon as it is imported itself."""

    def reached(body: list[ast.stmt]) -> Iterator[ast.stmt]:
        for statement in body:
            if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test):
                continue
            yield statement
            for below in ("body", "orelse", "handlers", "finalbody"):
                if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield from reached(getattr(statement, below, []))

    names: set[str] = set()
    for statement in reached(ast.parse(path.read_text("utf-8")).body):
        if isinstance(statement, ast.Import):
            names.update(alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            names.add(statement.module)
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"trailhound"}


def test_no_module_needs_an_extra_to_be_imported() -> None:
    plain = {name_of(each) for each in requires("trailhound") or [] if "extra ==" not in each}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        theirs = (names for part, names in PARTS_OF_EXTRAS.items() if place.startswith(part))
        for name in loaded_at_import(path).difference(*theirs):
            package = name_of(CALLED_OTHERWISE.get(name, name))
            assert package in plain, f"{place} imports {name}, which no plain installation has"
