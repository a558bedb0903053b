"""How relevant a page must be, measured by the pages a crawl starts from."""

from __future__ import annotations

import msgspec

LOWEST, HIGHEST = 0.3, 0.5
"""Where the paper's limits lay: what came of its seeds, and no rule."""


class RelevancyLimit(msgspec.Struct):
    """Half of the seeds' mean; or a number that was given.

    ``bounded``, it stays within what the paper reports; to the letter it is what it is, and 0 for
    seeds whose addresses have no word of the topic: every page with such a word is then relevant.
    """

    given: float | None = None
    total: float = 0.0
    seeds: int = 0
    bounded: bool = True

    def add_seed(self, value: float) -> None:
        """See one more seed."""
        self.total += value
        self.seeds += 1

    @property
    def value(self) -> float:
        """Pages above it are relevant."""
        if self.given is not None:
            return self.given
        half = self.total / self.seeds / 2 if self.seeds else 0.0
        return max(LOWEST, min(HIGHEST, half)) if self.bounded else half
