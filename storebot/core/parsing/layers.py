"""Several sources of one page laid over each other: which one wins each field, and where they disagree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from storebot.core.parsing.offers import has_amount
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.values import Values, same_amount
from storebot.items import Disagreement, Extracted

DECLARED = "declared"

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

    The first source with a price says which listings there are (else the first that tells variants apart). A regular
    price or a range never joins a price that its own source contradicts. Sources that disagree on price, currency or
    availability are recorded.
    """
    speaking = [source for source in sources if source.records]
    if not speaking:
        return ()
    priced = (source for source in speaking if any(map(has_amount, source.records)))
    base = next(priced, None) or max(speaking, key=lambda source: len(source.records) > 1)
    return tuple(
        _listing(speaking, [_said_of(row, base, source) for source in speaking], declared) for row in base.records
    )


def _said_of(row: Values, base: Found, source: Found) -> Values:
    """Return what a source says of one listing: its record of that listing, or else what holds for all of them."""
    if source is base:
        return row
    for record in source.records:
        if record.get("variant_id") == row.get("variant_id"):
            return record
    return {name: value for name, value in source.records[0].items() if name not in OFFER_FIELDS}


def _listing(sources: Sequence[Found], records: Sequence[Values], declared: Mapping[str, str]) -> Extracted:
    pairs = list(zip(sources, records, strict=True))
    values, origin = _laid(pairs) if len(pairs) > 1 else _alone(*pairs[0])
    for name, constant in declared.items():
        if name not in values:
            values[name], origin[name] = constant, DECLARED
    found = [Disagreement(name, dict(said)) for source in sources for name, said in source.conflicts.items()]
    if len(pairs) > 1 or "currency" in declared:
        found.extend(_disagreements(pairs, origin, values, declared))
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
