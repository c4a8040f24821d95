"""Whether redirects lead anywhere, and what a server means that redirects to the same URL in other signs."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urljoin

TIMES = 2
"""How often a URL may be asked for on one way: a shop that wants cookies redirects to itself once to set them."""

_SHOWN = 5


def is_loop(asked: Sequence[str], next_url: str) -> bool:
    """Say whether a redirect leads where nothing new can come: to a URL that was asked for so often before."""
    return asked.count(next_url) >= TIMES


def loop_told(asked: Sequence[str], next_url: str) -> str:
    """Return the way of a loop as an arrow's chain, its last steps alone where it's long."""
    way = [*asked, next_url]
    return ("… -> " if len(way) > _SHOWN else "") + " -> ".join(way[-_SHOWN:])


def as_given(url: str, location: bytes) -> str | None:
    """Return where a Location leads, letter for letter; None where it can't be sent so.

    A server that redirects ``?a%5B%5D=1`` to ``?a[]=1`` wants the brackets (case R04, scrapy issue 2774): encoded
    again, as RFC 3986 §3.4 asks, it's the URL that was asked for.
    """
    try:
        text = location.decode("ascii").strip()
    except UnicodeDecodeError:
        return None
    given = urljoin(url, text)
    return given if given.isprintable() and " " not in given and given != url else None
