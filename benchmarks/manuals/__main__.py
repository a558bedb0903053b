"""Command line: packages, then the corpus."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.corpora import ROOT
from benchmarks.manuals.catalogue import read_manuals
from benchmarks.manuals.packages import unpack_packages
from trailhound.errors import TrailhoundError
from trailhound.lab.importers import import_corpus

PACKAGES = ROOT / ".cache" / "manuals"
KIND = Path(__file__).with_name("kind.py")


def main(arguments: list[str] | None = None) -> int:
    """Make the corpus; 0 when it was written."""
    options = _parse(arguments)
    try:
        wanted = {name for manual in read_manuals().values() for name in manual.packages}
        missing = unpack_packages(wanted, options.packages, _show)
        if missing:
            print(f"\napt offers none of: {', '.join(missing)}", file=sys.stderr)
        info = import_corpus(str(KIND), options.packages, options.output, _show, options.jobs)
    except TrailhoundError as error:
        print(f"\nError: {error}", file=sys.stderr)
        return error.exit_code
    print(f"\n{options.output}: {info.pages} pages of {info.hosts} hosts, {info.bytes} bytes")
    for label, pages in info.labels.items():
        print(f"  {label}: {pages} pages")
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.manuals", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, help="the corpus to write")
    parser.add_argument(
        "--packages", type=Path, default=PACKAGES, help="where packages are unpacked and kept"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes to use")
    return parser.parse_args(arguments)


def _show(done: int, total: int | None, what: str) -> None:
    if done == total or done % 500 == 0 or what != "pages":
        print(f"\r{done} of {total} {what:<40}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
