"""An importer of your own: a list of addresses, in the order in which they were visited.

Try it, without installing anything::

    trailhound import examples/own_importer.py visited.txt --topic bees --fetch \
        --user-agent 'bees-bot (+https://example.org/bot)'

To ship it, put the class into a package and register it::

    [project.entry-points."trailhound.importers"]
    addresses = "your_package.addresses:AddressList"
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from trailhound.errors import SessionError
from trailhound.sessions.events import Session, Visit
from trailhound.sessions.importers.base import Imported, Tally, file_to_read, in_succession
from trailhound.urls import canonicalize


class AddressList:
    """One address in a line; the page before is taken for the one that led there."""

    name = "addresses"
    summary = "Import a list of addresses."
    reads = "A text file with one address in a line."

    def read(
        self, source: Path, topic: str, *, skip: Annotated[int, "Lines to pass over first."] = 0
    ) -> Imported:
        """The addresses as one session, a second apart."""
        lines = file_to_read(source, "list").read_text("utf-8", "replace").splitlines()[skip:]
        tally = Tally("line", read=len(lines))
        urls = [line.strip() for line in lines if canonicalize(line) is not None]
        tally.skip("not an address on the web", len(lines) - len(urls))
        if not urls:
            raise SessionError(f"{source} holds no address. Write one in a line, with https://.")
        visits = in_succession(Visit(float(second), url) for second, url in enumerate(urls))
        return Imported([Session(topic, visits, recorder="address list")], tally)
