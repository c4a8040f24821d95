"""How the pages of a list are counted: the template that its links to pages 2, 3 … have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from storebot.core.probing.seen import Link, Seen

_PLACE = "{page}"
_TEXT = re.compile(r"(?:\D{0,20}\s)?(\d{1,4})")
_PARAMETERS = ("page", "p", "pg", "paged", "pagenumber", "page_no", "pageindex", "seite", "strana", "pagina")
_NEXT = ("next",)
_AGREE = 0.8


class Template(NamedTuple):
    """The address of any page of a list, and the highest page that was linked."""

    url: str  # absolute, with {page}
    last: int

    def page(self, number: int) -> str:
        """Return the address of a page."""
        return self.url.replace(_PLACE, str(number))


def template_of(seen: Seen) -> Template | None:
    """Return the one template that the numbered links of a page agree on; None where there is none, or they differ."""
    votes: Counter[str] = Counter()
    last: dict[str, int] = {}
    for url, number in dict.fromkeys(_numbered(seen)):
        template = _template(url, number)
        if template:
            votes[template] += 1
            last[template] = max(last.get(template, 0), number)
    if not votes:
        return None
    best, count = votes.most_common(1)[0]
    return Template(best, last[best]) if count >= _AGREE * votes.total() else None


def is_page_link(link: Link) -> bool:
    """Say whether a link's text is a number that its address has, too: another page of a list."""
    return link.text.isdigit() and bool(_places(link.url, link.text))


def _numbered(seen: Seen) -> Iterator[tuple[str, int]]:
    """Yield links to pages from the second on, with the number that they say, or that "next" means."""
    for link in seen.links:
        number = _TEXT.fullmatch(link.text)
        if number and int(number[1]) >= 2 and _places(link.url, number[1]):
            yield link.url, int(number[1])
        elif _is_next(link) and link.url != seen.url and _places(link.url, "2"):
            yield link.url, 2


def _is_next(link: Link) -> bool:
    return "next" in link.rel or "next" in link.classes or link.text.lower().strip(" »›>→") in _NEXT


def _template(url: str, number: int) -> str | None:
    places = _places(url, str(number))
    if not places or "{" in url:
        return None
    start, end = places[0]
    return url[:start] + _PLACE + url[end:]


def _places(url: str, number: str) -> list[tuple[int, int]]:
    """Return where a page's number stands in its address: in a parameter for pages, in any other, else last in the
    path; a number within a longer one or a word doesn't count."""
    path_end = url.find("?") if "?" in url else len(url)
    start = url.find("/", url.find("//") + 2)
    found = [match.span(1) for match in re.finditer(rf"[?&][\w\[\]-]+=({number})(?=&|$)", url)]
    named = [span for span in found if _name_before(url, span[0]) in _PARAMETERS]
    path = [
        match.span() for match in re.finditer(rf"(?<![\w]){number}(?![\w])|(?<=page){number}(?![\w])", url[:path_end])
    ]
    inside = [span for span in path if span[0] > start >= 0]
    return named or inside[-1:] or found


def _name_before(url: str, place: int) -> str:
    return re.split(r"[?&]", url[:place])[-1].rstrip("=").lower()
