"""Several sources of one page laid over each other: which one wins each field, and where they disagree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from storebot.core.parsing.offers import has_amount
from storebot.core.parsing.rules import PARSER
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.values import Values, amounts, is_amount, same_amount
from storebot.items import Disagreement, Extracted

DECLARED = "declared"
VARIANT_SOURCES = frozenset({"shopify", "woocommerce"})
"""What a shop's platform writes into its scripts, for the buyer to choose a variant by."""

_VARIANT = re.compile(r"[?&]variant=(\w+)")

Key = Callable[[Values], object]

# Said of one thing that is sold: a page-level source must not lend them to one of several variants.
OFFER_FIELDS = frozenset(
    {"price", "regular_price", "price_min", "price_max", "availability", "condition"}
    | {"sku", "gtin", "mpn", "url", "variant_id", "options"}
)
_PAIRED = ("regular_price", "price_min", "price_max")
_MONEY = ("price", "currency", *_PAIRED)
_COMPARED = ("price", "currency", "availability")


def lay(sources: Sequence[Found], declared: Mapping[str, str]) -> tuple[Extracted, ...]:
    """Return a record per listing: each field from the first source that has it, the declared constants last.

    Which listings there are, `_base` decides. A regular price or a range never joins a price that its own source
    contradicts. Sources that disagree on price, currency or availability are recorded.
    """
    speaking = [source for source in sources if source.records]
    if not speaking:
        return ()
    base = _base(speaking)
    if all(len(source.records) == 1 for source in speaking):
        return (_listing(speaking, _said_of_one(speaking, base), declared, ()),)
    asked = [_Index(source.records) for source in speaking]
    own = _Index(base.records)
    outside = list(_outside(speaking, base))
    return tuple(
        _listing(
            speaking,
            [row if one is base else _said_of(row, own, index) for one, index in zip(speaking, asked, strict=True)],
            declared,
            outside,
        )
        for row in base.records
    )


def _base(speaking: Sequence[Found]) -> Found:
    """Return the source that says which listings there are.

    A store's own code where it tells variants apart; else the first source with a price, but that what a platform
    writes into its scripts knows the variants of a product that others give as one, and so does any source beside one
    that has only a range; without prices, the first that tells variants apart.
    """
    families = [source for source in speaking if len(source.records) > 1]
    coded = next((source for source in families if source.source == PARSER), None)
    first = next((source for source in speaking if any(map(has_amount, source.records))), None)
    if coded is not None or first is None:
        return coded or next(iter(families), speaking[0])
    if len(first.records) > 1:
        return first
    for source in families:
        is_range = "price" not in first.records[0]
        if any(map(has_amount, source.records)) and (is_range or source.source in VARIANT_SOURCES):
            return source
    return first


class _Index:
    """The records of a source by what may tell them apart: two sources may have thousands of variants each."""

    def __init__(self, records: Sequence[Values]) -> None:
        self.records = records
        self._by: dict[tuple[Key, object], list[Values]] = {}
        for key in _KEYS:
            for record in records:
                self._by.setdefault((key, key(record)), []).append(record)

    def having(self, key: Key, value: object) -> Sequence[Values]:
        """Return the records that have a value as their key."""
        return self._by.get((key, value), ())


def _said_of_one(speaking: Sequence[Found], base: Found) -> list[Values]:
    """Return what each source says where all have one record: as `_said_of` does, without looking anything up."""
    wanted = base.records[0].get("variant_id")
    return [
        record
        if source is base or record.get("variant_id") == wanted
        else {name: value for name, value in record.items() if name not in OFFER_FIELDS}
        for source in speaking
        for record in source.records
    ]


def _said_of(row: Values, base: _Index, source: _Index) -> Values:
    """Return what a source says of one listing: its record of that listing, or else what holds for all of them."""
    for key in _KEYS:
        wanted = key(row)
        same = source.having(key, wanted)
        if len(same) == 1 and (key is _variant_id or (wanted and _is_own(key, wanted, base))):
            return same[0]
    shared = {name: value for name, value in source.records[0].items() if name not in OFFER_FIELDS}
    parent = source.records[0].get("sku") if len(source.records) == 1 < len(base.records) else None
    if isinstance(parent, str) and not base.having(_sku, parent):
        shared.setdefault("item_group_id", parent)
    return shared


def _is_own(key: Key, wanted: object, base: _Index) -> bool:
    """Say whether a key tells one listing from its siblings: variants may all have the SKU of their parent."""
    return len(base.having(key, wanted)) == 1 < len(base.records)


def _variant_id(record: Values) -> object:
    return record.get("variant_id")


