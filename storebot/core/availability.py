"""Availability and condition, from schema.org terms in any spelling and from what shops write in many languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from storebot.core.availability_words import DENIALS, PHRASES, UNSPACED
from storebot.items import Availability

_MAX_TEXT = 300  # characters; a stock line is shorter, and a longer text speaks of other things too

_TERMS = {term.value.lower(): term for term in Availability} | {
    # Facebook and OpenGraph, Google Merchant, WooCommerce and Shopify say it in their own words.
    "oos": Availability.OUT_OF_STOCK,
    "available": Availability.IN_STOCK,
    "unavailable": Availability.OUT_OF_STOCK,
    "notinstock": Availability.OUT_OF_STOCK,
    "notavailable": Availability.OUT_OF_STOCK,
    "availablefororder": Availability.BACK_ORDER,
    "onbackorder": Availability.BACK_ORDER,
    "backordered": Availability.BACK_ORDER,
    "pending": Availability.PRE_ORDER,
    "lowstock": Availability.LIMITED_AVAILABILITY,
    "limitedstock": Availability.LIMITED_AVAILABILITY,
    "instorepickup": Availability.IN_STORE_ONLY,
}

# The order is the rule: what denies comes first, for "in stock" is a part of "not in stock"; what limits comes next.
_BEFORE_DENIAL = (Availability.DISCONTINUED, Availability.SOLD_OUT, Availability.OUT_OF_STOCK)
_AFTER_DENIAL = (
    Availability.PRE_ORDER,
    Availability.BACK_ORDER,
    Availability.MADE_TO_ORDER,
    Availability.IN_STORE_ONLY,
    Availability.ONLINE_ONLY,
    Availability.LIMITED_AVAILABILITY,
    Availability.IN_STOCK,
)


def _of_all(table: Mapping[str, Mapping[Availability, str]], term: Availability) -> str:
    """Return the phrases of all languages for one term: a stock line doesn't say which language it is in."""
    return "|".join(phrases[term] for phrases in table.values() if term in phrases)


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W\d_])(?:{words})(?![^\W\d_])", re.IGNORECASE)


@cache  # made for the first line: they take a tenth of a second, and most shops say it in terms
def _patterns() -> tuple[tuple[Availability, re.Pattern[str]], ...]:
    """Return the patterns in their order: a denial of any language at most a word before a promise of any language
    stands behind the phrases that say more."""
    denied = _whole(rf"(?:{DENIALS})\s+(?:\w+\s+)?(?:{_of_all(PHRASES, Availability.IN_STOCK)})")
    return (
        *((term, _whole(_of_all(PHRASES, term))) for term in _BEFORE_DENIAL),
        (Availability.OUT_OF_STOCK, denied),
        *((term, _whole(_of_all(PHRASES, term))) for term in _AFTER_DENIAL),
        *((term, re.compile(words)) for term in Availability if (words := _of_all(UNSPACED, term))),
    )


_CONDITIONS = {
    **dict.fromkeys(
        ("new", "newcondition", "neu", "neuf", "neuve", "nuevo", "nuovo", "novo", "nieuw", "nové", "nowy"),
        "NewCondition",
    ),
    **dict.fromkeys(("новый", "brandnew", "newwithtags", "ny", "uusi", "新品"), "NewCondition"),
    **dict.fromkeys(
        ("used", "usedcondition", "gebraucht", "occasion", "usado", "usato", "gebruikt", "používané"), "UsedCondition"
    ),
    **dict.fromkeys(("używany", "secondhand", "preowned", "preloved", "brugt", "begagnad", "中古"), "UsedCondition"),
    **dict.fromkeys(
        ("refurbished", "refurbishedcondition", "generalüberholt", "reconditionné", "reacondicionado"),
        "RefurbishedCondition",
    ),
    **dict.fromkeys(("ricondizionato", "recondicionado", "renewed", "repasované"), "RefurbishedCondition"),
    **dict.fromkeys(("damaged", "damagedcondition", "openbox"), "DamagedCondition"),
}


# What most pages say needs no work.
_AS_PUBLISHED = {
    f"{prefix}{term.value}": term
    for prefix in ("https://schema.org/", "http://schema.org/", "")
    for term in Availability
}


def read_availability(text: str, phrases: Mapping[str, Availability] | None = None) -> Availability | None:
    """Return what a term or a stock line says; None where it says nothing that is known.

    A store's own phrases come first, the longest before the shorter; then the terms of schema.org, OpenGraph and
    Google Merchant in any case and with any prefix; then the phrases of many languages, those that deny before the
    others.
    """
    if not phrases and text in _AS_PUBLISHED:
        return _AS_PUBLISHED[text]
    for phrase in sorted(phrases or (), key=len, reverse=True):
        if re.search(rf"(?<![^\W\d_]){re.escape(phrase)}(?![^\W\d_])", text, re.IGNORECASE):
            return (phrases or {})[phrase]
    term = _TERMS.get(_term(text))
    if term is not None:
        return term
    return _read_line(text[:_MAX_TEXT])


@lru_cache(maxsize=1024)  # a shop has a handful of stock lines, and the patterns cost more than the rest of a listing
def _read_line(line: str) -> Availability | None:
    return next((found for found, pattern in _patterns() if pattern.search(line)), None)


def read_condition(text: str) -> str | None:
    """Return a term of schema.org's OfferItemCondition; None for what isn't known."""
    if text == "https://schema.org/NewCondition":
        return "NewCondition"
    return _CONDITIONS.get(_term(text))


def _term(text: str) -> str:
    """Reduce ``https://schema.org/In_Stock``, ``in_stock`` and ``In Stock`` to ``instock``."""
    tail = text[:_MAX_TEXT].rstrip("/ ")
    for mark in "/#":
        if mark in tail:
            tail = tail.rpartition(mark)[2]
    if any(char.isdigit() for char in tail):
        return ""  # "0 in stock" is no term
    return "".join([char for char in tail.lower() if char.isalpha()])
