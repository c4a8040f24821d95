"""The sitemaps that a robots.txt names; its rules are Protego's business."""

from __future__ import annotations

import codecs
import re
from urllib.parse import urljoin

# "site-map" is a spelling that Google's parser takes too: https://github.com/google/robotstxt
_SITEMAP = re.compile(r"[ \t]*site-?map[ \t]*:[ \t]*([^\s<>#][^\s<>]*)", re.IGNORECASE)


def sitemaps_in_robots(body: bytes, url: str = "") -> list[str]:
    """Return every ``Sitemap:`` value in order, doubles included; absolute where ``url``, the final one, is given.

    https://www.sitemaps.org/protocol.html#submit_robots. A line counts wherever it stands, whatever its user agent.
    """
    found = (_SITEMAP.match(line) for line in _text(body).splitlines())
    return [urljoin(url, match[1]) for match in found if match]


def _text(body: bytes) -> str:
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", errors="replace")
    return body.decode("utf-8-sig", errors="replace")
