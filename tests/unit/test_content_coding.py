from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from trailhound.fetching.content_coding import CodingError, decoder_for


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "X-GZIP ": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "br": lambda data: brotli.compress(data, quality=2),
    "zstd": zstandard.compress,
}


def unpack(coding: str, data: bytes, chunk: int) -> bytes:
    out = bytearray()
    decoder = decoder_for(coding, out.extend)
    assert decoder is not None
    for start in range(0, len(data), chunk):
        decoder.feed(data[start : start + chunk])
    decoder.finish()
    return bytes(out)


@given(st.sampled_from(sorted(PACKERS)), st.binary(max_size=3000), st.integers(1, 999))
def test_what_was_packed_comes_out_in_chunks_of_any_size(
    coding: str, data: bytes, chunk: int
) -> None:
    assert unpack(coding, PACKERS[coding](data), chunk) == data


@pytest.mark.parametrize("coding", PACKERS)
def test_large_bodies_come_out_whole_and_in_pieces(coding: str) -> None:
    data = b"<p>bees " * 500_000
    sizes: list[int] = []
    decoder = decoder_for(coding, lambda piece: sizes.append(len(piece)))
    assert decoder is not None
    decoder.feed(PACKERS[coding](data))
    decoder.finish()
    assert sum(sizes) == len(data)
    assert max(sizes) <= 8 * 1024 * 1024


@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("zstd", zstandard.compress)]
)
@pytest.mark.parametrize("chunk", [1, 7, 10_000])
def test_concatenated_streams_are_one_body(coding: str, pack: object, chunk: int) -> None:
    assert callable(pack)
    assert unpack(coding, pack(b"one ") + pack(b"") + pack(b"two"), chunk) == b"one two"


@pytest.mark.parametrize("chunk", [1, 10_000])
def test_padding_after_gzip_is_ignored(chunk: int) -> None:
    assert unpack("gzip", gzip.compress(b"body") + bytes(40), chunk) == b"body"


@pytest.mark.parametrize("coding", PACKERS)
def test_an_empty_body_is_empty(coding: str) -> None:
    assert unpack(coding, b"", 1) == b""


@pytest.mark.parametrize("coding", PACKERS)
def test_a_body_that_breaks_off_is_an_error(coding: str) -> None:
    with pytest.raises(CodingError):
        unpack(coding, PACKERS[coding](b"some words " * 50)[:-5], 10)


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate"])
def test_a_body_that_is_not_packed_is_an_error(coding: str) -> None:
    with pytest.raises(CodingError):
        unpack(coding, b"<!doctype html><p>plain", 100)


@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("zstd", zstandard.compress)]
)
def test_thousands_of_empty_streams_are_an_error(coding: str, pack: object) -> None:
    assert callable(pack)
    with pytest.raises(CodingError, match="more than 1000"):
        unpack(coding, pack(b"") * 1001, 10_000)


@pytest.mark.parametrize(
    "coding",
    [
        "",
        "identity",
        " Identity ",
        ",",
        "UTF-8",
        "none",
        "aws-chunked",
        "ISO-8859-1",
        "none,,utf-8",
    ],
)
def test_plain_bodies_need_no_decoder(coding: str) -> None:
    assert decoder_for(coding, bytearray().extend) is None


@pytest.mark.parametrize("coding", ["gzip,", "gzip, identity", "aws-chunked,GZIP", " x-gzip"])
def test_what_packs_nothing_is_left_out(coding: str) -> None:
    assert unpack(coding, gzip.compress(b"Bees."), 4) == b"Bees."


@pytest.mark.parametrize("coding", ["klingon", "gzip, br", "compress", "gzip, gzip", "utf-9"])
def test_unknown_codings_are_errors(coding: str) -> None:
    with pytest.raises(CodingError, match="not known"):
        decoder_for(coding, bytearray().extend)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_receiver_that_has_enough_ends_it(coding: str) -> None:
    class EnoughError(Exception):
        pass

    received = 0

    def receive(piece: bytes) -> None:
        nonlocal received
        received += len(piece)
        if received > 1_000_000:
            raise EnoughError

    decoder = decoder_for(coding, receive)
    assert decoder is not None
    with pytest.raises(EnoughError):
        decoder.feed(PACKERS[coding](bytes(50_000_000)))
    assert received <= 10_000_000
