"""Bodies that are far larger, or far more work, than they look."""

from __future__ import annotations

import struct
import zlib
from functools import cache

import brotli
import zstandard

from benchmarks.chaos.behaviours import PAGE


def _repeated(packer: zlib._Compress) -> bytes:
    """A gigabyte: after a full flush a block does not look back, so it can be said again."""
    start = packer.compress(PAGE) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b"x" * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + block * 1_000


@cache
def gzip_bomb() -> bytes:
    """A gigabyte in a megabyte."""
    return _repeated(zlib.compressobj(9, wbits=31))


@cache
def deflate_bomb() -> bytes:
    """The same without gzip's header."""
    return _repeated(zlib.compressobj(9))


@cache
def brotli_bomb() -> bytes:
    """100 MB in less than a kilobyte."""
    packer = brotli.Compressor(quality=2)
    pieces = [packer.process(PAGE)]
    pieces += [packer.process(b"x" * 4_000_000) for _ in range(25)]
    return b"".join([*pieces, packer.finish()])


@cache
def zstd_bomb(megabytes: int = 4096) -> bytes:
    """Run-length blocks by hand: each four bytes become 128 KB."""
    size = 128 * 1024
    raw = struct.pack("<I", len(PAGE) << 3)[:3] + PAGE
    run = struct.pack("<I", (size << 3) | (1 << 1))[:3] + b"x"
    last = struct.pack("<I", (1 << 3) | 1)[:3] + b"x"
    return b"\x28\xb5\x2f\xfd\x00\x50" + raw + run * (megabytes * 8) + last


@cache
def wide_zstd() -> bytes:
    """A page that wants a window of 128 MB."""
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return bytes(packer.compress(PAGE) + packer.flush())


@cache
def greedy_robots() -> bytes:
    """Many robots in one group with many rules: a parser may keep their product."""
    agents = b"".join(b"User-agent: %x\n" % number for number in range(15_000))
    rules = b"".join(b"Disallow: /%x\n" % number for number in range(15_000))
    return agents + rules


def make_bombs() -> None:
    """Make those that take long now, before the clock of any time-out runs."""
    gzip_bomb(), deflate_bomb(), brotli_bomb()
