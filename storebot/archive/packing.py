"""Bodies made small: zstd with pages of the same store as its dictionary."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

import zstandard

from storebot.archive.dictionary import Learner, compressor_of
from storebot.items import KeptPage, PackedPage

_DICTIONARY_LEVEL = 6  # once a store

# What a parser, a reader of the archive or a WARC tool may ask for. Everything else goes, above all cookies and
# credentials. The body is kept as it was decoded, so what describes its transfer would be untrue (case K04).
HEADERS = (
    "content-type",
    "content-language",
    "etag",
    "last-modified",
    "date",
    "cache-control",
    "expires",
    "age",
    "vary",
    "link",
    "server",
    "x-robots-tag",
    "retry-after",
)


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return those of a response's headers (by lower-case name) that may be kept."""
    return {name: value for name in HEADERS if (value := headers.get(name))}


class Packer:
    """Packs the bodies of one store; learns its dictionary from the first pages, and anew after a redesign.

    ``unwritten`` are the dictionaries that the archive doesn't have yet, by name: whoever writes the first page that
    needs one takes it out. Not safe for use by two threads at once, but for that.
    """

    def __init__(self) -> None:
        self.unwritten: dict[bytes, bytes] = {}
        self._of_type: dict[str, Learner] = {}

    def pack(self, page: KeptPage) -> PackedPage:
        """Compress one page. The first of a type go without a dictionary, and become it."""
        learner = self._of_type.setdefault(page.page_type, Learner())
        name, packed = learner.name, _alone(learner.compressor.compress(page.body))
        learner.note(page.body, len(packed))
        if learner.name != name:
            self.unwritten[learner.name] = learner.dictionary
        return PackedPage(_bare(page), hashlib.sha256(page.body).digest(), len(page.body), packed, name)

    def resume(self, page_type: str, dictionary: bytes) -> None:
        """Go on with a dictionary that the archive has."""
        self._of_type[page_type] = Learner(dictionary)


def _alone(packed: bytes) -> bytes:
    """Return a copy: zstandard cuts its result down from a buffer of the size of the page, and the rest of that buffer
    is a hole in the memory that no page fits into again. In a crawl that was 20 MB.
    """
    return bytes(memoryview(packed))


class Unpacker:
    """Gives bodies back; keeps a decompressor for each dictionary that it met.

    ``dictionary`` returns one by its name, and raises ValueError where it can't.
    """

    def __init__(self, dictionary: Callable[[bytes], bytes]) -> None:
        self._dictionary = dictionary
        self._by_name: dict[bytes, zstandard.ZstdDecompressor] = {}

    def unpack(self, packed: bytes, name: bytes, size: int) -> bytes:
        """Return the body. Raises ValueError where what is kept can't be read."""
        if name not in self._by_name:
            self._by_name[name] = _decompressor(self._dictionary(name) if name else b"")
        try:
            body = self._by_name[name].decompress(packed, max_output_size=size)
        except zstandard.ZstdError as error:
            raise ValueError(f"it can't be decompressed: {error}") from error
        if len(body) != size:
            raise ValueError(f"it holds {len(body)} of {size} bytes")
        return body


def _decompressor(dictionary: bytes) -> zstandard.ZstdDecompressor:
    if not dictionary:
        return zstandard.ZstdDecompressor()
    raw = zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdDecompressor(dict_data=raw)


def shrunk(dictionary: bytes) -> bytes:
    """Return a dictionary as it's kept: pages of one store, so a twentieth of their size."""
    return compressor_of(b"", _DICTIONARY_LEVEL).compress(dictionary)


def grown(kept: bytes) -> bytes:
    """Return the dictionary that `shrunk` made small. Raises ValueError for anything else."""
    try:
        return zstandard.ZstdDecompressor().decompress(kept)
    except zstandard.ZstdError as error:
        raise ValueError(f"a dictionary can't be decompressed: {error}") from error


def _bare(page: KeptPage) -> KeptPage:
    """Return the page without its body, and without what must not be kept: cookies, credentials, transfer headers."""
    return replace(
        page,
        body=b"",
        url=without_credentials(page.url),
        final_url=without_credentials(page.final_url),
        headers=kept_headers(page.headers),
    )


def without_credentials(url: str) -> str:
    """Return a URL without the ``user:password@`` that it may have."""
    if "@" not in url:
        return url
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
