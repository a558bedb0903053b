"""Who visited what: access logs, sessions and trails as an index on disk.

A log is read once and sorted in pieces, so that a hundred million accesses need no more memory than
a million; afterwards the index is mapped into memory and only what is asked for is read.
"""

from trailhound.sources.traces.building import PageAccess, build_trace, trace_in_memory
from trailhound.sources.traces.index import TraceIndex
from trailhound.sources.traces.keeping import (
    TraceSource,
    kept_trace,
    log_accesses,
    session_accesses,
)

__all__ = [
    "PageAccess",
    "TraceIndex",
    "TraceSource",
    "build_trace",
    "kept_trace",
    "log_accesses",
    "session_accesses",
    "trace_in_memory",
]
