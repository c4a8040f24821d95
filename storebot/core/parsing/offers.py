"""The offers of a schema.org product: which are real, which are variants, and which price is *the* price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from storebot.core.gtin import gtin_of_isbn
from storebot.core.parsing.values import (
    Clean,
    Values,
    amounts,
    from_dom,
    is_amount,
    is_placeholder,
    many,
    same_amount,
    text_of,
)

Node = Mapping[str, Any]

MAX_OFFERS = 2000
_GTINS = ("gtin", "gtin13", "gtin14", "gtin12", "gtin8")
_LIST_PRICES = ("listprice", "strikethroughprice", "msrp", "srp", "suggestedretailprice", "regularprice")
_OTHER_PRICES = ("minimumadvertisedprice", "invoiceprice", "downpayment", "installment")
_OPTION_NAMES = ("color", "size", "material", "pattern")


def code_of(node: Node, clean: Clean, *names: str) -> str | None:
    """Return the first of the named codes that says something: ``-`` and ``N/A`` don't."""
    for name in names:
        value = node.get(name)
        text = None if value is None else text_of(value, clean, "@value", "value", "name")
        if text and not is_placeholder(text):
            return text
    return None


def gtin_of(node: Node, clean: Clean) -> str | None:
    if code := code_of(node, clean, *_GTINS):
        return code
    isbn = code_of(node, clean, "isbn")
    return gtin_of_isbn(isbn) if isbn else None


