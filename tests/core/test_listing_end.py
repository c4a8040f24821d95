"""What the end of a platform's listing means for the pages that it didn't carry."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.listing_end import ListingEnd, listing_end

FACTS: dict[str, Any] = {
    "proven": False,
    "walked": True,
    "blocked": False,
    "capped": False,
    "fault": "",
    "carried": 500,
    "declared": 500,
}


@pytest.mark.parametrize(
    ("facts", "end", "leaves_pages"),
    [
        ({"proven": True}, ListingEnd.WHOLE, False),
        ({"proven": True, "declared": None}, ListingEnd.WHOLE, False),
        ({"proven": True, "declared": 501}, ListingEnd.SHORT, True),
        ({"walked": False, "fault": "answers HTTP 404"}, ListingEnd.OFF, True),
        ({"walked": False, "fault": "answers HTTP 404", "blocked": True}, ListingEnd.BLOCKED, False),
        ({"walked": False}, ListingEnd.FAILED, True),
        ({"capped": True}, ListingEnd.CAPPED, True),
        ({"capped": True, "walked": False}, ListingEnd.FAILED, True),
        ({"blocked": True, "capped": True}, ListingEnd.BLOCKED, False),
        ({}, ListingEnd.FAILED, True),
    ],
)
def test_end_is_told_by_its_facts(facts: dict[str, Any], end: ListingEnd, leaves_pages: bool) -> None:
    found = listing_end(**{**FACTS, **facts})
    assert (found, found.leaves_pages) == (end, leaves_pages)
