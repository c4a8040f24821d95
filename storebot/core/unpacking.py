"""Unpack a response body that was sent with Content-Encoding, never to more than a bound (case J03).

A body of 10 MB can stand for 2 GB of zeros. What has unpacked too far, broke off or isn't what its header says is an
error with a name: half a page would be read as one that lost its price.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence

import brotli

from storebot.exceptions import AnswerBroken, AnswerTooLarge

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CODINGS = ("gzip", "deflate", "br", "zstd")  # what may be asked for
MAX_LAYERS = 3  # a body is packed once; twice where two servers disagree
MAX_MEMBERS = 1_000  # gzip and zstd bodies may be several in a row
_SLICE = 64 * 1024  # read and made at once
_WINDOW_LOG = 23  # 8 MB, the most that a body may want to be kept: https://www.rfc-editor.org/rfc/rfc9659
_GZIP, _GZIP_BITS = b"\x1f\x8b", 31  # its magic number; zlib is to expect its header
_SYNONYMS = {"x-gzip": "gzip", "identity": "", "": ""}


def codings_of(header: str) -> tuple[list[str], list[str]]:
    """Return the codings of a Content-Encoding header: those to undo, the last one first, and those that stay.

    From the first unknown one on, all stay: servers send names there that are no coding, such as "utf-8".
    """
    named = [_SYNONYMS.get(name, name) for name in (part.strip().lower() for part in header.split(","))]
    left = [name for name in named if name]
    undone: list[str] = []
    while left and left[-1] in CODINGS:
        undone.append(left.pop())
    return undone, left


def unpacked(body: bytes, codings: Sequence[str], max_bytes: int) -> bytes:
    """Return a body without these codings, of which each step may have ``max_bytes``.

    Raises AnswerTooLarge beyond that, and AnswerBroken for a body that breaks off, isn't packed so, or has more than
    three layers.
    """
    if len(codings) > MAX_LAYERS:
        raise AnswerBroken(f"its body is packed {len(codings)} times ({', '.join(reversed(codings))})")
    for coding in codings:
        body = _joined(_PIECES[coding](body), coding, max_bytes) if body else body
    return body


def _joined(pieces: Iterator[bytes], coding: str, max_bytes: int) -> bytes:
    parts, size = [], 0
    try:
        for piece in pieces:
            parts.append(piece)
            size += len(piece)
            if size > max_bytes:
                raise AnswerTooLarge(f"its body has more than {max_bytes:,} bytes when unpacked from {coding}")
    except (zlib.error, brotli.error, zstd.ZstdError) as error:
        raise AnswerBroken(f"its body isn't what it says, {coding}: {error}") from error
    return b"".join(parts)


def _gzip(body: bytes) -> Iterator[bytes]:
    at = 0
    for _ in range(MAX_MEMBERS):
        at = yield from _inflated(body, at, "gzip", _GZIP_BITS)
        if not body.startswith(_GZIP, at):  # what follows and is no member is padding, as to browsers
            return
    raise AnswerBroken(f"its body has more than {MAX_MEMBERS:,} members of gzip")


def _deflate(body: bytes) -> Iterator[bytes]:
    """Unpack with the header of zlib, as RFC 9110 has it, or without, as some servers do."""
    zlibbed = body[0] & 15 == zlib.DEFLATED and int.from_bytes(body[:2], "big") % 31 == 0
    yield from _inflated(body, 0, "deflate", zlib.MAX_WBITS if zlibbed else -zlib.MAX_WBITS)


def _inflated(body: bytes, at: int, coding: str, bits: int) -> Generator[bytes, None, int]:
    """Yield what begins at a place of the body, and return where it ends."""
    unpacker = zlib.decompressobj(bits)
    while at < len(body) and not unpacker.eof:
        piece = body[at : at + _SLICE]
        at += len(piece)
        yield unpacker.decompress(piece, _SLICE)
        while unpacker.unconsumed_tail and not unpacker.eof:
            yield unpacker.decompress(unpacker.unconsumed_tail, _SLICE)
    while not unpacker.eof and (rest := unpacker.decompress(b"", _SLICE)):
        yield rest
    if not unpacker.eof:
        raise _breaks_off(coding)
    return at - len(unpacker.unused_data)


def _zstd(body: bytes) -> Iterator[bytes]:
    at = 0
    for _ in range(MAX_MEMBERS):
        unpacker = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW_LOG})
        while at < len(body) and not unpacker.eof:
            piece = body[at : at + _SLICE]
            at += len(piece)
            yield unpacker.decompress(piece, _SLICE)
            while not (unpacker.needs_input or unpacker.eof):
                yield unpacker.decompress(b"", _SLICE)
        if not unpacker.eof:
            raise _breaks_off("zstd")
        at -= len(unpacker.unused_data)
        if at == len(body):
            return
    raise AnswerBroken(f"its body has more than {MAX_MEMBERS:,} members of zstd")


def _brotli(body: bytes) -> Iterator[bytes]:
    unpacker = brotli.Decompressor()
    for at in range(0, len(body), _SLICE):
        yield unpacker.process(body[at : at + _SLICE], output_buffer_limit=_SLICE)
        while not (unpacker.can_accept_more_data() or unpacker.is_finished()):
            yield unpacker.process(b"", output_buffer_limit=_SLICE)
        if unpacker.is_finished():
            return
    while rest := unpacker.process(b"", output_buffer_limit=_SLICE):
        yield rest
    if not unpacker.is_finished():
        raise _breaks_off("br")


def _breaks_off(coding: str) -> AnswerBroken:
    return AnswerBroken(f"its body breaks off before the end of its {coding}")


_PIECES: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
