"""What the write gate counts of a re-parse, and how much of it is too much."""

from __future__ import annotations

from dataclasses import replace

from storebot.core.gate_correction import correction_facts, correction_limits, tripped
from storebot.core.gate_facts import Facts, Kind
from storebot.core.gate_limits import Declared, Planned
from storebot.core.gate_tally import Tally
from storebot.items import Availability, Listing

MUG = Listing(
    store="shop",
    url_key="https://shop.example/p/1",
    url="https://shop.example/p/1",
    name="Mug",
    price_minor=1000,
    currency="EUR",
    brand="Acme",
    description="A mug.",
    availability=Availability.IN_STOCK,
)


def facts(*after: Listing, before: tuple[Listing, ...] = (MUG,), vanished: int = 0) -> Facts:
    old, new = ({one.variant_id: one for one in found} for found in (before, after))
    return correction_facts(old, new, vanished=vanished, record="r")


def variants(count: int) -> tuple[Listing, ...]:
    return tuple(replace(MUG, variant_id=str(number)) for number in range(count))


def test_the_loss_of_any_value_counts_for_the_bytes_still_have_it() -> None:
    bare = replace(MUG, price_minor=None, brand=None, description=None)
    assert facts(bare).lost == ("price_minor", "brand", "description")
    assert facts(MUG, before=(bare,)).lost == ()


def test_another_name_by_other_rules_is_no_other_product() -> None:
    found = facts(replace(MUG, name="Cup", brand="Bodum", sku="7"))
    assert (found.kind, found.identity, found.replaced) == (Kind.REBASED, False, False)


def test_most_variants_do_not_go_by_themselves() -> None:
    assert facts(*variants(1), before=variants(3), vanished=2).lost == ("variants",)
    assert facts(*variants(2), before=variants(3), vanished=1).lost == ()


def test_variants_that_were_not_observed_are_not_lost() -> None:
    assert facts(*variants(1), before=variants(3), vanished=0).lost == ()


def test_variants_under_other_numbers_are_not_lost() -> None:
    renamed = tuple(replace(one, variant_id=f"v{one.variant_id}") for one in variants(3))
    assert facts(*renamed, before=variants(3), vanished=3).lost == ()


def test_the_more_telling_gate_comes_first_and_a_calm_one_not_at_all() -> None:
    tally = Tally()
    for _ in range(10):
        tally.add_facts(facts(replace(MUG, price_minor=100_000, description=None)))
    gates = [one.gate for one in tripped(tally, correction_limits(Declared(), 1000))]
    assert (gates[0], "lost" in gates, "identity" in gates) == ("price", True, False)
    assert tripped(Tally(seen=10), correction_limits(Declared(), 10)) == []


def test_three_pages_are_enough_where_they_are_all() -> None:
    tally = Tally()
    for number in range(3):
        tally.add_facts(replace_record(facts(replace(MUG, price_minor=None)), str(number)))
    assert [one.gate for one in tripped(tally, correction_limits(Declared(), 3))] == ["lost"]
    assert tripped(tally, correction_limits(Declared(), 4)) == []


def test_a_planned_sale_excuses_no_parser() -> None:
    sale = Planned(0, 2**62, "all", "sale")
    assert correction_limits(Declared(planned=(sale,), price_ratio=5.0), 9).planned == ""
    assert correction_limits(Declared(planned=(sale,), price_ratio=5.0), 9).price_ratio == 5.0


def replace_record(found: Facts, record: str) -> Facts:
    return found._replace(record=record)
