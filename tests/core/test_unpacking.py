"""A packed body is unpacked as far as a bound, and one that isn't whole is an error, never a shorter page."""

from __future__ import annotations

import gzip
import sys
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.unpacking import CODINGS, MAX_LAYERS, codings_of, unpacked
from storebot.exceptions import AnswerBroken, AnswerTooLarge

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MB = 1024 * 1024
PAGE = b"<html>" + b"<p>Fired twice, glazed by hand.</p>" * 20_000 + b"</html>"


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda body: bytes(brotli.compress(body, quality=4)),
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("coding", CODINGS)
def test_a_packed_body_comes_out_as_it_was(coding: str) -> None:
    assert unpacked(PACK[coding](PAGE), [coding], MB) == PAGE
    assert unpacked(b"", [coding], MB) == b""


@pytest.mark.parametrize("coding", CODINGS)
@given(body=st.binary(min_size=1, max_size=200_000), room=st.integers(0, 3))
def test_any_body_comes_out_as_it_was_or_is_too_large(coding: str, body: bytes, room: int) -> None:
    packed = PACK[coding](body)
    assert unpacked(packed, [coding], len(body) + room) == body
    with pytest.raises(AnswerTooLarge):
        unpacked(packed, [coding], len(body) - 1)


def test_deflate_without_its_header_is_read_too() -> None:
    assert unpacked(raw_deflate(PAGE), ["deflate"], MB) == PAGE


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_members_in_a_row_are_one_body(coding: str) -> None:
    pack = PACK[coding]
    assert unpacked(pack(b"first ") + pack(b"second"), [coding], MB) == b"first second"
    with pytest.raises(AnswerBroken, match="more than 1,000 members"):
        unpacked(pack(b"") * 1_001, [coding], MB)


def test_padding_after_gzip_is_ignored() -> None:
    assert unpacked(gzip.compress(PAGE) + b"\0" * 512, ["gzip"], MB) == PAGE


@pytest.mark.parametrize("coding", CODINGS)
def test_a_bomb_is_given_up_at_the_bound(coding: str) -> None:
    """Case J03: ten megabytes of gzip stand for gigabytes; what is over the bound is never made."""
    bomb = PACK[coding](bytes(100 * MB))
    tracemalloc.start()
    with pytest.raises(AnswerTooLarge, match=f"more than 8,388,608 bytes when unpacked from {coding}"):
        unpacked(bomb, [coding], 8 * MB)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 24 * MB


def test_bombs_in_bombs_are_bounded_at_each_layer() -> None:
    bomb = gzip.compress(gzip.compress(bytes(100 * MB)))
    with pytest.raises(AnswerTooLarge):
        unpacked(bomb, ["gzip", "gzip"], 8 * MB)
    with pytest.raises(AnswerBroken, match=r"packed 4 times \(br, gzip, gzip, gzip\)"):
        unpacked(bomb, ["gzip", "gzip", "gzip", "br"], 8 * MB)
    assert MAX_LAYERS == 3


@pytest.mark.parametrize("coding", CODINGS)
def test_a_body_that_breaks_off_is_no_page(coding: str) -> None:
    packed = PACK[coding](PAGE)
    for length in (1, 3, len(packed) // 2, len(packed) - 1):
        with pytest.raises(AnswerBroken):
            unpacked(packed[:length], [coding], MB)


@pytest.mark.parametrize("coding", CODINGS)
def test_a_body_that_is_not_packed_is_not_what_its_header_says(coding: str) -> None:
    with pytest.raises(AnswerBroken):
        unpacked(b"<!DOCTYPE html><html><body>Not packed at all</body></html>", [coding], MB)


def test_a_window_of_more_than_8_mb_is_not_kept_for_a_body() -> None:
    """RFC 9659: a client need not keep more."""
    packed = zstd.compress(bytes(64 * MB), options={zstd.CompressionParameter.window_log: 26})
    with pytest.raises(AnswerBroken, match="isn't what it says, zstd"):
        unpacked(packed, ["zstd"], 128 * MB)


@pytest.mark.parametrize(
    ("header", "undone", "left"),
    [
        ("gzip", ["gzip"], []),
        ("X-GZIP", ["gzip"], []),
        ("deflate, gzip", ["gzip", "deflate"], []),
        ("identity", [], []),
        ("", [], []),
        ("utf-8", [], ["utf-8"]),
        ("gzip, none", [], ["gzip", "none"]),
        ("none, br", ["br"], ["none"]),
    ],
)
def test_codings_are_undone_from_the_last_to_the_first_unknown(header: str, undone: list[str], left: list[str]) -> None:
    assert codings_of(header) == (undone, left)
