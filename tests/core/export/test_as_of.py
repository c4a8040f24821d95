from __future__ import annotations

from hypothesis import given

from storebot.core.diff import changes_between
from storebot.core.export.as_of import Told, undone
from storebot.items import Availability, Listing, ListingStatus
from tests.core.listings import BASE, LISTINGS, changed


def told(before: Listing, after: Listing) -> Told:
    return Told("changed", [one._asdict() for one in changes_between(before, after)])


@given(LISTINGS, LISTINGS, LISTINGS)
def test_undoing_all_changes_gives_the_first_record(first: Listing, second: Listing, third: Listing) -> None:
    back, status = undone(third, ListingStatus.ACTIVE, [told(second, third), told(first, second)])
    assert status is ListingStatus.ACTIVE
    assert changes_between(back, first) == ()


def test_types_are_those_of_a_record() -> None:
    later = changed(availability=Availability.OUT_OF_STOCK, category_path=("Sale",), options={"Size": "M"})
    back, _ = undone(later, ListingStatus.ACTIVE, [told(BASE, later)])
    assert (back.availability, back.category_path, back.options) == (
        BASE.availability,
        BASE.category_path,
        BASE.options,
    )


def test_states_are_undone() -> None:
    later = [Told("relisted", []), Told("delisted", [])]
    assert undone(BASE, ListingStatus.ACTIVE, later)[1] is ListingStatus.ACTIVE
    assert undone(BASE, ListingStatus.ACTIVE, later[:1])[1] is ListingStatus.DELISTED
    assert undone(BASE, ListingStatus.ACTIVE, [Told("returned", [])])[1] is ListingStatus.MISSING
