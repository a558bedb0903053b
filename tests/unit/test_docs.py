"""The documentation names what exists, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trailhound.strategies.choosing import describe_strategy, strategy_names

ROOT = Path(__file__).parents[2]
ROOT_PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES = [*ROOT_PAGES, *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    targets = [target for target in LINK.findall(page.read_text("utf-8")) if "://" not in target]
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([\w./-]*\.md)?#([^)]+)\)", page.read_text("utf-8")):
        text = (page.parent / target if target else page).read_text("utf-8")
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
        assert anchor in slugs, f"{target or page.name} has no heading for #{anchor}"


def test_every_page_is_in_the_table_of_contents() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8").split()
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= set(index), "name it in docs/index.md"
    folders = {page.parent.name for page in (ROOT / "docs").glob("*/*.md")}
    assert {f"{folder}/*" for folder in folders} <= set(index)


def test_the_reference_covers_every_package_with_names_of_its_own() -> None:
    marked = re.findall(r"every name of ([\w.]+)", (ROOT / "docs" / "api.md").read_text("utf-8"))
    listed = [path.parent for path in (ROOT / "src").rglob("__init__.pyi")]
    names = {".".join(path.relative_to(ROOT / "src").parts) for path in listed}
    assert names | {"trailhound.testing"} == set(marked)


def test_crawls_to_copy_say_who_they_are() -> None:
    texts = {page: re.findall(r"```.*?```", page.read_text("utf-8"), re.DOTALL) for page in PAGES}
    texts |= {each: [each.read_text("utf-8")] for each in (ROOT / "examples").glob("*.py")}
    told = re.compile("user-agent|USER_AGENT|--fetcher|user_agent")
    for page, blocks in texts.items():
        asking = [
            each for each in blocks if re.search(r"trailhound crawl .*--seed|--fetch\b", each)
        ]
        assert all(map(told.search, asking)), f"{page.name}: a crawl without --user-agent"


@pytest.mark.parametrize("name", strategy_names())
def test_every_strategy_and_option_is_documented(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs" / "strategies.md").read_text("utf-8")
    text = (ROOT / "docs" / "strategies" / f"{name}.md").read_text("utf-8")
    for option, default in describe_strategy(name).options.items():
        shown = str(default).lower() if isinstance(default, bool) else str(default)
        row = re.search(rf"^\| `{option}` \| ([^|]*) \|", text, re.MULTILINE)
        assert row, f"option {option} of {name} is not on its page"
        assert row[1].strip() == shown


def test_the_readme_names_both_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "make demo" in readme
    assert "make test" in readme


def test_every_stop_of_a_page_is_where_the_architecture_says() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    stops = re.findall(r"^\| (\d+) [^|]+\| `([\w/]+\.py)` `(\w+)` \|", text, re.MULTILINE)
    assert [int(number) for number, _, _ in stops] == list(range(1, len(stops) + 1))
    assert 6 <= len(stops) <= 12
    for _, file, function in stops:
        source = (ROOT / "src" / "trailhound" / file).read_text("utf-8")
        assert re.search(rf"def {function}\(", source), f"{file} has no {function}"
