"""Are the dependencies what they should be? ``python -m release.audit [--offline]``

Without a network: every entry of every lock file is pinned with hashes; the locks agree with
``pyproject.toml`` and with each other; what is installed here is what they pin; licences are among
those that go together with ours. With one, OSV (osv.dev) is asked for known vulnerabilities of
every pinned version. It cannot see vulnerabilities that nobody reported, licences of packages that
are not installed here, or whether an archive holds what its sources say.

Ends with 1 when something is wrong. Only ``--offline`` leaves the vulnerabilities out without
saying so as a failure.
"""

from __future__ import annotations

import argparse
import json
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement

from release.locks import LOCKS, PLAIN, ROOT, Pin, licence_of, normal, read_lock

OSV = "https://api.osv.dev/v1/querybatch"
COMPATIBLE = frozenset(
    {"0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC"}
    | {"MIT", "MIT-0", "MIT-CMU", "MPL-1.1", "MPL-2.0", "PSF-2.0", "Unlicense", "ZPL-2.1", "Zlib"}
)
"""A program under the Apache licence may use such packages, unchanged and installed beside it."""
LOOKED_AT = {
    "axe-playwright-python": "MIT, by the licence file in its wheel; for development alone",
    "locate": "MIT, by the licence file in its wheel",
    "matplotlib": "its own, worded like PSF-2.0; its fonts have theirs beside them",
    "pypdfium2": "BSD-3-Clause or Apache-2.0; those of PDFium's libraries are in its wheel",
}
"""Packages whose metadata do not name a licence of the list: what their files say instead."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell every finding in a line; 1 when there was one."""
    parser = argparse.ArgumentParser(prog="release.audit")
    parser.add_argument("--offline", action="store_true", help="ask nobody for vulnerabilities")
    asked = parser.parse_args(arguments)
    locks = {path: read_lock(path) for path in LOCKS}
    main_lock = locks[ROOT / "requirements.lock"]
    findings = [
        *unhashed(locks),
        *unmet(main_lock),
        *disagreeing(locks[PLAIN], main_lock),
        *not_as_pinned(main_lock),
        *doubtful_licences(main_lock),
    ]
    pins = sorted({(pin.name, pin.version): pin for each in locks.values() for pin in each}.items())
    if asked.offline:
        print("Known vulnerabilities: not asked for (--offline).")
    else:
        findings += vulnerable([pin for _, pin in pins])
    for finding in findings:
        print(finding)
    told = "nothing is wrong" if not findings else f"{len(findings)} to be looked at"
    print(f"{len(pins)} pinned packages in {len(locks)} lock files: {told}.")
    return 1 if findings else 0


def unhashed(locks: dict[Path, list[Pin]]) -> Iterator[str]:
    """Entries that any archive would satisfy."""
    for path, pins in locks.items():
        for pin in pins:
            if not pin.hashes:
                yield f"{path.name}: {pin.name} has no hash. Run 'make lock'."


def unmet(pins: Sequence[Pin]) -> Iterator[str]:
    """Requirements of ours that no pin meets."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    pinned: dict[str, list[str]] = {}
    for pin in pins:
        pinned.setdefault(pin.name, []).append(pin.version)
    for wanted in (Requirement(each) for group in groups for each in group):
        versions = pinned.get(normal(wanted.name), [])
        if wanted.name != "trailhound" and not any(map(wanted.specifier.contains, versions)):
            yield f"pyproject.toml: no pin meets {wanted}. Run 'make lock'."


def disagreeing(plain: Sequence[Pin], everything: Sequence[Pin]) -> Iterator[str]:
    """Versions of a plain installation that were not tested."""
    known = {(pin.name, pin.version) for pin in everything}
    for pin in plain:
        if (pin.name, pin.version) not in known:
            yield f"{PLAIN.name}: {pin.name} {pin.version} is not in requirements.lock."


def not_as_pinned(pins: Sequence[Pin]) -> Iterator[str]:
    """Installed versions other than the pinned ones; what is not installed is no matter."""
    allowed: dict[str, set[str]] = {}
    for pin in pins:
        allowed.setdefault(pin.name, set()).add(pin.version)
    for name, versions in allowed.items():
        try:
            installed = version(name)
        except PackageNotFoundError:
            continue
        if installed not in versions:
            yield f"{name}: {installed} is installed, {', '.join(versions)} pinned. Run 'make'."


def doubtful_licences(pins: Sequence[Pin]) -> Iterator[str]:
    """Licences that nobody has looked at."""
    for pin in pins:
        licence = licence_of(pin.name, pin.version)
        if licence is not None and pin.name not in LOOKED_AT and not is_compatible(licence):
            yield f"{pin.name} {pin.version}: licence '{licence}'. Read it; see LOOKED_AT."


def is_compatible(licence: str) -> bool:
    """Whether one of the choices is, in all its parts."""
    choices = licence.replace("(", "").replace(")", "").split(" OR ")
    return any(
        all(part.strip() in COMPATIBLE for part in choice.replace(",", " AND ").split(" AND "))
        for choice in choices
    )


def vulnerable(pins: Sequence[Pin]) -> list[str]:
    """What OSV knows against the pinned versions; that it could not be asked is a finding."""
    asked = {"queries": [{"package": {"purl": pin.purl}} for pin in pins]}
    request = urllib.request.Request(
        OSV, json.dumps(asked).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            results = json.load(answer)["results"]
    except (urllib.error.URLError, TimeoutError, ValueError, KeyError) as error:
        return [f"Known vulnerabilities: {OSV} cannot be asked ({error}). Try again, or --offline."]
    return [
        f"{pin.name} {pin.version}: https://osv.dev/vulnerability/{each['id']}"
        for pin, result in zip(pins, results, strict=True)
        for each in result.get("vulns", [])
    ]


if __name__ == "__main__":
    raise SystemExit(main())
