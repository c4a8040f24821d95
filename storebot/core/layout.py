"""Notice that a shop changed its layout: a field that the store has rules for, and that pages no longer yield."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from storebot.core.validate import has
from storebot.items import Listing

ENOUGH = 10  # pages; a field that fewer had may be one that not every product has
OCCASIONAL = frozenset({"regular_price", "price_min", "price_max", "review_count", "rating_value"})
"""Fields that a page without them isn't broken for: a reduction ends, a product has no reviews yet."""


class Layout:
    """Which of some fields the pages of one run had. A field is *lost* when a page lacks what all earlier ones had."""

    def __init__(self, fields: Sequence[str]) -> None:
        self.fields = tuple(name for name in fields if name not in OCCASIONAL)
        self.pages = 0
        self._had: Counter[str] = Counter()

    def lost(self, listings: Sequence[Listing]) -> tuple[str, ...]:
        """Take one page; return the fields that it lacks and that all pages before it had: `ENOUGH` or more of them."""
        found = [name for name in self.fields if all(has(listing, name) for listing in listings)]
        missing = [name for name in self.fields if name not in found]
        lost = tuple(name for name in missing if self.pages >= ENOUGH and self._had[name] == self.pages)
        self._had.update(found)
        self.pages += 1
        return lost

    def never_had(self) -> tuple[str, ...]:
        """Return the fields that no page had, of `ENOUGH` or more."""
        return tuple(name for name in self.fields if not self._had[name]) if self.pages >= ENOUGH else ()
