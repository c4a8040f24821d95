"""The money of a listing: texts of prices and of a currency made minor units of one ISO 4217 currency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from storebot.core.availability import read_availability
from storebot.core.money import EXPONENTS, rounded, to_minor
from storebot.core.parsing.currency import currencies_named
from storebot.core.parsing.price import Price, parse_price
from storebot.core.parsing.rules import PARSER_NUMBER
from storebot.items import Disagreement, Problem

_MACHINE = ("jsonld", "microdata", "rdfa", "opengraph", "shopify", "woocommerce", "merchant", PARSER_NUMBER)
_NO_PRICE = frozenset({"placeholder", "on_request"})
_BOUNDS = ("price_min", "price_max")


@dataclass(slots=True)
class Offer:
    """What the page says about money; ``sources`` has the fields that were found, ``price`` even unreadable."""

    price_minor: int | None = None
    regular_price_minor: int | None = None
    price_min_minor: int | None = None
    price_max_minor: int | None = None
    currency: str | None = None
    sources: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)


def is_machine(source: str) -> bool:
    """Whether a source gives values for machines, in which '.' is the decimal point."""
    return source.startswith(_MACHINE)


def read_offer(
    values: Mapping[str, object], sources: Mapping[str, str], *, decimal: str | None, declared: str | None
) -> Offer:
    """Read ``price``, ``regular_price``, ``price_min``, ``price_max`` and ``currency`` as one offer.

    The currency is the one that the price's own text names for certain, else the page's, else the declared one; where
    the first differs from the others, both are kept as a disagreement. Zero, one cent, "call for price" are no prices:
    the price is None with a problem. A price that is found but can't be read, or can be read in two ways, or has no
    currency, is None too, but its source stays, so that validation refuses the listing. A range gives its bounds, and a
    price only if they're equal.
    """
    offer = Offer()
    found = _page_currency(values, sources, declared, offer)
    texts = {name: text for name in ("price", "regular_price", *_BOUNDS) if isinstance(text := values.get(name), str)}
    if not any(texts.values()):
        if found:
            offer.currency = found
            offer.sources["currency"] = sources.get("currency", "declared")
        return offer
    main = _main_price(texts, sources, decimal, found, offer)
    offer.currency = _settle_currency(main, found, sources, offer)
    if main is not None and main.is_price:
        _take_price(main, sources.get("price", ""), offer)
    for name in _BOUNDS:
        if texts.get(name) and (parsed := _parsed(texts[name], sources.get(name, ""), decimal, offer.currency)):
            _take(name, parsed, sources.get(name, ""), offer)
    _agree_bounds(offer)
    if texts.get("regular_price") and offer.price_minor is not None:
        _take_regular(texts["regular_price"], sources.get("regular_price", ""), decimal, offer)
    return offer


def _page_currency(
    values: Mapping[str, object], sources: Mapping[str, str], declared: str | None, offer: Offer
) -> str | None:
    text = values.get("currency")
    if not isinstance(text, str) or not text.strip():
        return declared
    if text in EXPONENTS:
        return text
    codes = currencies_named(text)
    if len(codes) == 1:
        return codes[0]
    if declared is None or (codes and declared not in codes):
        wanted = "is the sign of several currencies" if codes else "is no ISO 4217 currency"
        offer.problems.append(Problem("currency", f"{text[:60]!r} ({sources.get('currency', '?')}) {wanted}"))
    elif not codes:
        offer.problems.append(Problem("currency", f"{text[:60]!r} is no ISO 4217 currency: {declared} is declared"))
    return declared


def _parsed(text: str, source: str, decimal: str | None, currency: str | None) -> Price | None:
    return parse_price(text, decimal=decimal, machine=is_machine(source), currency_hint=currency)


def _main_price(
    texts: Mapping[str, str], sources: Mapping[str, str], decimal: str | None, currency: str | None, offer: Offer
) -> Price | None:
    """Parse the price, or else the first other amount, for its currency. Problems of the price are noted."""
    text = texts.get("price", "")
    if not text.strip():
        other = next((name for name in (*_BOUNDS, "regular_price") if texts.get(name)), None)
        parsed = _parsed(texts[other], sources.get(other, ""), decimal, currency) if other else None
        return None if parsed is None else Price(None, parsed.currency)
    source = sources.get("price", "")
    price = _parsed(text, source, decimal, currency)
    if price is None and not any(char.isdigit() for char in text) and read_availability(text) is not None:
        offer.problems.append(Problem("price", f"{text[:60]!r} ({source}) tells of stock and names no price"))
        return None
    if price is not None and price.kind in _NO_PRICE:
        offer.problems.append(Problem("price", f"{text[:60]!r} ({source}) is a placeholder: {price.note}"))
        return price
    if price is None or not price.is_price:
        why = price.note if price else "it holds no amount"
        offer.problems.append(Problem("price", f"{text[:60]!r} ({source}) can't be read as a price: {why}"))
        offer.sources["price"] = source
    return price


def _settle_currency(main: Price | None, found: str | None, sources: Mapping[str, str], offer: Offer) -> str | None:
    own = main.currency if main else None
    if main is not None and own is None and main.amount is not None and found is not None:
        # The text has a sign that can't be the page's currency, such as "$" where EUR is declared.
        offer.problems.append(Problem("currency", f"the price isn't in {found}: {main.note}"))
        return None
    if own and found and own != found:
        offer.problems.append(Problem("currency", f"the price is in {own}, and the page or the store says {found}"))
        said = {sources.get("price", "price"): own, sources.get("currency", "declared"): found}
        offer.disagreements.append(Disagreement("currency", said))
    currency = own or found
    if currency is not None:
        offer.sources["currency"] = (
            sources.get("price", "") if own and own != found else sources.get("currency", "declared")
        )
    return currency


def _take_price(price: Price, source: str, offer: Offer) -> None:
    if price.low is not None:
        _take_amount("price_min", price.low, source, offer)
        if price.high is not None:
            _take_amount("price_max", price.high, source, offer)
    elif price.amount is not None:
        offer.sources["price"] = source
        _take_amount("price", price.amount, source, offer)


def _take(name: str, price: Price, source: str, offer: Offer) -> None:
    if price.is_price and price.amount is not None and price.currency == offer.currency:
        _take_amount(name, price.amount, source, offer)
    elif price.kind not in _NO_PRICE:
        why = price.note or f"it's in {price.currency}, and the price in {offer.currency}"
        offer.problems.append(Problem(name, f"{price.amount} ({source}) can't be read as a price: {why}"))


def _take_amount(name: str, amount: Decimal, source: str, offer: Offer) -> None:
    if offer.currency is None:
        offer.problems.append(Problem(name, f"{amount} ({source}) has no currency: declare `currency`"))
        return
    try:
        minor = to_minor(amount, offer.currency)
    except ValueError as error:
        try:
            minor = to_minor(rounded(amount, offer.currency), offer.currency)
        except ValueError:
            offer.problems.append(Problem(name, f"{error} ({source})"))
            return
        offer.problems.append(Problem(name, f"{error} ({source}): rounded half up"))
    setattr(offer, f"{name}_minor", minor)
    offer.sources[name] = source


def _agree_bounds(offer: Offer) -> None:
    low, high = offer.price_min_minor, offer.price_max_minor
    if low is None or high is None:
        return
    if low > high:
        offer.problems.append(Problem("price_min", f"the lowest price {low} is above the highest {high} (minor units)"))
        offer.price_min_minor = offer.price_max_minor = None
        offer.sources.pop("price_min"), offer.sources.pop("price_max")
    elif low == high and offer.price_minor is None and "price" not in offer.sources:
        offer.price_minor = low
        offer.sources["price"] = offer.sources["price_min"]


def _take_regular(text: str, source: str, decimal: str | None, offer: Offer) -> None:
    price = _parsed(text, source, decimal, offer.currency)
    if price is None or not price.is_price:
        if price is None or price.kind not in _NO_PRICE:
            offer.problems.append(Problem("regular_price", f"{text[:60]!r} ({source}) can't be read as a price"))
        return
    _take("regular_price", price, source, offer)
    regular, current = offer.regular_price_minor, offer.price_minor
    if regular is not None and current is not None and regular <= current:
        offer.regular_price_minor = None
        offer.sources.pop("regular_price")
        if regular < current:
            reason = f"{text[:60]!r} ({source}) is below the price: not what the shop strikes through"
            offer.problems.append(Problem("regular_price", reason))
