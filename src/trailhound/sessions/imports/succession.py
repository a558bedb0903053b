"""Which page was shown before, for recordings that tell only the order."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from trailhound.sessions.events import Reached, Visit

NEW_START_SECONDS = 1800.0
"""After so long a pause somebody begins anew: the usual limit of a session in log analysis."""


def in_succession(visits: Iterable[Visit]) -> tuple[Visit, ...]:
    """Visits in order of time, each coming from the one before unless a long pause lies between."""
    chained: list[Visit] = []
    for visit in visits:
        before = chained[-1] if chained else None
        if before is None or visit.time - before.time > NEW_START_SECONDS:
            chained.append(msgspec.structs.replace(visit, reached=Reached.TYPED))
        elif before.url == visit.url:
            chained.append(
                msgspec.structs.replace(visit, reached=Reached.RELOAD, from_url=before.from_url)
            )
        else:
            chained.append(
                msgspec.structs.replace(visit, reached=Reached.LINK, from_url=before.url)
            )
    return tuple(chained)
