"""The heading that names a page's product."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from urllib.parse import urlsplit

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.values import shown, squash
from storebot.core.parsing.visible_labels import labelled
from storebot.core.parsing.visible_tree import View, is_hidden, tokens
from storebot.core.text import unescape

_MIN_NAME = 3
_MAX_NAME = 2_000  # characters, white space included
_MAX_TITLE = 1_000
_MAX_PARTS = 100  # of a heading
_MAX_HEADINGS = 200  # of a page: the product's stands before the long lists
_MOST = 0.6  # of a heading's words, that a title has which words them in another order
_WORD = re.compile(r"\w+")
_MARKS = ("data-testid", "data-test", "data-qa", "data-auto")  # what an element is, for the shop's own tests


def find_heading(page: Page, view: View) -> etree._Element | None:
    """Return what names the product.

    By this order: the longest main heading that the title repeats; the one that begins as the title does; the one with
    most words of the title; a smaller heading that the title repeats; the only main heading; what is marked as the
    title. The name of the shop itself is none.
    """
    titles = list(_titles(page))
    host = "".join(filter(str.isalnum, urlsplit(page.url).hostname or ""))
    # Some shops escape a name twice in one place and once in the other.
    named = [(one, unescape(name_of(one)).casefold()) for one in view.headings[:_MAX_HEADINGS]]
    named = [(one, name) for one, name in named if len(name) >= _MIN_NAME and not _is_shop(name, host)]
    mains = [(one, name) for one, name in named if one.tag == "h1"]
    repeated = [(one, name) for one, name in mains if any(name in title for title in titles)]
    if repeated:
        return max(repeated, key=lambda pair: len(pair[1]))[0]
    for one, name in mains:
        if any(title.startswith(name[: max(10, len(name) // 2 + 1)]) for title in titles):
            return one
    alike = [(_share(name, titles), one) for one, name in mains]
    if alike and (best := max(alike, key=lambda pair: pair[0]))[0] >= _MOST:
        return best[1]
    for one, name in named:
        if one.tag != "h1" and any(name in title for title in titles):
            return one
    if mains:
        return mains[0][0] if len({name for _, name in mains}) == 1 else None
    return _marked(view, titles)


def _titles(page: Page) -> Iterator[str]:
    """Yield what the page calls itself: its title, that of its OpenGraph metas."""
    if page.root is None:
        return
    if (title := next(page.root.iter("title"), None)) is not None:
        yield shown(title, _MAX_TITLE).casefold()
    for meta in page.root.iter("meta"):
        if meta.get("property") == "og:title":
            yield squash((meta.get("content") or "")[:_MAX_TITLE]).casefold()
            return


def _is_shop(name: str, host: str) -> bool:
    """Say whether a heading is the shop's own name, by its address: a logo is a main heading in many a theme."""
    letters = "".join(filter(str.isalnum, name))
    return len(letters) * 2 >= len(host) - len("wwwcom") and letters in host


def _share(name: str, titles: Sequence[str]) -> float:
    own = set(_WORD.findall(name))
    return max((len(own & set(_WORD.findall(title))) / len(own) for title in titles), default=0.0) if own else 0.0


def _marked(view: View, titles: Sequence[str]) -> etree._Element | None:
    for one, text in view.texts:
        name = text.casefold()
        if len(name) >= _MIN_NAME and any(name in title for title in titles) and _is_title(one):
            return one
    return None


def _is_title(element: etree._Element) -> bool:
    marks = {word for mark in _MARKS for word in (element.get(mark) or "").lower().split("-")}
    return len(element) <= 2 and bool((tokens(element) | marks) & {"title", "name"})


def name_of(heading: etree._Element) -> str:
    """Return the heading's text, without what is hidden in it and without a label ("Code: 123") at its end."""
    text = shown(heading, _MAX_NAME)
    for child in islice(heading, _MAX_PARTS):
        inner = shown(child, _MAX_NAME) if isinstance(child.tag, str) else ""
        if not inner or not text.endswith(inner) or len(inner) >= len(text):
            continue
        if is_hidden(child) or (":" in inner and labelled(inner)):
            text = text.removesuffix(inner).strip()
    return text
