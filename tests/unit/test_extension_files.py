"""The extension's files: complete, explained, and without anything from elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from trailhound.collector import extension_folder

FOLDER = extension_folder()
SCRIPTS = sorted(FOLDER.rglob("*.js"))


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text("utf-8"))
    return found


def test_every_permission_is_explained(manifest: dict[str, Any]) -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    kinds = ("permissions", "optional_permissions", "host_permissions")
    for permission in [each for kind in kinds for each in manifest[kind]]:
        assert f"`{permission}`" in readme


def test_all_named_files_are_there(manifest: dict[str, Any]) -> None:
    names = [manifest["background"]["service_worker"], manifest["action"]["default_popup"]]
    for name in [*names, *manifest["icons"].values(), "capture.js", "bar.js", "newtab.html"]:
        assert (FOLDER / name).is_file()
    for script in SCRIPTS:
        for name in re.findall(r'from "(\./[^"]+)"', script.read_text("utf-8")):
            assert (script.parent / name).is_file()


def test_it_stays_out_of_private_windows(manifest: dict[str, Any]) -> None:
    assert manifest["incognito"] == "not_allowed"
    assert "externally_connectable" not in manifest
    assert "web_accessible_resources" not in manifest


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_no_code_from_elsewhere_and_no_html_from_strings(script: Path) -> None:
    text = script.read_text("utf-8")
    for word in ("eval(", "new Function", "innerHTML =", "insertAdjacentHTML", "importScripts"):
        assert word not in text
    code = "\n".join(line for line in text.splitlines() if not line.strip().startswith("/"))
    addresses = set(re.findall(r"https?://[^\s\"'`*]+", code))
    assert addresses <= {"http://127.0.0.1:${pairing.port}/v1/${path}", "http://${plain}"}


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the script")
def test_neither_port_nor_dot_leads_around_the_list_of_what_is_never_recorded(
    tmp_path: Path,
) -> None:
    module = tmp_path / "exclusions.mjs"  # as node wants modules to be named
    shutil.copy(FOLDER / "lib" / "exclusions.js", module)
    program = f"""
        import {{ hostsOf, mayRecord }} from {json.dumps(module.as_uri())};
        const urls = {json.dumps([*_EXCLUDED_PAGES, *_OTHER_PAGES])};
        const lists = ["bank.example", "*.bank.example.", "https://bank.example.:81/x"];
        const answers = lists.map((list) => urls.map((url) => mayRecord(url, hostsOf(list))));
        answers.push(urls.map((url) => mayRecord(url, ["bank.example."])));
        console.log(JSON.stringify(answers));
    """
    done = subprocess.run(
        ["node", "--input-type=module", "-e", program], capture_output=True, text=True, check=True
    )
    may = [False] * len(_EXCLUDED_PAGES) + [True] * len(_OTHER_PAGES)
    assert json.loads(done.stdout) == [may] * 4


_EXCLUDED_PAGES = [
    "https://bank.example/",
    "https://bank.example./",
    "http://bank.example:8080/",
    "https://www.bank.example.:81/login",
    "https://BANK.example./",
]
_OTHER_PAGES = ["https://notbank.example./", "https://bank.example.org/"]
