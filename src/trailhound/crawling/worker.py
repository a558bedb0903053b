"""A worker process, seen from inside: it analyses pages until its parent is gone.

Messages are msgpack with their length in front. The first that a worker sends tells how it started,
and each later one answers the oldest job that it has not answered. It owns nothing that could be
lost; when its parent is gone, however that happened, so is the other end of the socket, and it ends
too. What is imported here, each worker loads when it starts.
"""

from __future__ import annotations

import gc
import socket
import struct
from typing import BinaryIO

import msgspec
from threadpoolctl import threadpool_limits

from trailhound.crawling.analysis import Analysis, Analyst, AnalystRecipe, PageJob, note_failure
from trailhound.crawling.processes import beside_the_limit, limit_memory
from trailhound.errors import plugin_faults
from trailhound.signals import leave_signals_to_parent
from trailhound.text import language
from trailhound.text.extract import extract_page

LENGTH = struct.Struct("<I")
"""In front of every message: how many bytes follow."""

_SOME_PAGE = b"<html lang=en><p>The table of a language is read when it is first needed.</p>"

_encoder = msgspec.msgpack.Encoder()
_job_decoder = msgspec.msgpack.Decoder(PageJob)


def serve(connection: socket.socket, recipe: AnalystRecipe, memory_bytes: int | None) -> None:
    """Run a worker that may take so much memory for a page."""
    leave_signals_to_parent()
    # One thread: the matrices are small, and the cores have workers of their own.
    with connection, threadpool_limits(limits=1):
        analyst, start = _start(recipe)
        gc.freeze()  # model and memos stay: looking through them for garbage would be in vain
        try:
            _send(connection, _encoder.encode(start))
            if analyst is not None:
                language.loading = beside_the_limit
                if memory_bytes is not None and limit_memory(memory_bytes):
                    analyst.apart = None
                _answer_jobs(connection, analyst)
        except ConnectionError:
            return


def _start(recipe: AnalystRecipe) -> tuple[Analyst | None, Analysis]:
    """The analyst, and an empty analysis that tells of the failure if there is none."""
    start = Analysis()
    try:
        # What nearly every page needs is read from disk now: the first has to be in time as well.
        # What guesses languages is not, it takes 0.7 s: most pages say their own.
        extract_page(_SOME_PAGE, "http://example.org/")
        return recipe(), start
    except plugin_faults() as error:
        note_failure(start, error)
        return None, start


def _answer_jobs(connection: socket.socket, analyst: Analyst) -> None:
    with connection.makefile("rb") as jobs:
        while (message := _receive(jobs)) is not None:
            _send(connection, _encoded(analyst.analyse(_job_decoder.decode(message))))


def _encoded(analysis: Analysis) -> bytes:
    try:
        return _encoder.encode(analysis)
    except Exception as error:  # text that UTF-8 cannot carry
        failed = Analysis()
        note_failure(failed, error)
        return _encoder.encode(failed)


def _receive(jobs: BinaryIO) -> bytes | None:
    """The next message; ``None`` when the other end is gone."""
    header = jobs.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    message = jobs.read(length)
    return message if len(message) == length else None


def _send(connection: socket.socket, message: bytes) -> None:
    connection.sendall(LENGTH.pack(len(message)) + message)
