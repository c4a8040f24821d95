"""The parts of an address that tell product pages from others."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

_INDEX = re.compile(r"index\.(?:html?|php|aspx?)", re.IGNORECASE)
_EXTENSION = re.compile(r"(.+?)(\.(?:html?|php|aspx?|jsp))", re.IGNORECASE)


class Address(NamedTuple):
    """``/shop/tea/earl-grey.html?x=1`` is dirs ("shop", "tea"), name "earl-grey", ending ".html", query ("x",)."""

    dirs: tuple[str, ...]
    name: str  # "" for the root
    ending: str  # ".html" and the like, "/index.html" and the like, or ""; a trailing slash isn't told apart
    query: tuple[str, ...]  # names of the parameters, sorted

    @property
    def depth(self) -> int:
        return len(self.dirs)


def address(url: str) -> Address:
    """Take an absolute URL apart."""
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    ending = ""
    if segments and _INDEX.fullmatch(segments[-1]):
        ending = f"/{segments.pop()}"
    name = segments.pop() if segments else ""
    if not ending and (split := _EXTENSION.fullmatch(name)):
        name, ending = split[1], split[2]
    query = tuple(sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}))
    return Address(tuple(segments), name, ending, query)


def parameters(url: str) -> dict[str, str]:
    """Return the parameters of an address; of one that comes twice, the last value."""
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
