"""How large a store's pages usually are, by their type: what a block page's length is compared with."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from statistics import median_low

from storebot.items import PageType

KEPT = 63  # the last so many: a new layout is what's usual after half of them
ENOUGH = 8  # fewer say nothing


class PageSizes:
    """The sizes of the last accepted pages. Noting one costs next to nothing; the median is taken when it's asked for.

    The median, because no share below a half of odd pages moves it (a breakdown point of 50 per cent).
    """

    def __init__(self) -> None:
        self._sizes: dict[str, deque[int]] = {page_type: deque(maxlen=KEPT) for page_type in PageType}

    def begin(self, before: Iterable[tuple[str, int]]) -> None:
        """Take the sizes that earlier runs found, as pairs of a page type and bytes; they go as new ones come.

        A type that isn't known (any more) is ignored.
        """
        for page_type, size_bytes in before:
            if page_type in self._sizes:
                self._sizes[page_type].append(size_bytes)

    def add(self, page_type: PageType, size_bytes: int) -> None:
        """Note the size of a page that is what it should be."""
        self._sizes[page_type].append(size_bytes)

    def typical(self, page_type: PageType) -> int | None:
        """Return the median in bytes; None where too few pages are known."""
        sizes = self._sizes[page_type]
        return median_low(sizes) if len(sizes) >= ENOUGH else None
