"""What the end of a platform's listing means for the pages that it didn't carry."""

from __future__ import annotations

from enum import StrEnum


class ListingEnd(StrEnum):
    """How the walk of a listing came to its end."""

    WHOLE = "whole"  # the end is proven, and the shop declares no more
    SHORT = "short"  # the end is proven, and the shop declares more products than the listing carries
    OFF = "off"  # there is no listing: the first page is something else, twice
    CAPPED = "capped"  # the platform gives no page beyond
    BLOCKED = "blocked"
    FAILED = "failed"

    @property
    def leaves_pages(self) -> bool:
        """Whether product pages have to be found in another way: not where nothing is left, nor where we're refused."""
        return self not in (ListingEnd.WHOLE, ListingEnd.BLOCKED)


def listing_end(
    *, proven: bool, walked: bool, blocked: bool, capped: bool, fault: str, carried: int, declared: int | None
) -> ListingEnd:
    """Say how a walk ended.

    ``walked``: at least one page was accepted. ``fault``: what is wrong with the first page. ``capped``: the last page
    was refused as a page number. ``carried`` and ``declared``: products of this session, and of the shop.
    """
    if proven:
        return ListingEnd.SHORT if declared is not None and carried < declared else ListingEnd.WHOLE
    if blocked:
        return ListingEnd.BLOCKED
    if fault and not walked:
        return ListingEnd.OFF
    return ListingEnd.CAPPED if capped and walked else ListingEnd.FAILED
