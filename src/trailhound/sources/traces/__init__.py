"""Who visited what: access logs, sessions and trails as an index on disk.

A log is read once and sorted in pieces, so that a hundred million accesses need no more memory than
a million; afterwards the index is mapped into memory and only what is asked for is read.
"""

from trailhound.sources.traces.building import (
    PageAccess,
    Piece,
    build_trace,
    in_pieces,
    trace_in_memory,
)
from trailhound.sources.traces.index import TraceIndex
from trailhound.sources.traces.keeping import (
    ReadParts,
    TraceSource,
    kept_trace,
    log_accesses,
    log_pieces,
    part_reader,
    session_accesses,
)

__all__ = [
    "PageAccess",
    "Piece",
    "ReadParts",
    "TraceIndex",
    "TraceSource",
    "build_trace",
    "in_pieces",
    "kept_trace",
    "log_accesses",
    "log_pieces",
    "part_reader",
    "session_accesses",
    "trace_in_memory",
]
