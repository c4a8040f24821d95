"""Sitemap documents of any kind, read as a stream of entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple, cast
from urllib.parse import urljoin, urlsplit

from lxml import etree

from storebot.core.parsing.sitemap_elements import (
    ENTRY_TAGS,
    LINKS,
    MAX_ENTRY,
    MAX_GAP,
    SitemapKind,
    child_text,
    free_read,
    local_name,
)
from storebot.core.parsing.sitemap_source import MENDED_AMPERSAND, SitemapSource
from storebot.core.urls import MAX_URL
from storebot.exceptions import UnreadableSitemap

MAX_BYTES = 200 * 1024 * 1024  # unpacked; the protocol allows 50 MB: https://www.sitemaps.org/protocol.html#index
MAX_ENTRIES = 1_000_000  # the protocol allows 50,000

__all__ = ["SitemapEntry", "SitemapKind", "SitemapReading", "read_sitemap"]

_HEAD_CHARS = 256 * 1024  # the root element begins within these, licences in comments included
# Possessive, so that a hostile prolog costs one pass.
_PROLOG = re.compile(
    r"(?:\s++|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*+(?:\[.*?\]\s*+)?>)*+<(?:([\w.-]+):)?([\w.-]+)",
    re.DOTALL | re.IGNORECASE,
)
_LATE_START = re.compile(r"<\?xml\s|<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s>]")
_TITLE = re.compile(r"<title[^<>]*>\s*([^<]{1,80})", re.IGNORECASE)
_URL_LINE = re.compile(r"^[^\S\n]*+https?://\S++[^\S\n]*+$", re.MULTILINE | re.IGNORECASE)
_ABSOLUTE = re.compile(r"https?://[\w.-]+(?::\d{1,5})?(?:[/?][^\s\u200b\ufeff]*)?")
_LONGEST_LINE = 64 * 1024  # characters of a list of URLs; what is longer is none, and its end isn't waited for
_BREAKS = str.maketrans("", "", "\r\n\t\u200b\ufeff")


class SitemapEntry(NamedTuple):
    """One page, or one child sitemap of an index."""

    url: str  # absolute http(s), otherwise as written
    lastmod: str | None  # the document's own text; see `lastmod.lastmod_ms`


class SitemapReading:
    """One document being read: iterate its entries once, then ask what was wrong with it.

    ``taken`` entries were yielded. ``malformed`` ones weren't as the protocol wants them; of these, ``lost`` have no
    URL that can be used, the others were repaired. ``refused`` ones are well formed but ``same_site`` said no.
    """

    def __init__(
        self,
        source: SitemapSource,
        kind: SitemapKind,
        texts: Iterator[str],
        same_site: Callable[[str], bool] | None,
        max_entries: int,
        prefix: str = "",
    ) -> None:
        self.url = source.url
        self.kind = kind
        self.taken = self.malformed = self.lost = self.refused = 0
        self._source, self._texts, self._prefix = source, texts, prefix
        self._same_site, self._max_entries = same_site, max_entries
        self._errors = False
        self._whole = False

    @property
    def is_index(self) -> bool:
        """Whether the entries are sitemaps, to be read in their turn."""
        return self.kind is SitemapKind.INDEX

    @property
    def repaired(self) -> bool:
        """Whether the document broke the rules of its format and was read nevertheless."""
        return self._source.mended or self._errors or self.malformed > 0

    @property
    def incomplete(self) -> bool:
        """Whether entries may be missing: true until the last one was taken; what isn't here may not be called gone."""
        return not self._whole or self._source.truncated or self.lost > 0

    def iter_entries(self) -> Iterator[SitemapEntry]:
        """Yield the entries in document order, doubles included, in constant memory. Works once.

        Raises UnreadableSitemap where the document, or one entry, turns out too large while it's read.
        """
        found = self._text_entries() if self.kind is SitemapKind.TEXT else self._xml_entries()
        for entry in found:
            if self._same_site is not None and not self._same_site(entry.url):
                self.refused += 1
                continue
            if self.taken == self._max_entries:
                return
            self.taken += 1
            yield entry
        self._whole = self._whole or self.kind is SitemapKind.TEXT

    def _text_entries(self) -> Iterator[SitemapEntry]:
        for line in _lines(self._texts):
            if not line or line.startswith("#"):
                continue
            url = self._absolute(line) if _URL_LINE.match(line) else None
            if url:
                yield SitemapEntry(url, None)
            else:
                self.malformed += 1  # a remark, not an entry: nothing is lost with it

    def _xml_entries(self) -> Iterator[SitemapEntry]:
        parser = _parser(self.kind, self._prefix)
        wanted = ENTRY_TAGS[self.kind]
        root: etree._Element | None = None
        opened = closed = strays = gap = 0
        opening = re.compile(rf"<(?:[\w.-]+:)?{wanted}[\s>]")
        for text in self._source.iter_xml(self._texts):
            opened += len(opening.findall(text))
            gap += len(text)
            if gap > MAX_GAP:
                raise UnreadableSitemap(f"{self.url} has {gap:,} characters without an entry")
            parser.feed(text.encode("utf-8", "replace"))
            for event, element in cast("Iterable[tuple[str, etree._Element]]", parser.read_events()):
                if event == "start":
                    root = element if root is None else root
                elif local_name(element.tag) == wanted:
                    closed, gap = closed + 1, 0
                    entry = self._entry(element)
                    if entry is not None:
                        yield entry
                elif element is root:
                    self._whole = True
                elif local_name(element.tag) in ("url", "sitemap") and element.getparent() is root:
                    self._lose()  # <sitemap> in an urlset, <url> in an index: what the document means is unknown
            if root is not None:
                strays += max(0, len(root) - 1)
                if not free_read(root, wanted):
                    raise UnreadableSitemap(f"{self.url} has an entry of more than {MAX_ENTRY:,} elements")
        if root is not None:
            strays += len(root)
        self._errors = len(parser.feed_error_log) > 0
        if self._errors and opened > closed:
            self._lose(opened - closed)
        if not closed and not self.lost and strays and self.kind in (SitemapKind.URLSET, SitemapKind.INDEX):
            self._lose(strays)  # a document full of something else isn't an empty sitemap

    def _entry(self, element: etree._Element) -> SitemapEntry | None:
        written = LINKS[self.kind](element)
        url = self._absolute(written) if written else None
        if url is None:
            self._lose()
            return None
        if MENDED_AMPERSAND in url or "&amp;" in url:
            self.malformed += 1
            url = url.replace(MENDED_AMPERSAND, "&").replace("&amp;", "&")
        lastmod = child_text(element, "lastmod") if self.kind in (SitemapKind.URLSET, SitemapKind.INDEX) else None
        return SitemapEntry(url, lastmod or None)

    def _absolute(self, written: str) -> str | None:
        if len(written) > MAX_URL:
            return None
        if _ABSOLUTE.fullmatch(written):
            return written  # nearly all of them, and urljoin costs 20 µs
        written = written.translate(_BREAKS).strip()
        try:
            url = urljoin(self.url, written)
            scheme, host = urlsplit(url).scheme, urlsplit(url).hostname
            if "//" in written[:8] and not urlsplit(written).hostname:
                return None  # "https://": urljoin would make it the sitemap's own address
        except ValueError:
            return None
        return url if scheme in ("http", "https") and host else None

    def _lose(self, count: int = 1) -> None:
        self.malformed += count
        self.lost += count


