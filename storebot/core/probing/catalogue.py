"""Choose the lists that a crawl has to walk, so that every product that was seen is found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from storebot.core.probing.lists import ProductList

MAX_WALKS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The lists to walk, in order, and the products that were seen on lists and are on none of these."""

    lists: tuple[ProductList, ...]
    is_proven: bool = False  # they show all products that were seen anywhere, and were looked at whole
    uncovered: int = 0
    looked_at: int = 0  # lists that were looked at

    @property
    def next_rule(self) -> str:
        """The one rule of the lists that go on by links; "" where none does."""
        return next((one.next_rule for one in self.lists if one.next_rule), "")


def choose(
    lists: Sequence[ProductList], elsewhere: Iterable[str], seen: Iterable[str], *, looked_at: int = 0
) -> Catalogue:
    """Return the lists, the largest first, each of which shows a product that is in no earlier one.

    ``elsewhere`` are the URL keys that the crawl finds without them: those of sitemaps. ``seen`` are those of all
    products that were seen. A list may have more pages than were looked at: then all that could add are taken.
    """
    missing = set(seen) - set(elsewhere)
    whole = missing.copy()
    chosen: list[ProductList] = []
    for one in sorted(lists, key=lambda each: (-each.size, urlsplit(each.url).path.count("/"), each.url)):
        if one.products & missing and len(chosen) < MAX_WALKS:
            chosen.append(one)
            missing -= one.products
    proven = bool(chosen) and not missing and all(one.is_whole for one in chosen)
    return Catalogue(lists=tuple(chosen), is_proven=proven or not whole, uncovered=len(missing), looked_at=looked_at)
