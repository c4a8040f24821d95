from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from storebot.core.export.filters import parse

ROW = {
    "brand": "Acme",
    "name": "Anvil, 12 kg",
    "price": Decimal("20.00"),
    "gtin": None,
    "review_count": 3,
    "last_changed_at": datetime(2026, 11, 30, 8, tzinfo=UTC),
    "regular_price": None,
}


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("brand=Acme", True),
        ("brand=acme", False),
        ("brand != Other", True),
        ("name~ANVIL", True),
        ("name~hammer", False),
        ("price=20", True),
        ("price<20", False),
        ("price<=20.00", True),
        ("price>19.99", True),
        ("regular_price>0", False),
        ("regular_price=", True),
        ("gtin=", True),
        ("gtin!=", False),
        ("review_count>=3", True),
        ("last_changed_at>=2026-11-30", True),
        ("last_changed_at<2026-11-30T08:00", False),
    ],
)
def test_conditions(condition: str, met: bool) -> None:
    (found,) = parse("listings", [condition])
    assert found.admits(ROW) is met


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("brand", "expected COLUMN SIGN VALUE"),
        ("colour=red", "listings have no column 'colour'"),
        ("brand<Acme", "is text, which is in no order"),
        ("price<cheap", "'cheap' is no number"),
        ("price<NaN", "'NaN' is no number"),
    ],
)
def test_what_cannot_be_read_is_said(condition: str, says: str) -> None:
    with pytest.raises(ValueError, match="--filter") as raised:
        parse("listings", [condition])
    assert says in str(raised.value)