def read_sitemap(
    body: bytes,
    url: str,
    *,
    same_site: Callable[[str], bool] | None = None,
    max_bytes: int = MAX_BYTES,
    max_entries: int = MAX_ENTRIES,
) -> SitemapReading:
    """Recognise the document that came from ``url`` (the final one) and return it ready to be iterated.

    Takes XML sitemaps and indexes of any namespace, RSS, Atom, and lists of URLs as text, each packed with gzip up to
    twice, whatever the name and the headers say. Raises UnreadableSitemap, with what it is, for anything else.
    """
    source = SitemapSource(body, url, max_bytes)
    texts = source.iter_text()
    head = ""
    while len(head) < _HEAD_CHARS and not _PROLOG.match(head):
        text = next(texts, None)
        if text is None:
            break
        head += text
    kind, prefix, start = _recognise(head, url)
    source.mended = bool(head[:start].strip())
    return SitemapReading(source, kind, chain((head[start:],), texts), same_site, max_entries, prefix)


def _recognise(head: str, url: str) -> tuple[SitemapKind, str, int]:
    """Return the kind, the prefix of the root element, and where in ``head`` the document begins behind junk."""
    blanks = len(head) - len(head.lstrip())
    root = _PROLOG.match(head)
    kind = _kind(root[2]) if root else None
    if root and kind:
        return kind, root[1] or "", blanks
    late = _LATE_START.search(head)
    if late and late.start() > blanks:
        kind, prefix, start = _recognise(head[late.start() :], url)
        return kind, prefix, late.start() + start
    if not head[blanks:].startswith(("<", "{", "[")) and _URL_LINE.search(head):
        return SitemapKind.TEXT, "", 0
    raise UnreadableSitemap(f"{url} is {_description(head.strip(), root)}, not a sitemap: nothing is known from it")


def _kind(name: str) -> SitemapKind | None:
    return next((kind for kind in ENTRY_TAGS if kind == name), None)  # XML tells upper from lower case


def _description(head: str, root: re.Match[str] | None) -> str:
    if not head:
        return "empty"
    title = _TITLE.search(head)
    if (root and root[2].lower() == "html") or re.match(r"<!doctype\s+html", head, re.IGNORECASE):
        return f"an HTML page titled {title[1].strip()!r}" if title else "an HTML page"
    if root:
        return f"an XML or HTML document with the root <{root[2]}>"
    if head.startswith(("{", "[")):
        return f"JSON ({head[:60]!r})"
    return f"text or binary data without one line that is a URL ({head[:60]!r})"


def _parser(kind: SitemapKind, prefix: str) -> etree.XMLPullParser:
    """Return a parser that forgives, resolves no entity and opens no file or address.

    ``huge_tree`` stays off: it lifts libxml2's own limits on depth and expansion. A prefix may be undeclared, and then
    is part of the tag's name for libxml2, so that all tags have to be looked at.
    """
    names = {kind.value, "url", "sitemap", ENTRY_TAGS[kind]}
    return etree.XMLPullParser(
        events=("start", "end"),
        tag=None if prefix else [f"{{*}}{name}" for name in names],
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
    )


def _lines(texts: Iterable[str]) -> Iterator[str]:
    rest = ""
    for text in texts:
        *whole, rest = (rest + text).splitlines() or [""]
        yield from (line.strip() for line in whole)
        rest = rest[:_LONGEST_LINE]
    yield rest.strip()
