"""The way from a sitemap's raw bytes to clean text, chunk by chunk: unpacked, decoded, made fit for an XML parser."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator

from storebot.exceptions import UnreadableSitemap

CHUNK_BYTES = 64 * 1024
MAX_LAYERS = 2  # "sitemap.xml.gz" sent with Content-Encoding: gzip by a server that zips it a second time
MENDED_AMPERSAND = "\ue000"  # a private-use character stands for a bare "&", so that its entry can be told

_LONGEST_TEXT = 1024 * 1024  # between two tags: a longer one is cut anywhere, so that no document is read twice over
_GZIP_MAGIC = b"\x1f\x8b"
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(rb"""<\?xml[^<>]*?encoding\s*=\s*["']([A-Za-z][\w.:-]*)["']""")
# What XML defines without a DTD. Every other reference reaches the parser as plain text: no entity is ever expanded.
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)")
_REFERENCE = re.compile(r"&(#(?:(\d{1,7})|x([0-9A-Fa-f]{1,6}));)")
_BARE_LESS_THAN = re.compile(r"<(?=[\s\d=<&])")  # no tag can begin so; left alone, it would swallow the next entry
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ue000]")  # https://www.w3.org/TR/xml/#charsets


class SitemapSource:
    """The text of one document in chunks of about 64 KB, in constant memory.

    Raises UnreadableSitemap while it is read: for data that doesn't unpack at all, more than two layers of gzip, and
    more than ``max_bytes`` of text. Data that stops in the middle sets ``truncated`` and ends the chunks.
    """

    def __init__(self, body: bytes, url: str, max_bytes: int) -> None:
        self.body, self.url, self.max_bytes = body, url, max_bytes
        self.truncated = False
        self.mended = False

    def iter_text(self) -> Iterator[str]:
        """Yield the document's text; the byte order mark is dropped."""
        decoder: _Decoder | None = None
        for chunk in self._capped(self._unpacked()):
            decoder = decoder or _Decoder(chunk)
            yield decoder.decode(chunk)
        if decoder is not None:
            yield decoder.decode(b"", final=True)
            self.mended = self.mended or decoder.guessed

    def iter_xml(self, texts: Iterator[str]) -> Iterator[str]:
        """Yield ``texts`` cut behind a ">", with bare ampersands replaced by `MENDED_AMPERSAND` outside CDATA."""
        rest, in_cdata = "", False
        for text in texts:
            whole, end, rest = (rest + text).rpartition(">")
            if len(rest) > _LONGEST_TEXT:
                whole, end, rest = whole + end + rest, "", ""
            if whole or end:
                mended, in_cdata = self._mend(whole + end, in_cdata)
                yield mended
        if rest.strip():
            yield self._mend(rest, in_cdata)[0]

    def _mend(self, text: str, in_cdata: bool) -> tuple[str, bool]:
        text, dropped = _ILLEGAL.subn("", text)
        self.mended = self.mended or dropped > 0
        parts: list[str] = []
        at = 0
        while at < len(text):
            mark = "]]>" if in_cdata else "<![CDATA["
            end = text.find(mark, at)
            part, mark = (text[at:], "") if end < 0 else (text[at:end], mark)
            at += len(part) + len(mark)
            if not in_cdata:
                part, signs = _BARE_LESS_THAN.subn("&lt;", part)
                part, bare = _BARE_AMPERSAND.subn(MENDED_AMPERSAND, part)
                if "&#" in part:
                    part = _REFERENCE.sub(_character, part)
                self.mended = self.mended or bare + signs > 0 or MENDED_AMPERSAND in part
            parts += part, mark
            in_cdata = in_cdata != bool(mark)
        return "".join(parts), in_cdata

    def _unpacked(self) -> Iterator[bytes]:
        chunks: Iterator[bytes] = (
            self.body[start : start + CHUNK_BYTES] for start in range(0, len(self.body), CHUNK_BYTES)
        )
        for layer in range(MAX_LAYERS + 1):
            first = next(chunks, b"")
            if not first.startswith(_GZIP_MAGIC):
                yield first
                yield from chunks
                return
            if layer == MAX_LAYERS:
                raise UnreadableSitemap(f"{self.url} is packed with gzip more than {MAX_LAYERS} times")
            chunks = self._gunzipped(first, chunks)

    def _gunzipped(self, first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
        """Yield what gzip data holds, never more than a chunk at once; members that follow each other are joined."""
        unzip, pending, found = zlib.decompressobj(wbits=31), first, False
        try:
            while pending:
                piece = unzip.decompress(pending, CHUNK_BYTES)
                pending = unzip.unconsumed_tail
                if piece:
                    found = True
                    yield piece
                if unzip.eof:
                    pending = unzip.unused_data or next(rest, b"")
                    if not pending.startswith(_GZIP_MAGIC[:1]):
                        return  # what follows the last member is padding
                    unzip = zlib.decompressobj(wbits=31)
                elif not pending:
                    pending = next(rest, b"")
        except zlib.error as error:
            if not found:
                raise UnreadableSitemap(f"{self.url} starts like gzip but can't be unpacked: {error}") from error
            self.truncated = True
            return
        self.truncated = True

    def _capped(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > self.max_bytes:
                raise UnreadableSitemap(f"{self.url} is too large: more than {self.max_bytes} bytes when unpacked")
            if chunk:
                yield chunk


def _character(reference: re.Match[str]) -> str:
    """Return a reference as it is, or as plain text where XML has no such character.

    libxml2 makes half a UTF-8 character of a lone surrogate, which lxml then can't read.
    """
    number = int(reference[2]) if reference[2] else int(reference[3], 16)
    fits = number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF and not _ILLEGAL.match(chr(number))
    return reference[0] if fits else MENDED_AMPERSAND + reference[1]


class _Decoder:
    """Decode as UTF-8 while that works, else as the document says: labels are wrong more often than UTF-8 is."""

    def __init__(self, head: bytes) -> None:
        bom, encoding = next(((bom, name) for bom, name in _BOMS if head.startswith(bom)), (b"", "utf-8"))
        self.guessed = False
        self._skip = len(bom)
        self._fallback = _declared_encoding(head)
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="strict" if encoding == "utf-8" else "replace")

    def decode(self, data: bytes, final: bool = False) -> str:
        data, self._skip = data[self._skip :], 0
        pending = self._decoder.getstate()[0]
        try:
            return self._decoder.decode(data, final).replace("\ufeff", "")
        except UnicodeDecodeError:
            # cp1252 stands behind most "iso-8859-1" and all unlabelled Western bytes: https://encoding.spec.whatwg.org/
            self.guessed = self._fallback == "utf-8"
            encoding = "cp1252" if self._fallback in ("utf-8", "iso8859-1", "ascii") else self._fallback
            self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
            return self._decoder.decode(pending + data, final)


def _declared_encoding(head: bytes) -> str:
    """Return Python's name of the encoding in the XML declaration; ``utf-8`` where there is none that Python knows."""
    declared = _DECLARED.search(head[:1024])
    try:
        info = codecs.lookup(declared[1].decode("ascii") if declared else "utf-8")
    except LookupError:
        return "utf-8"
    return info.name if info._is_text_encoding else "utf-8"
