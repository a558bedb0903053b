"""What the lock files pin, and what the installed packages say of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLAIN = ROOT / "requirements-plain.lock"
"""What ``pip install trailhound`` installs."""
LOCKS = sorted(ROOT.glob("requirements*.lock"))

_PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[^\s;]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD License": "BSD",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSFL": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The BSD 2-Clause License": "BSD-2-Clause",
}
"""Of licences, as packages write them."""


@dataclass(frozen=True)
class Pin:
    """One entry of a lock file; a package has several when systems need different versions."""

    name: str
    version: str
    hashes: tuple[str, ...]
    """SHA-256 of every archive that may be installed for it."""

    @property
    def purl(self) -> str:
        """What databases of packages call it."""
        return f"pkg:pypi/{self.name}@{self.version}"


def read_lock(path: Path) -> list[Pin]:
    """All entries, in order; ValueError names one that pins no version."""
    return [_pin(path, entry) for entry in _entries(path)]


def _entries(path: Path) -> Iterator[str]:
    """Continued lines joined, comments left out."""
    lines = path.read_text("utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    yield from (line for line in text.replace("\\\n", " ").splitlines() if line.strip())


def _pin(path: Path, entry: str) -> Pin:
    found = _PIN.match(entry)
    if found is None:
        raise ValueError(f"{path.name} pins no version in: {entry[:80]}. Run 'make lock'.")
    return Pin(normal(found["name"]), found["version"], tuple(_HASH.findall(entry)))


def normal(name: str) -> str:
    """A package's name in its one spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence_of(name: str, version: str) -> str | None:
    """As SPDX writes it where that can be told; nothing when that version is not installed."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return None
    if told["Version"] != version:
        return None
    classes = [
        each.rpartition(" :: ")[2]
        for each in told.get_all("Classifier") or []
        if each.startswith("License :: ") and each.count(" :: ") > 1
    ]
    free = next(iter(told.get_all("License") or []), "").strip()
    named = next(iter(told.get_all("License-Expression") or []), free if len(free) < 60 else "")
    named = named if named and "\n" not in named else " OR ".join(classes)
    return _SPELLINGS.get(named, named) or "unknown"
