"""A worker process: analyses the pages that come through its socket until the socket ends.

Messages are msgpack with their length in front. The first that a worker sends tells how it started,
and each later one answers the oldest job that it has not answered. A worker owns nothing that
could be lost; when its parent is gone, however that happened, so is the other end of the socket,
and the worker ends too.
"""

from __future__ import annotations

import gc
import signal
import socket
import struct
from typing import BinaryIO

import msgspec
from threadpoolctl import threadpool_limits

from trailhound.crawling.analysis import Analysis, Analyst, AnalystRecipe, PageJob, note_failure

LENGTH = struct.Struct("<I")
"""In front of every message: how many bytes follow."""

encoder = msgspec.msgpack.Encoder()
_job_decoder = msgspec.msgpack.Decoder(PageJob)


def serve(connection: socket.socket, recipe: AnalystRecipe) -> None:
    """Run a worker."""
    # Ctrl-C reaches every process of the terminal; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # One thread: the matrices are small, and the cores have workers of their own.
    with connection, threadpool_limits(limits=1):
        analyst, start = _start(recipe)
        gc.freeze()  # model and memos stay: looking through them for garbage would be in vain
        try:
            _send(connection, encoder.encode(start))
            if analyst is not None:
                _answer_jobs(connection, analyst)
        except ConnectionError:
            return


def _start(recipe: AnalystRecipe) -> tuple[Analyst | None, Analysis]:
    """The analyst, and an empty analysis that tells of the failure if there is none."""
    start = Analysis()
    try:
        return recipe(), start
    except Exception as error:
        note_failure(start, error)
        return None, start


def _answer_jobs(connection: socket.socket, analyst: Analyst) -> None:
    with connection.makefile("rb") as jobs:
        while (message := _receive(jobs)) is not None:
            _send(connection, _encoded(analyst.analyse(_job_decoder.decode(message))))


def _encoded(analysis: Analysis) -> bytes:
    try:
        return encoder.encode(analysis)
    except Exception as error:  # text that UTF-8 cannot carry
        failed = Analysis()
        note_failure(failed, error)
        return encoder.encode(failed)


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
