"""Recognise a page for what isn't there that comes with status 200, and a redirect that means the same.

Asked only of pages that no product could be read from: positive evidence of a product always wins. A sign is where a
page says what it is (title, headings, the marks of shop software, its canonical link), never a word of its running
text: there, shops speak of pages and products that are something else.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import urlsplit

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.links import read_links
from storebot.core.parsing.values import shown
from storebot.core.rendering import needs_scripts
from storebot.core.soft404_words import BARE, ELSEWHERE, MARKS, NOT_FOUND_PATH, OUTAGE, PAGE_GONE, PRODUCT_GONE
from storebot.core.text import clean_text

_HEADINGS = 6
_LONGEST_HEADING = 160  # beyond it's a text, not a heading
_ENOUGH_STRAYS = 5  # pages
_MOST_STRAYS = 0.1  # of the store's pages that have a record
_LEAST_TEXT = 200  # characters on show: an empty shell that scripts would fill says nothing
_LINKS_OF_A_LIST = 3  # product links that make a page a list of products
_404 = r"^\W*404\b|\berror:? 404\b|\b404\b\W*(?:error|not found|page|$)|\bhttp 404\b"
_SAYS_GONE = re.compile(
    "|".join(rf"(?<!\w)(?:{words})" for words in (*PAGE_GONE.values(), *PRODUCT_GONE.values()))
    + rf"|^\W*(?:{BARE})(?!\w)|{_404}"
)
_SAYS_OUTAGE = re.compile(rf"(?<!\w)(?:{OUTAGE})(?!\w)")
_ELSEWHERE = re.compile(ELSEWHERE)
_NOT_FOUND_PATH = re.compile(NOT_FOUND_PATH)
_LOCALE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?")
_DIGITS = re.compile(r"\d+")
_XHTML_STATUS = ("prerender-status-code", "status-code")  # what a page of scripts tells the server that renders it


def soft_404(page: Page, base_url: str, strays: Collection[str] = ()) -> str:
    """Say by what sign a page without a product is one for what isn't there, in half a sentence; "" where it isn't.

    ``strays`` are the `stray_hash` of pages that the store is known to show at many addresses.
    """
    root = page.root
    if root is None:
        return ""
    texts = list(_titles(root))
    if any(_SAYS_OUTAGE.search(text) for text in texts):
        return ""
    for text in texts:
        if _SAYS_GONE.search(text):
            return f'its title or heading says "{text[:80]}"'
    if mark := _mark(root):
        return f"it is marked as {mark}"
    if (canonical := _canonical(page, base_url)) and not needs_scripts(page):  # one head for all pages, before they run
        return f"it calls {canonical} its true address"
    if strays and stray_hash(page) in strays:
        return "the store shows this very page at many products' addresses"
    return ""


def known_strays(pages_by_hash: Mapping[str, int], pages: int) -> frozenset[str]:
    """Return the `stray_hash` of what a store shows for products that it no longer has, whatever it says there.

    That is what several addresses gave when they were last asked, and most of the store did not: what many pages show
    is an outage, a redesign or a block.
    """
    return frozenset(hash_ for hash_, count in pages_by_hash.items() if _ENOUGH_STRAYS <= count <= _MOST_STRAYS * pages)


def stray_hash(page: Page) -> str:
    """Return a hash of what a page without a product says it is; "" where it says too little to be known again.

    Pages that differ by numbers or in their running text alone have the same.
    """
    root = page.root
    titles = [_DIGITS.sub("", text) for text in _titles(root)] if root is not None else []
    if root is None or len(titles) < 2 or _shown_length(root) < _LEAST_TEXT:
        return ""
    return hashlib.sha256("\n".join(titles).encode()).hexdigest()[:32]


def landing(url: str, page: Page, base_url: str, product: re.Pattern[str], lists: Collection[str], key: str) -> str:
    """Say what a product's address redirects to, where that means that the product is gone; "" where it doesn't.

    ``url`` is the product's, ``page`` what came instead, ``key`` its URL key; ``lists`` are the keys of the catalogue's
    first pages. A log-in, a basket, a consent or an error page isn't an answer about the product.
    """
    segments = _segments(page.url)
    if any(_ELSEWHERE.fullmatch(segment) for segment in segments):
        return ""
    if any(_NOT_FOUND_PATH.fullmatch(segment) for segment in segments):
        return "the page for what isn't found"
    if _is_home(page.url, base_url):
        return "the home page"
    above = f"{urlsplit(url).path.rstrip('/')}/".startswith(f"{urlsplit(page.url).path.rstrip('/')}/")
    if above or key in lists or len(read_links(page, product)) >= _LINKS_OF_A_LIST:
        return "a list of products"
    return ""


def _titles(root: etree._Element) -> Iterator[str]:
    """Yield the title and the first headings, in lower case."""
    found = [*list(root.iter("title"))[:1], *list(root.iter("h1"))[:_HEADINGS]]
    for element in found:
        text = clean_text(shown(element)).lower()
        if text and len(text) <= _LONGEST_HEADING:
            yield text


def _mark(root: etree._Element) -> str:
    for element in root.iter("html", "body"):
        tokens = f"{element.get('class') or ''} {element.get('id') or ''}".lower().split()
        if mark := next((token for token in tokens if token in MARKS), ""):
            return mark
    for element in root.iter("meta"):
        if (element.get("name") or "").lower() in _XHTML_STATUS and (element.get("content") or "").strip() in (
            "404",
            "410",
        ):
            return f"HTTP {(element.get('content') or '').strip()}"
    return ""


def _canonical(page: Page, base_url: str) -> str:
    """Return the canonical link of a page that calls itself the home page or the one for what isn't found."""
    canonical = page.canonical_url
    if not canonical or urlsplit(canonical).path == urlsplit(page.url).path:
        return ""
    named = any(_NOT_FOUND_PATH.fullmatch(segment) for segment in _segments(canonical))
    return canonical if named or _is_home(canonical, base_url) else ""


def _is_home(url: str, base_url: str) -> bool:
    """Whether an address is that of the shop's start page, in whatever language."""
    parts = urlsplit(url)
    rest = parts.path.removeprefix(urlsplit(base_url).path.rstrip("/")).strip("/").lower()
    return not rest or rest in ("index.html", "index.php", "home") or bool(_LOCALE.fullmatch(rest))


def _segments(url: str) -> list[str]:
    """Return the segments of a path in lower case, the ending of the last left out."""
    path = re.sub(r"\.(?:html?|php|aspx?|jsp)$", "", urlsplit(url).path.lower())
    return [segment for segment in path.split("/") if segment]


def _shown_length(root: etree._Element) -> int:
    """Return how many characters are on show, counted no further than needed."""
    length = 0
    for element in root.iter():
        if isinstance(element.tag, str) and element.tag not in ("script", "style", "noscript", "template", "title"):
            length += len((element.text or "").strip())
        length += len((element.tail or "").strip())
        if length >= _LEAST_TEXT:
            break
    return length
