"""How records become bytes in a corpus: MessagePack, compressed with zstd.

Each frame carries a checksum, so a flipped bit is noticed when the record is read.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import zstandard

from trailhound.lab.corpora.trails import Trail
from trailhound.records import Page
from trailhound.sessions.events import Session

IntArray = npt.NDArray[np.int32]

# Level 9 costs 1 ms for a page of 40 KB, a small part of extracting it; above, size barely falls.
COMPRESSION_LEVEL = 9

# Sorted keys: the same page gives the same bytes, whatever order its terms were counted in.
_encoder = msgspec.msgpack.Encoder(order="deterministic")
_page_decoder = msgspec.msgpack.Decoder(Page)
_trails_decoder = msgspec.msgpack.Decoder(tuple[Trail, ...])
_session_decoder = msgspec.msgpack.Decoder(Session)

UNPACKING_ERRORS = (zstandard.ZstdError, msgspec.MsgspecError, ValueError)
"""What the functions below raise for damaged bytes."""


def encode(record: Page | Session | Sequence[Trail]) -> bytes:
    """One record as MessagePack, byte for byte the same on every machine."""
    return _encoder.encode(record)


class Packer:
    """Compresses; one per thread or process."""

    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL, write_checksum=True)

    def pack(self, data: bytes) -> bytes:
        """``data`` as one zstd frame."""
        return self._compressor.compress(data)

    def pack_array(self, array: IntArray) -> bytes:
        """An int32 array, little-endian."""
        return self.pack(array.astype("<i4").tobytes())


class Unpacker:
    """Decompresses and decodes; one per thread or process."""

    def __init__(self) -> None:
        self._decompressor = zstandard.ZstdDecompressor()

    def unpack(self, frame: bytes) -> bytes:
        """The bytes inside a frame."""
        return self._decompressor.decompress(frame)

    def page(self, frame: bytes) -> Page:
        """A page record."""
        return _page_decoder.decode(self.unpack(frame))

    def trails(self, frame: bytes) -> tuple[Trail, ...]:
        """A block of trails."""
        return _trails_decoder.decode(self.unpack(frame))

    def session(self, frame: bytes) -> Session:
        """A browsing session."""
        return _session_decoder.decode(self.unpack(frame))

    def array(self, frame: bytes) -> IntArray:
        """An int32 array."""
        return np.frombuffer(self.unpack(frame), dtype="<i4").astype(np.int32, copy=False)
