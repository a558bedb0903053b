"""What is known about pages besides their content: labels, groups, duplicates, start pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple


class PlacedSideData(NamedTuple):
    """Side data with URLs replaced by page numbers, sorted."""

    labels: tuple[tuple[str, int], ...]
    """(label, page)"""
    groups: tuple[tuple[int, str], ...]
    """(page, group)"""
    duplicates: tuple[tuple[str, str], ...]
    """(URL, original)"""
    start_urls: tuple[str, ...]
    unplaced: int
    """Labels and groups of URLs that lead to no page."""

    def label_counts(self) -> dict[str, int]:
        """Pages by label."""
        return _counted(label for label, _ in self.labels)

    def group_counts(self) -> dict[str, int]:
        """Pages by group."""
        return _counted(name for _, name in self.groups)


class SideData:
    """Collects side data by URL while pages may still be missing."""

    def __init__(self) -> None:
        self.labels: set[tuple[str, str]] = set()
        """(URL, label)"""
        self.groups: dict[str, str] = {}
        self.duplicates: dict[str, str] = {}
        self.start_urls: tuple[str, ...] = ()

    def placed(self, resolve: Callable[[str], int | None]) -> PlacedSideData:
        """Everything by page number; ``resolve`` gives the page that a URL leads to."""
        labels = {(label, resolve(url)) for url, label in self.labels}
        # Sorted, so that of two URLs of one page the same one always wins.
        groups = {resolve(url): name for url, name in sorted(self.groups.items(), reverse=True)}
        unplaced = sum(resolve(url) is None for url, _ in self.labels)
        unplaced += sum(resolve(url) is None for url in self.groups)
        return PlacedSideData(
            labels=tuple(sorted((label, page) for label, page in labels if page is not None)),
            groups=tuple(sorted((page, name) for page, name in groups.items() if page is not None)),
            duplicates=tuple(sorted(self.duplicates.items())),
            start_urls=self.start_urls,
            unplaced=unplaced,
        )


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
