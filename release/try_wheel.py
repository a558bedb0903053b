"""Install the wheel into an empty environment, measure it there, and run the demo.

``python -m release.try_wheel [--python PYTHON] [--extras all] [--max-requests 40]``: needs an index
of packages. Installs the newest versions, as a user would get them, and wheels alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
STARTS = {
    "python -c pass": ("-c", "pass"),
    "import trailhound": ("-c", "import trailhound"),
    "trailhound --help": ("-m", "trailhound", "--help"),
    "import trailhound; trailhound.crawl": ("-c", "import trailhound; trailhound.crawl"),
}
REPEATS = 5


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, install, measure, demonstrate."""
    parser = argparse.ArgumentParser(prog="release.try_wheel")
    parser.add_argument("--python", default=sys.executable, help="interpreter to try it with")
    parser.add_argument("--extras", default="", help="as in trailhound[EXTRAS]")
    parser.add_argument("--max-requests", default="40", help="of each crawl of the demo")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="trailhound-wheel-") as folder:
        place = Path(folder)
        python = install(built_wheel(place), asked.python, asked.extras, place / "environment")
        show_size(python)
        for told, start in STARTS.items():
            print(f"{told}: {1000 * cpu_seconds([python, *start], place):.0f} ms of CPU")
        command = [python, "-m", "trailhound", "demo", "-o", "demo", "-j", "1"]
        run([*command, "--max-requests", asked.max_requests], place)


def built_wheel(folder: Path) -> Path:
    """The wheel of this tree."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], ROOT)
    return next(folder.glob("*.whl"))


def install(wheel: Path, interpreter: str, extras: str, environment: Path) -> str:
    """The interpreter of a new environment that has the wheel and what it asks for."""
    run([interpreter, "-m", "venv", str(environment)], wheel.parent)
    python = str(next(environment.glob("[bS]*/python*")))
    wanted = f"{wheel}[{extras}]" if extras else str(wheel)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--only-binary", ":all:", wanted], wheel.parent)
    return python


def show_size(python: str) -> None:
    """Of everything but pip, compiled modules included."""
    program = "import sys, sysconfig; print(sys.version.split()[0], sysconfig.get_path('purelib'))"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    version, folder = done.stdout.strip().split(" ", 1)
    files = [
        path
        for path in Path(folder).rglob("*")
        if path.is_file() and not path.relative_to(folder).parts[0].startswith("pip")
    ]
    size = sum(path.stat().st_size for path in files)
    print(f"Python {version}: {size / 1e6:.0f} MB installed, {len(files):,} files")


def cpu_seconds(command: Sequence[str], place: Path) -> float:
    """The least of a few starts, each in a process of its own."""

    def once() -> float:
        before = os.times()
        subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        return (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )

    return min(once() for _ in range(REPEATS))


def run(command: Sequence[str], place: Path) -> None:
    """In a folder where no sources lie about, unless they are wanted."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    subprocess.run(command, cwd=place, check=True, env=clean)


if __name__ == "__main__":
    main()
