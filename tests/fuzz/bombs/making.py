"""Large documents out of small parts, made in little time and not much more memory than they take."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

MB = 1024 * 1024


def filled(beginning: bytes, more: bytes, size: int, end: bytes = b"") -> bytes:
    return beginning + more * ((size - len(beginning) - len(end)) // len(more)) + end


def numbered(beginning: bytes, more: bytes, count: int, end: bytes = b"") -> bytes:
    return beginning + b"".join(more % number for number in range(count)) + end


def zipped(chunks: Iterator[bytes], layers: int = 1) -> bytes:
    """Return packed data without ever holding what it stands for."""
    for _ in range(layers):
        packer = zlib.compressobj(1, wbits=31)
        chunks = iter([b"".join([*(packer.compress(chunk) for chunk in chunks), packer.flush()])])
    return next(chunks)


def gigabyte() -> bytes:
    """Return a gigabyte of zeros, packed: members of 16 MB that follow each other."""
    return gzip.compress(bytes(16 * MB), mtime=0) * 64


def zeros(size: int, byte: bytes = b"\0") -> Iterator[bytes]:
    yield from (byte * MB for _ in range(size // MB))


def chained(beginning: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield beginning
    yield from rest
