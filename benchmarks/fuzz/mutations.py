"""Inputs made of others: bent in a few places, or swollen by repeating one of their pieces."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

_ODD_BYTES = (
    *(b"\0", b"\xff", b"\x80", b"\n", b"\r\n", b" ", b'"', b"\\", b"<", b"</", b"<!--", b"{", b"["),
    *(
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x1f\x8b\x08",
        b"PK\x03\x04",
        b"%",
        b"9" * 30,
    ),
)


def mutated(rng: Random, data: bytes) -> bytes:
    """``data`` with one to eight stretches deleted, repeated, replaced, moved or cut off."""
    body = bytearray(data)
    for _ in range(rng.randrange(1, 9)):
        start = rng.randrange(len(body) + 1)
        stretch = bytes(body[start : start + rng.randrange(1, 30)])
        end = start + len(stretch)
        match rng.randrange(7):
            case 0:
                del body[start:end]
            case 1:
                body[start:start] = stretch * rng.randrange(1, 5)
            case 2:
                body[start:end] = rng.randbytes(len(stretch))
            case 3:
                body[start:start] = rng.choice(_ODD_BYTES)
            case 4:
                other = rng.randrange(len(body) + 1)
                body[other:other] = stretch
            case 5 if body:
                body[min(start, len(body) - 1)] ^= 1 << rng.randrange(8)
            case _ if rng.random() < 0.2:
                del body[start:]
    return bytes(body)


@dataclass(frozen=True)
class Swollen:
    """An input of any size: a piece of it may be repeated as often as one likes."""

    head: bytes
    piece: bytes
    tail: bytes = b""

    def of_size(self, size: int) -> bytes:
        """About ``size`` bytes; ``#`` in the piece is a running number of six digits."""
        count = max(1, (size - len(self.head) - len(self.tail)) // max(1, len(self.piece)))
        if b"######" in self.piece:
            before, _, after = self.piece.partition(b"######")
            middle = b"".join(b"%b%06d%b" % (before, number, after) for number in range(count))
        else:
            middle = self.piece * count
        return self.head + middle + self.tail


def swollen(rng: Random, data: bytes) -> Swollen:
    """A stretch of ``data``, two of them, or an odd byte, to be repeated where it stands."""
    start = rng.randrange(len(data) + 1)
    end = start + rng.choice((1, 2, 4, 8, 16, 32, 64, 128))
    piece = data[start:end]
    if rng.random() < 0.3:
        piece += rng.choice(_ODD_BYTES)
    return Swollen(data[:start], piece or b" ", data[end:] if rng.random() < 0.8 else b"")
