"""How relevant a page must be, measured by the pages a crawl starts from."""

from __future__ import annotations

import msgspec

LOWEST, HIGHEST = 0.3, 0.5
"""Where the paper's limits lay."""


class RelevancyLimit(msgspec.Struct):
    """Half of the seeds' mean, kept within what the paper reports; or a number that was given."""

    given: float | None = None
    total: float = 0.0
    seeds: int = 0

    def add_seed(self, value: float) -> None:
        """See one more seed."""
        self.total += value
        self.seeds += 1

    @property
    def value(self) -> float:
        """Pages above it are relevant."""
        if self.given is not None:
            return self.given
        half = self.total / self.seeds / 2 if self.seeds else LOWEST
        return max(LOWEST, min(HIGHEST, half))
