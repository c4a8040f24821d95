"""What a robots.txt means by its status, its sitemaps and its pace; its rules are Protego's business."""

from __future__ import annotations

import codecs
import re
from enum import Enum
from urllib.parse import urljoin

from protego import Protego

# "site-map" is a spelling that Google's parser takes too: https://github.com/google/robotstxt
_SITEMAP = re.compile(r"[ \t]*site-?map[ \t]*:[ \t]*([^\s<>#][^\s<>]*)", re.IGNORECASE)

MAX_BYTES = 1024 * 1024
"""Of a robots.txt that are read; RFC 9309 §2.5 asks for 500 KiB at least."""

LONGEST_LIFE_S = 24 * 3600
"""For which a robots.txt that was read may be believed. RFC 9309 §2.4."""


class Reading(Enum):
    """What a status of /robots.txt means. https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1"""

    RULES = "its rules hold"
    ABSENT = "there are none: everything is allowed"
    UNREACHABLE = "nobody knows: nothing is allowed"


def reading_of(status: int) -> Reading:
    """Return what a status means. 429 is no absence: the host is there, and asks for time (case Z02)."""
    if 200 <= status < 300:
        return Reading.RULES
    return Reading.UNREACHABLE if status >= 500 or status == 429 else Reading.ABSENT


def asked_delay_s(crawl_delay: float | None, requests: int | None = None, seconds: int | None = None) -> float:
    """Return the seconds between requests that ``Crawl-delay`` and ``Request-rate`` ask for; 0 for none.

    Neither is in RFC 9309. A rate for some hours of the day is kept all day.
    """
    by_rate = seconds / requests if requests and seconds else 0.0
    return max(crawl_delay or 0.0, by_rate)


def delay_in(text: str, agent: str) -> float:
    """Return the seconds between requests that a robots.txt asks a robot of this name for; 0 where it asks for none."""
    rules = Protego.parse(text)
    rate = rules.request_rate(agent)
    return asked_delay_s(rules.crawl_delay(agent), *((rate.requests, rate.seconds) if rate else ()))


def text_of(body: bytes) -> str:
    """Return the text of a robots.txt as it can be kept: in the encoding that its mark names, without the mark.

    Before a byte order mark that stays, the first group isn't one, and what it forbids is allowed (case Z01).
    """
    return _text(body[:MAX_BYTES]).replace("\0", "")


def sitemaps_in_robots(body: bytes, url: str = "") -> list[str]:
    """Return every ``Sitemap:`` value in order, doubles included; absolute where ``url``, the final one, is given.

    https://www.sitemaps.org/protocol.html#submit_robots. A line counts wherever it stands, whatever its user agent.
    """
    found = (_SITEMAP.match(line) for line in _text(body[:MAX_BYTES]).splitlines())
    joined = (_joined(url, match[1]) for match in found if match)
    return [address for address in joined if address]


def _joined(url: str, written: str) -> str:
    """Return an absolute address; "" for what can't be taken apart, such as ``https://[``: it names no document."""
    try:
        return urljoin(url, written)
    except ValueError:
        return ""


def _text(body: bytes) -> str:
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", errors="replace")
    return body.decode("utf-8-sig", errors="replace")
