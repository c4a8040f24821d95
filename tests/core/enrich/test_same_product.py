"""One product in many shops: what is matched, what isn't, and that ids stay."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.enrich.conflicts import Member
from storebot.core.enrich.same_product import Match, SameProduct, match
from storebot.core.stage import Subject
from storebot.items import Listing

GTINS = ("04006381333931", "00036000291452", "05000112637922")


def member(number: int, store: str, **facts: Any) -> Member:
    """Return a listing on a page of its own, with a price in EUR."""
    usual = {"page_id": number, "price_minor": 1_000, "currency": "EUR"}
    return Member(id=number, store=store, **{**usual, **facts})


def ids(*members: Member) -> list[str | None]:
    return [found.id for found in match(members).values()]


def test_the_same_gtin_in_two_shops_is_one_product() -> None:
    found = match([member(1, "a", gtin=GTINS[0]), member(2, "b", gtin=GTINS[0]), member(3, "b", gtin=GTINS[1])])
    assert found[1] == Match(f"gtin:{GTINS[0]}", f"gtin:{GTINS[0]}", "gtin", stores=2, listings=2)
    assert (found[2].id, found[3].id, found[3].stores) == (found[1].id, f"gtin:{GTINS[1]}", 1)


def test_brand_and_part_number_match_where_there_is_no_gtin() -> None:
    found = match([member(1, "a", part="acme:ab100"), member(2, "b", part="acme:ab100")])
    assert (found[1].id, found[1].by, found[1].stores) == ("mpn:acme:ab100", "mpn", 2)


def test_a_listing_without_gtin_joins_the_gtin_that_another_shop_names_for_its_part_number() -> None:
    found = match([member(1, "a", gtin=GTINS[0], part="acme:ab100"), member(2, "b", part="acme:ab100")])
    assert (found[1].id, found[2].id) == (f"gtin:{GTINS[0]}", f"gtin:{GTINS[0]}")
    assert (found[1].by, found[2].by) == ("gtin", "mpn")


def test_a_part_number_beside_two_gtins_is_doubted() -> None:
    one = [member(number, "a", gtin=GTINS[number], part="acme:ab100") for number in (0, 1)]
    doubted = match([*one, member(2, "b", part="acme:ab100")])[2]
    assert doubted.id is None
    assert "beside 2 GTINs" in doubted.doubts[0]


def test_two_shops_with_clearly_another_brand_are_both_flagged_and_not_merged() -> None:
    found = match([member(1, "a", gtin=GTINS[0], brand="Acme"), member(2, "b", gtin=GTINS[0], brand="Foo")])
    assert [one.id for one in found.values()] == [None, None]
    assert found[1].candidate == f"gtin:{GTINS[0]}"
    assert found[1].doubts == ("brand 'Acme' here, 'Foo' at b",)


def test_the_one_that_most_shops_contradict_is_left_out() -> None:
    agreeing = [member(number, f"shop{number}", gtin=GTINS[0], brand="Acme") for number in range(3)]
    found = match([*agreeing, member(9, "odd", gtin=GTINS[0], brand="Foo")])
    assert [one.id for one in found.values()] == [f"gtin:{GTINS[0]}"] * 3 + [None]
    assert (found[0].stores, found[0].listings) == (3, 3)


def test_ten_times_the_price_is_flagged_and_another_currency_is_not_compared() -> None:
    cheap, carton = member(1, "a", gtin=GTINS[0]), member(2, "b", gtin=GTINS[0], price_minor=10_000)
    assert ids(cheap, carton) == [None, None]
    assert "price 1000 here, 10000 (minor units, EUR) at b" in match([cheap, carton])[1].doubts
    assert None not in ids(cheap, member(2, "b", gtin=GTINS[0], price_minor=9_999))
    assert None not in ids(cheap, member(2, "b", gtin=GTINS[0], price_minor=150_000, currency="JPY"))
    assert None not in ids(cheap, member(2, "b", gtin=GTINS[0], price_minor=None))


def test_a_brand_that_is_only_written_otherwise_is_no_conflict() -> None:
    assert None not in ids(
        member(1, "a", gtin=GTINS[0], brand="Bosch"), member(2, "b", gtin=GTINS[0], brand="Bosch Professional")
    )
    assert None not in ids(
        member(1, "a", gtin=GTINS[0], brand="HP"),
        member(2, "b", gtin=GTINS[0], brand="Hewlett Packard", name="HP LaserJet 4"),
    )


def test_the_name_is_no_reason_to_match() -> None:
    stage = SameProduct()
    named = [Subject(id=number, page_id=number, listing=listing(store=store)) for number, store in ((1, "a"), (2, "b"))]
    assert list(stage.derive_all(named)) == []


def test_a_number_that_all_variants_of_a_page_share_is_that_of_none_of_them() -> None:
    found = match([member(1, "a", gtin=GTINS[0], page_id=7), member(2, "a", gtin=GTINS[0], page_id=7)])
    assert [one.id for one in found.values()] == [None, None]
    assert "2 variants" in found[1].doubts[0]


def test_a_number_on_many_pages_of_one_shop_is_a_placeholder_there_and_good_elsewhere() -> None:
    careless = [member(number, "careless", gtin=GTINS[0]) for number in range(11)]
    found = match([*careless, member(99, "b", gtin=GTINS[0])])
    assert {one.id for number, one in found.items() if number < 11} == {None}
    assert (found[99].id, found[99].stores) == (f"gtin:{GTINS[0]}", 1)


def test_the_stage_says_how_it_matched_and_flags_what_it_did_not() -> None:
    subjects = [
        Subject(id=1, page_id=1, listing=listing(store="a", gtin=GTINS[0], brand="Acme", price_minor=100)),
        Subject(id=2, page_id=2, listing=listing(store="b", gtin=GTINS[0], brand="Foo", price_minor=100)),
        Subject(id=3, page_id=3, listing=listing(store="b", gtin=GTINS[1])),
    ]
    said = dict(SameProduct().derive_all(subjects))
    assert said[3].facts == {"group": f"gtin:{GTINS[1]}", "matched_by": "gtin", "stores": 1, "listings": 1}
    assert (said[1].flagged, said[1].group, said[1].facts["candidate"]) == (True, None, f"gtin:{GTINS[0]}")


def listing(**fields: Any) -> Listing:
    return Listing(**{"url_key": "k", "url": "u", "name": "Anvil", "currency": "EUR", **fields})


members = st.builds(
    member,
    st.integers(1, 10**6),
    st.sampled_from("abcd"),
    gtin=st.sampled_from([None, *GTINS]),
    part=st.sampled_from([None, "acme:ab100", "acme:ab200", "foo:ab100"]),
    brand=st.sampled_from([None, "Acme", "Acme Tools", "Foo"]),
    page_id=st.integers(1, 6),
    price_minor=st.sampled_from([None, 100, 950, 1_000, 99_999]),
    currency=st.sampled_from(["EUR", "USD"]),
).filter(lambda one: bool(one.gtin or one.part))
groups = st.lists(members, max_size=25, unique_by=lambda one: one.id)


@given(groups, st.randoms(use_true_random=False))
def test_the_order_of_the_listings_does_not_matter(found: list[Member], rng: random.Random) -> None:
    mixed = found[:]
    rng.shuffle(mixed)
    assert list(match(mixed).items()) == list(match(found).items())


@given(groups, members)
def test_one_more_listing_never_moves_a_listing_with_a_gtin_to_another_id(found: list[Member], more: Member) -> None:
    before = match(found)
    after = match([*(one for one in found if one.id != more.id), more])
    for one in found:
        if one.gtin and one.id != more.id:
            assert {before[one.id].id, after[one.id].id} <= {None, f"gtin:{one.gtin}"}


@given(groups)
def test_whoever_shares_an_id_shares_a_number(found: list[Member]) -> None:
    matched = match(found)
    for one in found:
        key = matched[one.id].id
        if key is not None:
            assert key in (f"gtin:{one.gtin}", f"mpn:{one.part}") or any(
                other.part == one.part and key == f"gtin:{other.gtin}" for other in found
            )


@given(groups)
def test_groups_count_their_shops_and_listings(found: list[Member]) -> None:
    matched = match(found)
    store_of = {one.id: one.store for one in found}
    for key in {one.id for one in matched.values()} - {None}:
        inside = [number for number, one in matched.items() if one.id == key]
        counts = {(matched[number].stores, matched[number].listings) for number in inside}
        assert counts == {(len({store_of[number] for number in inside}), len(inside))}