def options_of(node: Node, clean: Clean, only: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return what tells a variant from its siblings, by name; ``only`` are the properties that the group varies by."""
    found: dict[str, str] = {}
    for name in _OPTION_NAMES:
        if (not only or name in only) and (text := text_of(node.get(name), clean, "name", "value")):
            found[name] = text
    for extra in many(node.get("additionalProperty")):
        if isinstance(extra, dict):
            name_, value = text_of(extra.get("name"), clean), text_of(extra.get("value"), clean)
            if name_ and value and (not only or name_.lower() in only):
                found[name_] = value
    return found


def read_offers(offers: Any, clean: Clean) -> list[Values]:
    """Read offers (an object, a list, an AggregateOffer with offers inside) into one record each, in page order.

    No more than `MAX_OFFERS` are looked at.
    """
    found: list[Values] = []
    for offer in islice(_flattened(offers, 3), MAX_OFFERS):
        record = _read_offer(offer, clean)
        if record and record not in found[-50:]:
            found.append(record)
    return found


def choose(offers: Sequence[Values]) -> list[Values]:
    """Return one record per variant where the offers are variants, else one record for the product.

    Without an identity of its own an empty or zero offer yields to a real one; used and open-box offers yield to new
    ones. Several different prices that nothing tells apart are a range, never the first or the cheapest.
    """
    if len(offers) < 2:
        return list(offers)
    fresh = _only_new(offers)
    real = [offer for offer in fresh if has_amount(offer)]
    identities = identify(fresh)
    if identities is None and real and len(real) < len(fresh):
        fresh, identities = real, identify(real)
    if identities is None:
        return [_summary(fresh)] if fresh else []
    variants = [{**offer, "variant_id": identity} for offer, identity in zip(fresh, identities, strict=True)]
    return sorted(variants, key=lambda variant: str(variant["variant_id"]))


def has_amount(offer: Values) -> bool:
    """Say whether a record has a price, or a range, that isn't blank or zero."""
    return any(is_amount(str(offer.get(name, ""))) for name in ("price", "price_min", "price_max"))


def identify(records: Sequence[Values]) -> list[str] | None:
    """Return an identity for each of several records, or None where nothing tells all of them apart.

    One kind for all, the most durable that fits: SKU, GTIN, what differs in the URL, the options. Never the position
    or an order of the page, which change by themselves.
    """
    if len(records) < 2:
        return None
    kinds = ([_text(r, "sku") for r in records], [_text(r, "gtin") for r in records], _url_parts(records))
    for kind in (*kinds, [_option_text(record) for record in records]):
        identities = [from_dom(text) for text in kind]
        if all(identities) and len(set(identities)) == len(identities):
            return identities
    return None


def _flattened(offers: Any, depth: int) -> Iterator[Node]:
    for offer in many(offers):
        if not isinstance(offer, dict):
            continue
        inner = [item for item in many(offer.get("offers")) if isinstance(item, dict)] if depth else []
        if inner:
            shared = {name: offer[name] for name in ("priceCurrency", "availability", "seller") if name in offer}
            nested = list(_flattened(inner, depth - 1))
            if any("price" in item or "priceSpecification" in item for item in nested):
                yield from ({**shared, **item} for item in nested)
                continue
        yield offer


def _read_offer(offer: Node, clean: Clean) -> Values:
    item = offer.get("itemOffered")
    about: Node = {**item, **offer} if isinstance(item, dict) else offer
    values: dict[str, Any] = {
        **_prices(offer, clean),
        "availability": _said(text_of(offer.get("availability"), clean, "@id", "name", "url")),
        "condition": text_of(offer.get("itemCondition"), clean, "@id", "name", "url"),
        "seller": text_of(offer.get("seller") or offer.get("offeredBy"), clean, "name"),
        "sku": code_of(about, clean, "sku"),
        "gtin": gtin_of(about, clean),
        "mpn": code_of(about, clean, "mpn"),
        "url": text_of(about.get("url"), clean, "@id"),
        "options": options_of(about, clean),
    }
    return {name: value for name, value in values.items() if value}


def _prices(offer: Node, clean: Clean) -> dict[str, str | None]:
    price = _said(text_of(offer.get("price"), clean, "@value", "value", "price"))
    currency = _said(text_of(offer.get("priceCurrency"), clean, "@value", "name"))
    low, high = _said(text_of(offer.get("lowPrice"), clean)), _said(text_of(offer.get("highPrice"), clean))
    regular: str | None = None
    candidates: list[str] = []
    for spec in many(offer.get("priceSpecification")):
        if not isinstance(spec, dict):
            continue
        amount = _said(text_of(spec.get("price"), clean, "@value", "value"))
        low, high = low or text_of(spec.get("minPrice"), clean), high or text_of(spec.get("maxPrice"), clean)
        kind = _term(text_of(spec.get("priceType"), clean, "@id", "name"))
        if kind in _LIST_PRICES:
            regular = regular or amount
        elif amount and kind not in _OTHER_PRICES and _is_for_everybody(spec):
            candidates.append(amount)
            currency = currency or text_of(spec.get("priceCurrency"), clean)
    if not price and candidates:
        agreed = all(same_amount(candidates[0], other) for other in candidates)
        price, low, high = (
            (candidates[0], low, high) if agreed else (None, low or candidates[0], high or candidates[-1])
        )
    if not price and low and high and same_amount(low, high):
        price = low
    return {"price": price, "regular_price": regular, "currency": currency, "price_min": low, "price_max": high}


def _said(text: str | None) -> str | None:
    """Return a text that says something: shops write "false", "-" and "n/a" where they have no price."""
    return None if text is None or is_placeholder(text) else text


def _is_for_everybody(spec: Node) -> bool:
    """Say whether a price is what one buyer pays for one piece: not a member's, not one per 100 g or per month."""
    return not any(spec.get(name) for name in ("referenceQuantity", "validForMemberTier", "billingDuration"))


def _term(text: str | None) -> str:
    return (text or "").rpartition("/")[2].lower()


def _only_new(offers: Sequence[Values]) -> list[Values]:
    conditions = {_term(_text(offer, "condition")) for offer in offers}
    if "newcondition" not in conditions or len(conditions) < 2:
        return list(offers)
    return [offer for offer in offers if _term(_text(offer, "condition")) in ("newcondition", "")]


def _summary(offers: Sequence[Values]) -> Values:
    """Return one record for offers that aren't variants."""
    merged: Values = {}
    for offer in offers:
        for name, value in offer.items():
            merged.setdefault(name, value)
    if len(offers) > 1:
        for name in ("sku", "gtin", "mpn", "url", "options", "price", "regular_price", "price_min", "price_max"):
            merged.pop(name, None)
        merged.update(_common_price(offers))
        merged.update({"availability": found} if (found := _best_availability(offers)) else {})
    return merged


def _common_price(offers: Sequence[Values]) -> Values:
    currencies = {_text(offer, "currency").upper() for offer in offers if "currency" in offer}
    bounds = [text for offer in offers for n in ("price", "price_min", "price_max") if (text := _text(offer, n))]
    prices = [offer for offer in offers if "price" in offer]
    if not bounds or len(currencies) > 1:
        return {}
    if all(same_amount(bounds[0], other) for other in bounds):
        pair = {"price": bounds[0]}
        regulars = {_text(offer, "regular_price") for offer in prices}
        return {**pair, **({"regular_price": regulars.pop()} if len(regulars) == 1 and regulars != {""} else {})}
    ordered = sorted(bounds, key=_magnitude)
    return {"price_min": ordered[0], "price_max": ordered[-1]}


def _magnitude(text: str) -> Decimal:
    return max(amounts(text), default=Decimal(0))


def _best_availability(offers: Sequence[Values]) -> str:
    found = [_text(offer, "availability") for offer in offers if "availability" in offer]
    return next((text for text in found if _term(text) == "instock"), found[0] if found else "")


def _text(record: Values, name: str) -> str:
    value = record.get(name, "")
    return value if isinstance(value, str) else ""


def _option_text(record: Values) -> str:
    options = record.get("options")
    return "|".join(f"{k}={v}" for k, v in sorted(options.items())) if isinstance(options, dict) else ""


def _url_parts(records: Sequence[Values]) -> list[str]:
    """Return what differs between the URLs: the value of one parameter, several as ``a=1&b=2``, or the path."""
    try:
        split = [urlsplit(_text(record, "url")) for record in records]
    except ValueError:
        return [""] * len(records)
    if len({parts.path.rstrip("/") for parts in split}) > 1:
        return [parts.path.strip("/") for parts in split]
    queries = [dict(parse_qsl(parts.query)) for parts in split]
    common = set.intersection(*(set(query.items()) for query in queries))
    own = [sorted(set(query.items()) - common) for query in queries]
    if all(len(pairs) == 1 for pairs in own) and len({pairs[0][0] for pairs in own}) == 1:
        return [pairs[0][1] for pairs in own]
    return ["&".join(f"{name}={value}" for name, value in pairs) for pairs in own]
