"""Listings of all kinds, for the laws of hashing and comparing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from storebot.items import Availability, Listing

BASE = Listing(
    store="s",
    url_key="https://s.example/p",
    url="https://s.example/p",
    name="Drill",
    price_minor=14999,
    regular_price_minor=17999,
    currency="EUR",
    availability=Availability.IN_STOCK,
    options={"Size": "L", "Color": "red"},
    category_path=("Home", "Tools"),
    images=("https://cdn.example/1.jpg?v=1717&sig=ab1", "https://cdn.example/2.jpg"),
    description="A drill",
)

_TEXT = st.sampled_from([None, "", "a", "b", "é", "می\u200cخواهم", "میخواهم"])
_MINOR = st.sampled_from([None, 0, 1, 14999, 17999])


def changed(**fields: Any) -> Listing:
    return replace(BASE, **fields)


LISTINGS = st.builds(
    changed,
    name=_TEXT,
    brand=_TEXT,
    price_minor=_MINOR,
    regular_price_minor=_MINOR,
    price_min_minor=_MINOR,
    currency=st.sampled_from([None, "EUR", "USD"]),
    availability=st.sampled_from([None, *Availability]),
    options=st.dictionaries(st.sampled_from(["Size", "Color"]), st.sampled_from(["L", "M"])),
    category_path=st.lists(st.sampled_from(["Home", "Tools", "Drills"]), max_size=3).map(tuple),
    description=_TEXT,
    rating_value=_TEXT,
    seller=_TEXT,
)
