"""Which sitemap documents were asked for and read, so that each is read once and no loop is followed."""

from __future__ import annotations

from urllib.parse import urlsplit

MAX_DEPTH = 5  # robots.txt is 0, an index 1, its children 2: https://www.sitemaps.org/protocol.html allows no more


class SitemapTrail:
    """The documents of one discovery, by requested and by final URL, to a depth.

    A spider calls ``ask`` before each request (robots.txt itself included), and ``read`` with what came back.
    ``too_deep`` counts the documents that only the depth refused: a discovery that has some isn't complete.
    """

    def __init__(self, max_depth: int = MAX_DEPTH) -> None:
        self.max_depth = max_depth
        self.too_deep = 0
        self._asked: set[str] = set()
        self._read: set[str] = set()

    def ask(self, url: str, depth: int) -> bool:
        """Return whether to request ``url``, found ``depth`` documents below the start; True only once per document."""
        key = _key(url)
        if key in self._asked or key in self._read:
            return False
        if depth > self.max_depth:
            self.too_deep += 1
            return False
        self._asked.add(key)
        return True

    def read(self, requested: str, final: str) -> bool:
        """Return whether the document that came from ``final`` is still unread, and count it as read."""
        key = _key(final)
        fresh = key not in self._read
        self._read |= {key, _key(requested)}
        return fresh


def _key(url: str) -> str:
    """Return the URL without scheme and fragment: http and https of one sitemap are one document."""
    parts = urlsplit(url.strip())
    return f"{parts.netloc.lower()}{parts.path or '/'}?{parts.query}"
