"""The elements of sitemaps and feeds: what holds an entry, and where in it the address stands."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from itertools import islice

from lxml import etree


class SitemapKind(StrEnum):
    """What a document is; the value is the name of its root element, or ``text``."""

    URLSET = "urlset"
    INDEX = "sitemapindex"
    RSS = "rss"
    RDF = "RDF"  # RSS 1.0
    ATOM = "feed"
    TEXT = "text"


ENTRY_TAGS = {
    SitemapKind.URLSET: "url",
    SitemapKind.INDEX: "sitemap",
    SitemapKind.RSS: "item",
    SitemapKind.RDF: "item",
    SitemapKind.ATOM: "entry",
}


MAX_ENTRY = 20_000
"""Elements of one entry: Google reads 1,000 images of a page, and an item of a feed has a hundred attributes."""

MAX_GAP = 4 * 1024 * 1024
"""Characters without the end of an entry; the longest real entry has a few thousand."""


def free_read(root: etree._Element, *entries: str) -> bool:
    """Free what was read of a document that is still open: all but the last child on each level, and open entries.

    False where the open entry has more than `MAX_ENTRY` elements: it would fill the memory.
    """
    level = root
    while len(level):
        if local_name(level.tag) in entries:
            return next(islice(level.iter(), MAX_ENTRY, None), None) is None
        del level[:-1]
        level = level[-1]
    return True


@lru_cache(256)
def local_name(tag: object) -> str:
    """Return a tag without namespace or prefix; "" for comments and processing instructions."""
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def child_text(entry: etree._Element, name: str) -> str:
    """Return the text of the entry's own child ``name``: image:loc, video:… and atom:link are not its own."""
    own = _sibling(str(entry.tag), name)
    for child in entry:
        tag = child.tag
        if tag in (own, name):
            if len(child) == 0:
                return (child.text or "").strip()
            if any(isinstance(part.tag, str) for part in child):
                return ""  # an unescaped "<" tore it apart: the text before it would be another page's address
            return "".join((child.text or "", *(comment.tail or "" for comment in child))).strip()
    return ""


@lru_cache(256)
def _sibling(tag: str, name: str) -> str:
    """Return ``name`` in the namespace, or with the undeclared prefix, of ``tag``."""
    return tag[: len(tag) - len(local_name(tag))] + name


def _loc(entry: etree._Element) -> str:
    return child_text(entry, "loc")


def _rss_link(item: etree._Element) -> str:
    """Return the item's link, or a guid that is one: https://www.rssboard.org/rss-specification#ltguidgtSubelementOfLtitemgt."""
    link = child_text(item, "link")
    if link:
        return link
    guid = next((child for child in item if child.tag == "guid"), None)
    return child_text(item, "guid") if guid is not None and guid.get("isPermaLink", "true") == "true" else ""


def _atom_link(entry: etree._Element) -> str:
    """Return the first link whose relation is "alternate", which is also the default: RFC 4287 §4.2.7.2."""
    links = (child for child in entry if local_name(child.tag) == "link")
    return next((str(link.get("href", "")) for link in links if link.get("rel", "alternate") == "alternate"), "")


LINKS: dict[SitemapKind, Callable[[etree._Element], str]] = {
    SitemapKind.URLSET: _loc,
    SitemapKind.INDEX: _loc,
    SitemapKind.RSS: _rss_link,
    SitemapKind.RDF: _rss_link,
    SitemapKind.ATOM: _atom_link,
}
