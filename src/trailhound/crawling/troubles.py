"""What plug-ins fail at while the crawl goes on without them, or without what they owed it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from trailhound.counting import counted

_log = logging.getLogger(__name__)


class Troubles:
    """Failures that cost a page or a plug-in, never the crawl.

    All are counted. The first of each plug-in goes to the log with its traceback, and is told to
    whoever runs the crawl; what there was in all is in :meth:`summary`.
    """

    def __init__(self, tell: Callable[[str], None] = lambda _: None) -> None:
        self.counts: Counter[str] = Counter()
        """By who failed: ``The sink Finds``."""
        self.first: dict[str, str] = {}
        """The first failure of each, in words."""
        self._tell = tell

    def note(self, who: str, error: BaseException, where: str = "") -> None:
        """``who`` failed, at ``where`` (in words, with a blank in front)."""
        self.counts[who] += 1
        if self.counts[who] == 1:
            told = f"{type(error).__name__}: {error}"
            self.first[who] = f"{where.removeprefix(' on ')}: {told}" if where else told
            _log.error("%s failed%s", who, where, exc_info=error)
            self._tell(
                f"{who} failed{where}: {told}. The crawl goes on; further failures are counted and "
                "told at the end."
            )

    def note_end(self, who: str, why: str) -> None:
        """A plug-in is done with."""
        _log.error("%s %s", who, why)
        self._tell(f"{who} {why}")

    def summary(self) -> list[str]:
        """A sentence for each plug-in that failed."""
        return [f"{who} failed {counted(count, 'time')}." for who, count in self.counts.items()]
