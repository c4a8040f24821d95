"""The tags of a page found in its bytes, without a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from storebot.core.page import Page
from storebot.core.scan import holds
from storebot.core.text import unescape

MAX_TAG_BYTES = 4096
MAX_MENTIONS = 5_000
_COMMENT_BYTES = 65_536  # how far behind a place the end of a comment is looked for
_MAX_COMMENT = 4 * _COMMENT_BYTES  # how far before it its beginning is
# A name begins behind what ends another thing: one of a million letters is looked at once.
_ATTRIBUTE = re.compile(r"""(?<![^\s=/>"'])([^\s=/>"']++)\s*+=\s*+("[^"]*"|'[^']*'|[^\s>"']+)""")


def ends_of(markup: bytes, name: bytes) -> Iterator[int]:
    """Yield where mentions of an attribute's name end, the first `MAX_MENTIONS` of them."""
    at = -1
    for _ in range(MAX_MENTIONS):
        at = markup.find(name, at + 1)
        if at < 0:
            return
        yield at + len(name)


def attributes_of(tag: str) -> dict[str, str]:
    """Return the attributes of a start tag by lower-case name, entities decoded; the first of two wins, as in HTML."""
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(tag):
        found.setdefault(name.lower(), unescape(value.strip("\"'")))
    return found


class Comments:
    """The comments of one page. Asked from the front to the back, it looks through what has none once only."""

    def __init__(self, markup: bytes) -> None:
        self._markup = markup
        self._plain = 0  # up to here no comment begins
        self._has_any = False  # behind it

    def hold(self, start: int, end: int) -> bool:
        """Say whether a place is inside of a comment."""
        if not self._has_any and not holds(self._markup[self._plain : start], b"<!--"):
            self._plain = max(self._plain, start - len(b"<!-"))
            return False
        self._has_any = True
        return is_commented(self._markup, start, end)


class Scripts:
    """The scripts of one page, asked from the front to the back."""

    def __init__(self, markup: bytes) -> None:
        self._markup = markup
        self._done, self._inside = 0, False

    def hold(self, at: int) -> bool:
        """Say whether a place is inside of a script: the last tag of one before it opens it."""
        if self._inside or holds(self._markup[self._done : at], b"<script"):
            opened, closed = (self._markup.rfind(tag, self._done, at) for tag in (b"<script", b"</script"))
            self._inside = opened > closed if max(opened, closed) >= 0 else self._inside
        self._done = at
        return self._inside


def is_commented(markup: bytes, start: int, end: int) -> bool:
    """Say whether a place is inside of a comment: the next thing after it is an end whose start is before it.

    What is before is looked at first: most of what is searched stands in the head, and the rest of the page is long.
    """
    before = max(0, start - _MAX_COMMENT)
    if markup.find(b"<!--", before, start) < 0:  # looking backwards costs several times as much
        return False
    opening = markup.rfind(b"<!--", before, start)
    if markup.find(b"-->", opening, start) >= 0:
        return False
    closing = markup.find(b"-->", end, end + _COMMENT_BYTES)
    return closing >= 0 and markup.find(b"<!--", end, closing) < 0


def end_of_script(markup: bytes, at: int) -> int:
    """Return where the script ends whose content begins at a place."""
    while (at := markup.find(b"</", at)) >= 0:
        if markup[at + 2 : at + 8].lower() == b"script":
            return at
        at += 2
    return len(markup)


def encoding_of(block: bytes, page: Page) -> str:
    """Return the encoding of one part of a page, deciding for the whole page only where the part can't tell."""
    if block.isascii() or page.markup is not page.body:
        return "utf-8"
    if (page.charset or page.declared_encoding or "utf-8").lower() in ("utf-8", "utf8"):
        try:
            block.decode()
        except UnicodeDecodeError:
            return page.encoding
        return "utf-8"
    return page.encoding


def text_of_part(block: bytes, page: Page) -> str:
    """Return one part of a page as text."""
    return block.decode(encoding_of(block, page), "replace")
