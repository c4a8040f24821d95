"""Which listings can't be believed: the reasons to keep the old row instead of writing a new one."""

from __future__ import annotations

from collections.abc import Sequence

from storebot.core.parsing.rules import ProductRules
from storebot.items import Listing, Problem

# The names that a store file's [expect] uses → where a listing keeps the value.
_ATTRIBUTES = {
    "price": "price_minor",
    "regular_price": "regular_price_minor",
    "price_min": "price_min_minor",
    "price_max": "price_max_minor",
}
_AMOUNTS = tuple(_ATTRIBUTES.values())
_NO_RULES = ProductRules()
NOT_BUYABLE = frozenset({"OutOfStock", "SoldOut", "Discontinued"})


def validate(
    listing: Listing,
    required: Sequence[str] = ("name",),
    problems: Sequence[Problem] = (),
    rules: ProductRules = _NO_RULES,
) -> tuple[Problem, ...]:
    """Return the problems for which a listing is refused; none means that it may be published.

    Refused are: no name; a price that was found and can't be read (`normalise` keeps its source without a value);
    an amount without a currency; a required field without a value. A listing that is out of stock may lack a price even
    where one is required, and a listing without price and availability is right for a shop that shows none: a store
    that has prices says so by requiring them. A range counts as a price. ``problems`` are those of `normalise`, which
    say why, and ``rules`` those that were tried.
    """
    found = [] if listing.name else [Problem("name", f"the page yields no name{_tried('name', rules)}")]
    if listing.price_minor is None and "price" in listing.field_source:
        why = next((one.reason for one in problems if one.field == "price"), "a price was found and can't be read")
        found.append(Problem("price", why))
    if listing.currency is None and any(getattr(listing, name) is not None for name in _AMOUNTS):
        found.append(Problem("currency", "the page has a price and no currency: declare `currency` in the store file"))
    found += [_missing(name, problems, rules) for name in required if name != "name" and not has(listing, name)]
    return tuple({problem.field: problem for problem in reversed(found)}.values())[::-1]


def has(listing: Listing, name: str) -> bool:
    """Say whether a listing has what a store asks of it, or may lack it because it can't be bought."""
    value = getattr(listing, _ATTRIBUTES.get(name, name))
    if name == "price":
        return value is not None or listing.price_min_minor is not None or listing.availability in NOT_BUYABLE
    if name == "currency":
        return bool(value) or listing.availability in NOT_BUYABLE
    return value == 0 or bool(value)  # no reviews yet is an answer


def _missing(name: str, problems: Sequence[Problem], rules: ProductRules) -> Problem:
    why = next((f": {one.reason}" for one in problems if one.field == name), "")
    return Problem(name, f"the store requires it, and the page yields none{why}{_tried(name, rules)}")


def _tried(name: str, rules: ProductRules) -> str:
    tried = rules.tried_in_words(name).removeprefix(f"{name}: ")
    return f" (tried {tried})" if tried else ""
