"""Field-level differences, in step with the record hash."""

from __future__ import annotations

import orjson
from hypothesis import given

from storebot.core.diff import FieldChange, changes_between, is_damaged, undamaged
from storebot.core.fingerprint import TRACKED, details_hash, record_hash
from storebot.items import Availability, Listing
from tests.core.listings import BASE, LISTINGS, changed


@given(LISTINGS, LISTINGS)
def test_no_changes_exactly_where_the_hashes_are_equal(before: Listing, after: Listing) -> None:
    assert (changes_between(before, after) == ()) == (record_hash(before) == record_hash(after))


@given(LISTINGS, LISTINGS)
def test_changes_are_json_in_the_order_of_the_tracked_fields(before: Listing, after: Listing) -> None:
    changes = changes_between(before, after)
    names = [change.field for change in changes]
    assert names == [name for name in TRACKED if name in names]
    assert orjson.loads(orjson.dumps([list(change) for change in changes])) == [list(change) for change in changes]


@given(LISTINGS, LISTINGS)
def test_the_way_back_is_the_mirror(before: Listing, after: Listing) -> None:
    mirrored = tuple(FieldChange(name, new, old) for name, old, new in changes_between(before, after))
    assert changes_between(after, before) == mirrored


def test_each_change_has_both_values() -> None:
    after = changed(
        price_minor=9900, availability=Availability.OUT_OF_STOCK, options={}, category_path=("Sale", "Home")
    )
    assert changes_between(BASE, after) == (
        FieldChange("price_minor", 14999, 9900),
        FieldChange("availability", "InStock", "OutOfStock"),
        FieldChange("options", {"Size": "L", "Color": "red"}, None),
        FieldChange("category_path", ["Home", "Tools"], ["Sale", "Home"]),
    )


def test_zero_is_a_value_and_absence_is_none() -> None:
    assert changes_between(changed(price_minor=0), changed(price_minor=None)) == (FieldChange("price_minor", 0, None),)


def test_a_text_that_lost_characters_overwrites_no_clean_one() -> None:
    """Case E02: a page that came once with the wrong charset."""
    clean, broken = (
        changed(name="Caf\u00e9 90", brand="Acme"),
        changed(name="Caf\ufffd 90", brand="Ac\u00e9", price_minor=1),
    )
    assert (is_damaged(clean), is_damaged(broken)) == (False, True)
    kept = undamaged(clean, broken)
    assert (kept.name, kept.brand, kept.price_minor) == (clean.name, broken.brand, 1)
    assert (kept.record_hash, kept.details_hash) == (record_hash(kept), details_hash(kept))
    assert [change.field for change in changes_between(clean, kept)] == ["brand", "price_minor"]
    assert undamaged(broken, clean) is clean
    assert undamaged(broken, broken) is broken
