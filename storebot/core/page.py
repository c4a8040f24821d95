"""A fetched page as the parsers see it: bytes, and what is derived from them, each at most once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin

from lxml import etree

from storebot.core import decoding
from storebot.core.text import unescape

_BASE = re.compile(rb"<base\s[^>]{0,500}?href\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>\"']+)", re.IGNORECASE)
_REL = re.compile(rb"\brel\s*=\s*(?:[\"']\s*)?canonical[\"'\s/>]", re.IGNORECASE)
_HREF = re.compile(rb"\bhref\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>\"']+)", re.IGNORECASE)
_WHITE = r" \t\n\r\f"
# libxml2 looks through all attributes of a tag for each one more. Quotes may hide a ">".
_CROWDED = re.compile(
    rf"""<[A-Za-z][^{_WHITE}></]*+(?:<(?![A-Za-z])[^{_WHITE}></]*+)*+[{_WHITE}/]"""
    rf"""(?:[{_WHITE}/]*+[^{_WHITE}>/][^{_WHITE}=>/]*+"""
    rf"""(?:[{_WHITE}]*+=[{_WHITE}]*+(?:"[^"]*+"|'[^']*+'|(?!["'])[^{_WHITE}>]*+))?+){{1000}}+"""
)
_CROWDED_FROM = 200_000  # characters; what a shorter page can cost that way is a second
_MAX_TAGS = 250_000  # of which one tree is made: 100 MB
_MAX_TAG_BYTES = 4096
_HEAD_BYTES = 131_072  # looking for the end of the head would cost more than looking a little beyond it


MAX_BYTES = 8 * 1024 * 1024
"""A larger page is refused: its tree could take 600 MB. The largest product page of the corpus has 1.4 MB."""


class _Unset:
    """The type of what isn't computed yet; None means that there is none."""


_UNSET: Final = _Unset()


class Page:
    """One page; everything derived is computed on first use and kept.

    ``headers`` have lower-case names. ``charset`` overrides the rule of browsers: a page that a browser rendered is
    UTF-8 whatever its header says. Holds no reference cycle: the tree goes when the page goes.
    """

    __slots__ = (
        "__weakref__",
        "_base_url",
        "_canonical",
        "_declared",
        "_decoded",
        "_markup",
        "_root",
        "_sha256",
        "_treeless",
        "body",
        "charset",
        "fetched_at_ms",
        "headers",
        "ld_json",
        "metas",
        "requested_url",
        "status",
        "tier",
        "url",
    )

    def __init__(
        self,
        *,
        url: str,
        body: bytes,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        requested_url: str = "",
        fetched_at_ms: int = 0,
        tier: str = "http",
        charset: str | None = None,
    ) -> None:
        self.url = url
        self.body = body
        self.status = status
        self.headers: Mapping[str, str] = headers or {}
        self.requested_url = requested_url or url
        self.fetched_at_ms = fetched_at_ms
        self.tier = tier
        self.charset = charset
        self._decoded: tuple[str, str] | None = None
        self._declared: str | _Unset | None = _UNSET
        self._markup: bytes | None = None
        self.ld_json: tuple[tuple[int, bytes], ...] | None = None  # kept by parsing.jsonld: found once
        self.metas: tuple[bytes, ...] | None = None  # kept by parsing.opengraph
        self._root: etree._Element | _Unset | None = _UNSET
        self._sha256 = ""
        self._treeless = ""
        self._base_url: str | None = None
        self._canonical: str | _Unset | None = _UNSET

    def __repr__(self) -> str:
        return f"<Page {self.status} {self.url}>"

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")

    @property
    def encoding(self) -> str:
        """The encoding that the text was read in, as Python's codec name."""
        return self._decode()[0]

    @property
    def declared_encoding(self) -> str | None:
        """The encoding that header or document name, unverified; the page isn't decoded for it."""
        if isinstance(self._declared, _Unset):
            self._declared = decoding.declared(self.body, self.content_type)
        return self._declared

    @property
    def text(self) -> str:
        """The whole body as text, without U+0000 (lxml would drop everything after one)."""
        return self._decode()[1]

    def _decode(self) -> tuple[str, str]:
        if self._decoded is None:
            self._decoded = decoding.decode(self.body, content_type=self.content_type, charset=self.charset)
        return self._decoded

    @property
    def markup(self) -> bytes:
        """The body as bytes in which ASCII markup can be searched: itself, or re-encoded where it is UTF-16."""
        if self._markup is None:
            self._markup = self._searchable()
        return self._markup

    def _searchable(self) -> bytes:
        bom = self.body.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"))
        named = bom or any(name in self.content_type.lower() for name in ("utf-16", "utf-32", "2022"))
        if named and not self.charset and not decoding.is_ascii_compatible(self.encoding):
            return self.text.encode("utf-8", "replace")
        return self.body

    @property
    def root(self) -> etree._Element | None:
        """The one tree of the page; None where the body holds no element, or is refused (see `refusal`).

        Nesting beyond 2,048 levels is cut off.
        """
        if isinstance(self._root, _Unset):
            self._root = self._built()
        return self._root

    def _built(self) -> etree._Element | None:
        if self.refusal:
            return None
        text = self.text
        self._treeless = _excess(text) if len(text) > _CROWDED_FROM else ""
        return None if self._treeless else _parse(text)

    @property
    def refusal(self) -> str:
        """Why the page isn't read, or not by its tree, as a sentence; "" where nothing is known against it."""
        if len(self.body) > MAX_BYTES:
            return f"the page has {len(self.body):,} bytes: more than {MAX_BYTES:,} aren't read"
        return self._treeless

    @property
    def has_tree(self) -> bool:
        """Whether somebody had to build the tree."""
        return not isinstance(self._root, _Unset)

    @property
    def has_base(self) -> bool:
        """Whether a ``<base href>`` was asked for and found."""
        return self._base_url is not None and self._base_url != self.url

    @property
    def sha256(self) -> str:
        """SHA-256 of the body, in hex."""
        if not self._sha256:
            self._sha256 = hashlib.sha256(self.body).hexdigest()
        return self._sha256

    @property
    def base_url(self) -> str:
        """What relative URLs of the page are relative to: its ``<base href>``, else its URL. Builds no tree."""
        if self._base_url is None:
            match = _BASE.search(self.body, 0, _HEAD_BYTES // 2)
            self._base_url = self.url if match is None else _join(self.url, _attribute(match[1]))
        return self._base_url

    @property
    def canonical_url(self) -> str | None:
        """The absolute URL of ``<link rel=canonical>`` in the head. Builds no tree."""
        if isinstance(self._canonical, _Unset):
            self._canonical = self._find_canonical()
        return self._canonical

    def _find_canonical(self) -> str | None:
        body, at = self.body, 0
        while (at := body.find(b"canonical", at, _HEAD_BYTES)) >= 0:
            start = body.rfind(b"<", max(0, at - _MAX_TAG_BYTES), at)
            close = body.find(b">", at, at + _MAX_TAG_BYTES)
            tag = body[start : close + 1] if 0 <= start < close else b""
            at += len(b"canonical")
            if tag[:5].lower() == b"<link" and _REL.search(tag) and (href := _HREF.search(tag)):
                url = _attribute(href[1])
                return (url if url.startswith(("https://", "http://")) else _join(self.base_url, url)) or None
        return None


def _attribute(raw: bytes) -> str:
    return unescape(raw.strip(b"\"' \t\r\n").decode("utf-8", "replace"))


def _join(base: str, url: str) -> str:
    try:
        return urljoin(base, url.strip())
    except ValueError:  # "http://[bad" is no URL: the page says nothing then
        return base


def _excess(text: str) -> str:
    if (tags := text.count("<")) > _MAX_TAGS:
        return f"the page has {tags:,} tags: of more than {_MAX_TAGS:,} no tree is built"
    return "a tag of the page has a thousand attributes: no tree is built" if is_crowded(text) else ""


def is_crowded(text: str) -> bool:
    """Say whether a tag has a thousand attributes: libxml2 takes their square of time."""
    return _CROWDED.search(text) is not None


def _parse(text: str) -> etree._Element | None:
    parser = etree.HTMLParser(huge_tree=True, encoding="utf-8")
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:  # "Document is empty": nothing but white space or comments
        return None