def _sku(record: Values) -> object:
    return record.get("sku")


def _variant_parameter(record: Values) -> object:
    url = record.get("url")
    return match[1] if isinstance(url, str) and (match := _VARIANT.search(url)) else None


def _option_values(record: Values) -> object:
    options = record.get("options")
    return tuple(sorted(text.casefold() for text in options.values())) if isinstance(options, dict) else None


_KEYS: tuple[Key, ...] = (_variant_id, _sku, _variant_parameter, _option_values)


def _listing(
    sources: Sequence[Found],
    records: Sequence[Values],
    declared: Mapping[str, str],
    outside: Sequence[tuple[str, str]],
) -> Extracted:
    pairs = list(zip(sources, records, strict=True))
    values, origin = _laid(pairs) if len(pairs) > 1 else _alone(*pairs[0])
    for name, constant in declared.items():
        if name not in values:
            values[name], origin[name] = constant, DECLARED
    found = [Disagreement(name, dict(said)) for source in sources for name, said in source.conflicts.items()]
    if len(pairs) > 1 or "currency" in declared:
        found.extend(_disagreements(pairs, origin, values, declared))
    if "price" in values:
        chosen = {origin["price"]: str(values["price"])}
        found.extend(Disagreement("price", {**chosen, label: price}) for label, price in outside)
    return Extracted(values=values, sources=origin, disagreements=tuple(found))


def _alone(source: Found, record: Values) -> tuple[Values, dict[str, str]]:
    return dict(record), {name: source.sources.get(name, source.source) for name in record}


def _laid(pairs: Sequence[tuple[Found, Values]]) -> tuple[Values, dict[str, str]]:
    values: Values = {}
    origin: dict[str, str] = {}
    # The money first, whole from the first source that has a price: its currency must not come from another one.
    money = next((pair for pair in pairs if has_amount(pair[1])), None)
    if money is not None:
        _add(values, origin, money[0], {name: money[1][name] for name in _MONEY if name in money[1]})
    for source, record in pairs:
        _add(values, origin, source, record)
    return values, origin


def _add(values: Values, origin: dict[str, str], source: Found, record: Values) -> None:
    contradicted = _contradicts(record, values)
    for name, value in record.items():
        if name not in values and not (contradicted and name in _PAIRED):
            values[name] = value
            origin[name] = source.sources.get(name, source.source)


def _contradicts(record: Values, values: Values) -> bool:
    ours, theirs = values.get("price"), record.get("price")
    return isinstance(ours, str) and isinstance(theirs, str) and not same_amount(ours, theirs)


def _disagreements(
    pairs: Iterable[tuple[Found, Values]], origin: Mapping[str, str], values: Values, declared: Mapping[str, str]
) -> list[Disagreement]:
    found: list[Disagreement] = []
    said = [(source.source, record) for source, record in pairs]
    said.append((DECLARED, {name: text for name, text in declared.items() if name == "currency"}))
    for name in _COMPARED:
        chosen = values.get(name)
        others = {label: text for label, record in said if isinstance(text := record.get(name), str)}
        differing = {
            label: text for label, text in others.items() if isinstance(chosen, str) and not _agree(name, chosen, text)
        }
        if differing and isinstance(chosen, str):
            found.append(Disagreement(name, {origin[name]: chosen, **differing}))
    return found


def _outside(sources: Sequence[Found], base: Found) -> Iterator[tuple[str, str]]:
    """Yield the sources, and their price, that have one for a product whose variants all cost less, or all more."""
    if len(base.records) < 2:
        return
    prices = [amount for record in base.records for amount in amounts(str(record.get("price", "")))]
    if not prices:
        return
    low, high = min(prices), max(prices)
    for source in sources:
        price = source.records[0].get("price")
        if source is base or len(source.records) > 1 or not isinstance(price, str) or not is_amount(price):
            continue
        said = amounts(price)
        if said and not any(low <= one <= high for one in said):
            yield source.source, price


def _agree(name: str, left: str, right: str) -> bool:
    if name == "price":
        return same_amount(left, right)
    if name == "availability":
        terms = _term(left), _term(right)
        # Free text of a page isn't a term: only who reads the language can compare it.
        return terms[0] == terms[1] or not all(term in _TERMS for term in terms)
    return left.strip().upper() == right.strip().upper()


_TERMS = frozenset(
    {"instock", "outofstock", "soldout", "preorder", "presale", "backorder", "limitedavailability", "instoreonly"}
    | {"onlineonly", "madetoorder", "reserved", "discontinued"}
)


def _term(text: str) -> str:
    return "".join(filter(str.isalnum, text.rpartition("/")[2].lower()))
