"""Downloads packages with apt and unpacks them, once. Nothing is installed, and no root needed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.manuals.catalogue import latest
from trailhound.errors import TrailhoundError, UsageError

Progress = Callable[[int, int, str], None]
"""Called with the number of packages done, of all, and the name of the next."""


def unpack_packages(wanted: Iterable[str], cache: Path, progress: Progress) -> list[str]:
    """Have a folder ``cache/PACKAGE`` for every name; returns those that apt does not offer.

    What was unpacked before is left alone, so an interrupted call may be repeated.
    """
    cache.mkdir(parents=True, exist_ok=True)
    offered = _output("apt-cache", "pkgnames").split()
    names = {pattern: latest(pattern, offered) for pattern in wanted}
    packages = sorted(name for name in names.values() if name is not None)
    for number, package in enumerate(packages):
        progress(number, len(packages), package)
        if not (cache / package).is_dir():
            _unpack(package, cache)
    progress(len(packages), len(packages), "")
    return sorted(pattern for pattern, name in names.items() if name is None)


def _unpack(package: str, cache: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=cache) as temporary:
        folder = Path(temporary)
        _output("apt-get", "--quiet", "download", package, folder=folder)
        archive = next(folder.glob("*.deb"))
        _output("dpkg-deb", "--raw-extract", str(archive), str(folder / "tree"))
        shutil.move(folder / "tree", cache / package)


def _output(*command: str, folder: Path | None = None) -> str:
    if shutil.which(command[0]) is None:
        raise UsageError(
            f"There is no {command[0]} here, so no packages can be had. Make the corpus on Debian."
        )
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise TrailhoundError(
            f"'{' '.join(command)}' failed: {reason[0]} Run 'apt-get update' if the lists of "
            "packages are old, look after disk and network, and give the same command again."
        )
    return done.stdout
