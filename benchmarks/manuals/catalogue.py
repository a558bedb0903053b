"""Which manuals there are: what ``manuals.toml`` says, and where that lies in unpacked packages."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from trailhound.config.layers import parse_toml
from trailhound.errors import ConfigError

MANUALS_FILE = Path(__file__).with_name("manuals.toml")
DOMAIN = "manuals.test"

NOT_READ = frozenset(["_modules", "_sources", "search", "class-use"])
"""Folders of program text, of search indices and of lists that nobody wrote for readers."""


class Manual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One host of the web."""

    title: str
    subject: str
    """The portal's page that lists it."""
    packages: tuple[str, ...]
    """Names, perhaps with wildcards: of several that fit, the last in alphabetical order."""
    root: str
    """The manual's folder inside each package, perhaps with wildcards."""
    start: tuple[str, ...] = ("index.html",)
    """Below the root: the pages that the portal links to."""
    public: tuple[str, ...] = ()
    """Regular expressions for the beginnings of its addresses on the web, without scheme and
    ``www.``."""
    without: tuple[str, ...] = ()
    """Names of folders that are left out."""


class ManualPage(msgspec.Struct, frozen=True):
    """A file and where it is found in the recorded web."""

    path: Path
    url: str
    alias_of: str = ""
    """The address of the page that this one is a symbolic link to."""


def read_manuals(path: Path = MANUALS_FILE) -> dict[str, Manual]:
    """The manuals by the first part of their host's name."""
    try:
        return msgspec.convert(parse_toml(path.read_text(encoding="utf-8")), dict[str, Manual])
    except (OSError, ValueError) as error:
        raise ConfigError(f"The list of manuals {path} cannot be read: {error}.") from error


def site(name: str) -> str:
    """The address of a manual's host."""
    return f"https://{name}.{DOMAIN}/"


def latest(pattern: str, names: Sequence[str]) -> str | None:
    """The package meant by a name with wildcards, if there is one."""
    return max(fnmatch.filter(names, pattern), default=None)


def manual_pages(name: str, manual: Manual, unpacked: Path) -> list[ManualPage]:
    """Every HTML file of a manual, in a fixed order. A file that two packages ship comes once."""
    packages = sorted(entry.name for entry in unpacked.iterdir() if entry.is_dir())
    found: dict[str, ManualPage] = {}
    for pattern in manual.packages:
        package = latest(pattern, packages)
        for root in sorted((unpacked / package).glob(manual.root)) if package else ():
            for page in _pages_below(root, site(name), NOT_READ.union(manual.without)):
                found.setdefault(page.url, page)
    return [found[url] for url in sorted(found)]


def _pages_below(root: Path, site_url: str, left_out: frozenset[str]) -> Iterator[ManualPage]:
    for path in root.rglob("*.htm*"):
        place = path.relative_to(root)
        if path.suffix not in (".html", ".htm") or left_out.intersection(place.parts):
            continue
        if path.is_symlink():
            real = path.resolve()
            if real.is_file() and real.is_relative_to(root.resolve()):
                target = real.relative_to(root.resolve()).as_posix()
                yield ManualPage(path, site_url + place.as_posix(), site_url + target)
        elif path.is_file():
            yield ManualPage(path, site_url + place.as_posix())


class PublicAddresses:
    """Turns links to manuals as the web knows them into links to their recorded hosts."""

    def __init__(self, manuals: dict[str, Manual]) -> None:
        self._known = [
            (re.compile(pattern, re.IGNORECASE), site(name))
            for name, manual in manuals.items()
            for pattern in manual.public
        ]
        self._answers: dict[str, str] = {}

    def translated(self, body: bytes) -> bytes:
        """The page with its links translated; nothing else is touched."""
        return _OUTSIDE.sub(self._link, body)

    def _link(self, match: re.Match[bytes]) -> bytes:
        address = match[2].decode("latin-1")
        if address not in self._answers:
            self._answers[address] = self._translate(address)
        return match[1] + self._answers[address].encode("latin-1")

    def _translate(self, address: str) -> str:
        bare = re.sub(r"^https?://(?:www\.)?", "", address, flags=re.IGNORECASE)
        for pattern, site_url in self._known:
            if found := pattern.match(bare):
                return site_url + bare[found.end() :]
        return address


_OUTSIDE = re.compile(rb"""(\shref\s*=\s*["'])(https?://[^"'>\s]+)""", re.IGNORECASE)
