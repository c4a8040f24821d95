"""The currency to declare, where the pages of a shop leave it open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from storebot.core.parsing.currency import mentions
from storebot.core.parsing.visible_words import CURRENCY_OF_DOMAIN
from storebot.core.probing.seen import Seen
from storebot.items import Extracted

_OF_LANGUAGE = {
    "en-us": "USD", "en-gb": "GBP", "en-au": "AUD", "en-ca": "CAD", "en-nz": "NZD", "sv": "SEK", "da": "DKK",
    "nb": "NOK", "no": "NOK", "nn": "NOK", "is": "ISK", "cs": "CZK", "ja": "JPY", "es-mx": "MXN", "es-cl": "CLP",
    "es-co": "COP", "es-ar": "ARS", "zh-tw": "TWD", "pt-br": "BRL",
}  # fmt: skip
_WORKED_OUT = frozenset({"visible:sign", "visible:country"})  # sources that take a currency for granted


class Declared(NamedTuple):
    """A currency to declare; ``code`` is "" where a person has to say it."""

    code: str
    why: str


def currency_to_declare(products: Sequence[Seen]) -> Declared | None:
    """Return what to declare; None where every page that has a price says its currency, or none has one."""
    pairs = [pair for page in products for pair in zip(page.extracted, page.listings, strict=True)]
    priced = [(found, listing) for found, listing in pairs if found.values.keys() & {"price", "price_min"}]
    doubtful = [found for found, listing in priced if not listing.currency or _is_worked_out(found)]
    if not doubtful:
        return None
    said = {listing.currency for found, listing in priced if listing.currency and not _is_worked_out(found)}
    if len(said) == 1:
        return Declared(said.pop(), "as the pages say that name theirs")
    codes = {listing.currency for _, listing in priced if listing.currency}
    if len(codes) == 1:
        return Declared(codes.pop(), "assumed from the sign or the country of the shop's address: check it")
    prices = [str(found.values.get("price") or found.values.get("price_min")) for found in doubtful]
    return _of_signs(products, prices)


def _is_worked_out(found: Extracted) -> bool:
    return found.sources.get("currency") in _WORKED_OUT


def _of_signs(products: Sequence[Seen], prices: Sequence[str]) -> Declared:
    signs = Counter(mark.text for price in prices for mark in mentions(price))
    if not signs:
        return Declared("", "the prices have no sign, and the pages name no currency")
    sign = signs.most_common(1)[0][0]
    codes = {code for price in prices for mark in mentions(price) if mark.text == sign for code in mark.codes}
    for code, of in _places(products):
        if code in codes:
            return Declared(code, f"prices say {sign!r}, and {of}: check it")
    if sign == "$":
        return Declared("USD", "prices say '$', and nothing names a country: assumed, check it")
    return Declared("", f"prices say {sign!r}, which several countries use")


def _places(products: Sequence[Seen]) -> list[tuple[str, str]]:
    host = urlsplit(products[0].final_url).hostname or ""
    domain = host.rpartition(".")[2]
    found = [(CURRENCY_OF_DOMAIN[domain], f"the shop's domain is .{domain}")] if domain in CURRENCY_OF_DOMAIN else []
    language = Counter(page.language for page in products).most_common(1)[0][0]
    code = _OF_LANGUAGE.get(language) or _OF_LANGUAGE.get(language.partition("-")[0])
    return [*found, (code, f"the pages' language is {language}")] if code else found
