"""Undoes ``Content-Encoding`` piece by piece, so that a small body cannot become a huge one.

A decoder is fed what arrives and hands on what it unpacks in pieces of bounded size; the receiver
raises as soon as it has had enough.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import Protocol

import brotli
import zstandard

_PIECE_BYTES = 65_536
_MAX_MEMBERS = 1_000  # of concatenated gzip members or zstd frames; pages have one
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAX_WINDOW_BYTES = 8 * 1024 * 1024  # RFC 9659: what a recipient must support
# The library has no limit on its output, but four bytes unpack to 128 KB at most (an RLE block),
# so that this much input cannot give more than 8 MB at once.
_ZSTD_SLICE_BYTES = 256

_MAX_CHARS = 1_000
# What servers send of a body that is not packed: nothing, how a cloud stored it, or a charset.
_NO_CODING = re.compile(
    r"identity|none|null|plain|text|binary|[78]bit|aws-chunked|utf-?(?:8|16)|(?:us-)?ascii"
    r"|iso-8859-[0-9]{1,2}|windows-125[0-9]"
)

Receiver = Callable[[bytes], None]


class CodingError(Exception):
    """A body is not encoded as its header says."""


class Decoder(Protocol):
    """Unpacks one body."""

    def feed(self, data: bytes) -> None:
        """Unpack ``data`` and hand on the result."""
        ...

    def finish(self) -> None:
        """Raise :class:`CodingError` if the body broke off."""
        ...


def decoder_for(coding: str, receiver: Receiver) -> Decoder | None:
    """The decoder for a ``Content-Encoding`` header; ``None`` when nothing is to be undone."""
    said = (each.strip().lower() for each in coding[:_MAX_CHARS].split(","))
    name = ",".join(each for each in said if each and not _NO_CODING.fullmatch(each))
    if not name:
        return None
    if name in ("gzip", "x-gzip"):
        return GzipDecoder(receiver)
    if name == "deflate":
        return _DeflateDecoder(receiver)
    if name == "br":
        return _BrotliDecoder(receiver)
    if name == "zstd":
        return _ZstdDecoder(receiver)
    raise CodingError(f"the content encoding {coding[:100]!r} is not known")


def _inflate(inflater: zlib._Decompress, data: bytes, receiver: Receiver) -> None:
    """Unpack ``data`` as far as the stream goes, in bounded pieces."""
    try:
        while True:
            piece = inflater.decompress(data, _PIECE_BYTES)
            if piece:
                receiver(piece)
            data = inflater.unconsumed_tail
            # A full piece may have left output behind, even with all input taken. At the stream's
            # end zlib may go on to name a tail that it has handed over as unused data.
            if inflater.eof or (not data and len(piece) < _PIECE_BYTES):
                return
    except zlib.error as error:
        raise CodingError(str(error)) from error


class GzipDecoder:
    """One or more members; what follows them and is none is ignored, as browsers do."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
        self._members = 1
        self._started = False
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Unpack ``data`` and hand on the result."""
        self._started = self._started or bool(data)
        while data:
            if self._inflater.eof:
                data = self._rest + data
                if not self._next_member(data):
                    return
            _inflate(self._inflater, data, self._receiver)
            data = self._inflater.unused_data

    def _next_member(self, data: bytes) -> bool:
        """Whether another member starts here; a single byte may be the start of one."""
        self._rest = data[:1] if len(data) < 2 else b""
        if not data.startswith(_GZIP_MAGIC):
            return False
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise CodingError(f"more than {_MAX_MEMBERS} gzip members")
        self._inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
        return True

    def finish(self) -> None:
        """Raise :class:`CodingError` if the body broke off."""
        if self._started and not self._inflater.eof:
            raise CodingError("the gzip stream breaks off")


class _DeflateDecoder:
    """The zlib format of the standard, or the bare stream that some servers send instead."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._inflater: zlib._Decompress | None = None

    def feed(self, data: bytes) -> None:
        if self._inflater is None and data:
            # RFC 1950: the low bits of a zlib header are 8.
            is_zlib = data[0] & 0x0F == 8
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
        if self._inflater is not None and not self._inflater.eof:
            _inflate(self._inflater, data, self._receiver)

    def finish(self) -> None:
        if self._inflater is not None and not self._inflater.eof:
            raise CodingError("the deflate stream breaks off")


class _BrotliDecoder:
    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._decoder = brotli.Decompressor()
        self._started = False

    def feed(self, data: bytes) -> None:
        self._started = self._started or bool(data)
        try:
            while not self._decoder.is_finished():
                piece = self._decoder.process(data, output_buffer_limit=_PIECE_BYTES)
                if not piece and self._decoder.can_accept_more_data():
                    return
                self._receiver(piece)
                data = b""
        except brotli.error as error:
            raise CodingError(str(error)) from error

    def finish(self) -> None:
        if self._started and not self._decoder.is_finished():
            raise CodingError("the brotli stream breaks off")


class _ZstdDecoder:
    """One or more frames."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_MAX_WINDOW_BYTES)
        self._frame = self._context.decompressobj()
        self._frames = 1
        self._started = False

    def feed(self, data: bytes) -> None:
        self._started = self._started or bool(data)
        try:
            for start in range(0, len(data), _ZSTD_SLICE_BYTES):
                self._unpack(data[start : start + _ZSTD_SLICE_BYTES])
        except zstandard.ZstdError as error:
            raise CodingError(str(error)) from error

    def _unpack(self, data: bytes) -> None:
        while data:
            if self._frame.eof:
                self._frames += 1
                if self._frames > _MAX_MEMBERS:
                    raise CodingError(f"more than {_MAX_MEMBERS} zstd frames")
                self._frame = self._context.decompressobj()
            piece = self._frame.decompress(data)
            if piece:
                self._receiver(piece)
            data = self._frame.unused_data

    def finish(self) -> None:
        if self._started and not self._frame.eof:
            raise CodingError("the zstd stream breaks off")
