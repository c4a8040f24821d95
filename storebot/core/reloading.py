"""Whether a page is only there to have itself asked for again, by whoever brings the cookie that came with it.

Shops that let nobody in without a cookie answer the first request that way: a redirect to the same address says it in
HTTP, a page that reloads itself says it in HTML. Asked only of pages on which nothing was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urldefrag, urljoin

from lxml import etree

from storebot.core.page import Page

LARGEST_BYTES = 32 * 1024
"""Such a page shows next to nothing; a larger one has something to say, and isn't asked for again."""

_STATUSES = frozenset({200, 202, 403, 503})
SOON_S = 5.0
"""A page that refreshes itself later than that shows something meanwhile."""

_REFRESH = re.compile(
    r"\s*(?P<wait_s>\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})[^\S\n]*(?:[;,]\s*(?:url\s*=)?(?P<url>.*))?", re.I
)
_PLACE = r"(?:(?:window|document|self|top|parent)\s*\.\s*)?location(?:\s*\.\s*(?:href|pathname))?"
_RELOADS = re.compile(
    rf"\blocation\s*\.\s*reload\s*\(|\b{_PLACE}\s*(?:=|\.\s*(?:replace|assign)\s*\()\s*{_PLACE}\b(?!\s*[.+])"
)
_GOES = re.compile(rf"\b{_PLACE}\s*(?:=|\.\s*(?:replace|assign)\s*\()\s*([\"'])(?P<url>[^\"'\\\n]{{1,2000}})\1")
_SETS = re.compile(r"\bdocument\s*\.\s*cookie\s*=")


def wants_its_cookie(page: Page) -> bool:
    """Whether a page came with a cookie, and has itself loaded again: by Refresh (header or meta) or by a script."""
    return "set-cookie" in page.headers and reloads(page)


def sets_its_cookie(page: Page) -> bool:
    """Whether a script of a page that reloads itself makes the cookie: then only who runs it gets any further."""
    return reloads(page) and any(_SETS.search(script) for script in _scripts(page))


def reloads(page: Page) -> bool:
    """Whether a small page has itself loaded again at once, at its own address."""
    if page.status not in _STATUSES or len(page.body) > LARGEST_BYTES:
        return False
    if refreshes_itself(page):
        return True
    return any(_RELOADS.search(script) or _goes_home(page, script) for script in _scripts(page))


def refreshes_itself(page: Page) -> bool:
    """Whether a page has itself loaded again at once by Refresh, header or meta: a browser does so without a script."""
    return any(_is_soon(page, value) for value in _refreshes(page))


def _refreshes(page: Page) -> Iterator[str]:
    yield page.headers.get("refresh", "")
    if page.root is not None:
        for meta in page.root.iter("meta"):
            if (meta.get("http-equiv") or "").strip().lower() == "refresh":
                yield meta.get("content") or ""


def _is_soon(page: Page, refresh: str) -> bool:
    """HTML standard §4.2.5.3: a time in seconds, and an address or none, which is the page's own."""
    found = _REFRESH.match(refresh)
    if found is None or float(found["wait_s"]) > SOON_S:
        return False
    address = (found["url"] or "").strip(" \t\"'")
    return not address or _is_own(page, address)


def _goes_home(page: Page, script: str) -> bool:
    return any(_is_own(page, found["url"]) for found in _GOES.finditer(script))


def _is_own(page: Page, address: str) -> bool:
    try:
        return urldefrag(urljoin(page.url, address)).url == urldefrag(page.url).url
    except ValueError:  # no address at all
        return False


def _scripts(page: Page) -> Iterator[str]:
    if page.root is not None:
        yield from (script.text or "" for script in page.root.iter("script") if isinstance(script, etree._Element))
