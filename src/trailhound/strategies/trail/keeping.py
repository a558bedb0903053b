"""What trail knows of addresses, written down for the next run: their links are read again."""

from __future__ import annotations

import msgspec

from trailhound.strategies.trail.link_model import KeptModel, LinkModel
from trailhound.strategies.trail.link_table import LinkTable


class Kept(msgspec.Struct, frozen=True):
    """A snapshot."""

    pages: int
    model: KeptModel
    labels: dict[str, float]
    """How fetched pages turned out."""
    opened: list[str] = []
    """Pages of the session that were fetched."""
    failed: dict[str, bool] = {}
    """Addresses that have brought no page, for a reason that lasts: whether their host refused."""


def what_to_keep(pages: int, model: LinkModel, table: LinkTable) -> Kept:
    """After so many pages."""
    return Kept(
        pages,
        model.keep(),
        table.known_labels(),
        table.opened_pages(),
        table.failed_pages(),
    )


def put_back(kept: Kept, table: LinkTable) -> None:
    """Into a table that knows the session alone."""
    labels: dict[int, float] = {}
    for url, label in kept.labels.items():
        labels[table.node(url)] = label
        table.readers.note(table.readers.opened_near(url), label)
    table.label(labels)
    table.note_done(list(labels))
    for url in kept.opened:
        node = table.node(url)
        table.note_done([node])
        if table.nodes["page"][node] >= 0:
            table.await_children(node)
    table.nodes_of(list(kept.failed))
    for url, refused in kept.failed.items():
        table.note_failed(url, refused=refused)
