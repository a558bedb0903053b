"""What an installation consists of, as a bill of materials in CycloneDX's JSON, or as a table.

``python -m release.sbom [--lock FILE] [--table] [-o FILE]``: names, versions and hashes are those
of the lock file, licences and dependencies those of the packages installed here. The same lock and
packages give the same bytes: no time and no random number is in it.
"""

from __future__ import annotations

import argparse
import json
import re
import uuid
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from release.locks import PLAIN, Pin, licence_of, normal, read_lock
from trailhound import __version__

SELF = f"pkg:pypi/trailhound@{__version__}"
_SPDX_ID = re.compile(r"[A-Za-z0-9.-]+")
_SPDX_EXPRESSION = re.compile(r"[A-Za-z0-9.-]+( (AND|OR|WITH) [A-Za-z0-9.-]+)+")
_LOOSE = {"BSD", "unknown"}
"""No names of SPDX."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print or write it."""
    parser = argparse.ArgumentParser(prog="release.sbom")
    parser.add_argument("--lock", type=Path, default=PLAIN, help="default: a plain installation")
    parser.add_argument("--table", action="store_true", help="packages and licences, as Markdown")
    parser.add_argument("-o", "--out", type=Path, help="file to write instead of stdout")
    asked = parser.parse_args(arguments)
    pins = read_lock(asked.lock)
    text = licence_table(pins) if asked.table else json.dumps(bill(pins), indent=1) + "\n"
    if asked.out is None:
        print(text, end="")
    else:
        asked.out.write_text(text, "utf-8")


def licence_table(pins: Sequence[Pin]) -> str:
    """A row per package."""
    rows = [f"| {pin.name} | {pin.version} | {_told_licence(pin)} |\n" for pin in pins]
    return "".join(["| package | version | licence |\n|---|---|---|\n", *rows])


def _told_licence(pin: Pin) -> str:
    return licence_of(pin.name, pin.version) or "not installed here"


def bill(pins: Sequence[Pin]) -> dict[str, Any]:
    """The whole document, by the schema of CycloneDX 1.6."""
    components = [_component(pin) for pin in pins]
    refs: dict[str, set[str]] = {pin.name: set() for pin in pins}
    for pin in pins:
        refs[pin.name].add(pin.purl)
    graph = [_edges("trailhound", SELF, refs), *(_edges(pin.name, pin.purl, refs) for pin in pins)]
    own = {"type": "application", "bom-ref": SELF, "name": "trailhound", "purl": SELF}
    licence = [{"license": {"id": "Apache-2.0"}}]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**own, "version": __version__, "licenses": licence}},
        "components": components,
        "dependencies": graph,
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return {**document, "serialNumber": f"urn:uuid:{serial}"}


def _component(pin: Pin) -> dict[str, Any]:
    # One archive for each system, any of which may be installed.
    archives = {
        "type": "distribution",
        "url": f"https://pypi.org/project/{pin.name}/{pin.version}/",
        "hashes": [{"alg": "SHA-256", "content": each} for each in pin.hashes],
    }
    told = {
        "type": "library",
        "bom-ref": pin.purl,
        "name": pin.name,
        "version": pin.version,
        "purl": pin.purl,
        "externalReferences": [archives],
    }
    licence = licence_of(pin.name, pin.version)
    return {**told, "licenses": [_licence(licence)]} if licence else told


def _licence(named: str) -> dict[str, Any]:
    if _SPDX_EXPRESSION.fullmatch(named):
        return {"expression": named}
    kind = "id" if _SPDX_ID.fullmatch(named) and named not in _LOOSE else "name"
    return {"license": {kind: named}}


def _edges(name: str, ref: str, refs: dict[str, set[str]]) -> dict[str, Any]:
    """What a package needs of the others, on the system that this is made on."""
    try:
        wanted = [Requirement(each) for each in requires(name) or []]
    except PackageNotFoundError:
        wanted = []
    needed = (
        refs[normal(each.name)]
        for each in wanted
        if normal(each.name) in refs
        and (each.marker is None or each.marker.evaluate({"extra": ""}))
    )
    return {"ref": ref, "dependsOn": sorted(set().union(*needed))}


if __name__ == "__main__":
    main()
