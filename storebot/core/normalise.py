"""What a page says, made a record: clean text, minor units, schema.org terms, absolute addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import urljoin, urlsplit

from storebot.core.availability import read_availability, read_condition
from storebot.core.gtin import gtin14
from storebot.core.offer import is_machine, read_offer
from storebot.core.parsing.price import parse_price
from storebot.core.text import REPLACEMENT, clean_text
from storebot.items import Availability, Disagreement, Extracted, Listing, Problem

# Characters that a field keeps; what is beyond is a page taken for a name, and 1 MB of it must not travel on.
LIMITS = {"name": 1_000, "description": 50_000, "canonical_url": 2_048, "variant_id": 2_048}
_LIMIT = 255
_MAX_LINE = 1_000  # characters of a line of stock
_MOST_REVIEWS = 10**9  # what has more isn't a number of reviews, and no column holds it
_MAX_IMAGES = 100
_MAX_OPTIONS = 50
_MAX_DEPTH = 20  # of a category path

_PLAIN_ADDRESS = re.compile(r"https?://[\w.-]+(?::\d{1,5})?(?:[/?#][!#-;=?-Z_a-z~%]*)?", re.ASCII)
_RATING = re.compile(r"(\d{1,3}(?:[.,]\d{1,30})?)(?:\s*(?:/|of|von|out of|sur|de|su|z)\s*\d{1,3})?(?:\s*(?:★|stars?))?")
_COUNT = re.compile(r"\D{0,40}?(\d{1,3}(?:[., ']\d{3})+|\d{1,9})(?![.,]?\d|\s*[kKmM](?![^\W\d_]))\D{0,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a page can't say of itself: whose it is, where it was found, and what its store declares."""

    store: str
    url_key: str
    url: str
    decimal: str | None = None  # separator of prices written as text
    currency: str | None = None  # ISO 4217
    availability_phrases: Mapping[str, Availability] = field(default_factory=dict)


def normalise(extracted: Extracted, context: Context) -> tuple[Listing, tuple[Problem, ...]]:
    """Return the record of one listing, and what of the page couldn't be believed. Never raises for any text.

    A value that can't be read becomes None, with a problem that quotes it. ``field_source`` names the fields that have
    a value, as the extractor does (``price`` for ``price_minor``); a price that was found and couldn't be read keeps
    its source: a price's source without a value is what `validate` refuses.
    """
    values, origin = extracted.values, extracted.sources
    problems: list[Problem] = []
    found: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, value in values.items():
        if value and name in _READERS and (read := _READERS[name](name, value, context, problems)):
            found[name] = read
            sources[name] = origin.get(name, "")
    offer = read_offer(values, origin, decimal=context.decimal, declared=context.currency)
    problems += offer.problems
    if "main_image" not in found and "images" in found:
        found["main_image"] = found["images"][0]
    disagreements = offer.disagreements
    if extracted.disagreements:
        disagreements = [*_real(extracted.disagreements, context, offer.currency), *disagreements]
    listing = Listing(
        store=context.store,
        url_key=context.url_key,
        url=_own_url(values, context) if "variant_id" in found else context.url,
        price_minor=offer.price_minor,
        regular_price_minor=offer.regular_price_minor,
        price_min_minor=offer.price_min_minor,
        price_max_minor=offer.price_max_minor,
        currency=offer.currency,
        field_source=sources | offer.sources,
        disagreements=tuple(disagreements),
        **found,
    )
    return listing, tuple(problems)


def _text(name: str, value: object, context: Context, problems: list[Problem]) -> str | None:
    if not isinstance(value, str):
        return None
    limit = LIMITS.get(name, _LIMIT)
    if len(value) > limit:
        problems.append(Problem(name, f"{value[:60]!r}… has {len(value)} characters: cut to {limit}"))
        # Cleaning costs time by length: most of a megabyte goes before, the rest after.
        text = clean_text(_clean_long(value[: 4 * limit])[:limit])
    else:
        text = clean_text(value) if len(value) <= LIMITS["name"] else _clean_long(value)
    if not text.isascii() and REPLACEMENT in text:
        problems.append(Problem(name, f"{text[:60]!r} has characters that couldn't be decoded"))
    return text or None


@lru_cache(maxsize=4)  # thousands of variants may have one description: a few milliseconds for each of them
def _clean_long(text: str) -> str:
    return clean_text(text)


def _gtin(name: str, value: object, context: Context, problems: list[Problem]) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        return gtin14(clean_text(value[:_LIMIT]))
    except ValueError as error:
        problems.append(Problem("gtin", str(error)))
        return None


def _availability(name: str, value: object, context: Context, problems: list[Problem]) -> Availability | None:
    if not isinstance(value, str) or not value.strip():
        return None
    found = read_availability(value[:_MAX_LINE], context.availability_phrases)
    if found is None:
        problems.append(Problem("availability", f"{value[:60]!r} is no availability that is known"))
    return found


def _condition(name: str, value: object, context: Context, problems: list[Problem]) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    found = read_condition(value)
    if found is None:
        problems.append(Problem("condition", f"{value[:60]!r} is no condition that is known"))
    return found


def _options(name: str, value: object, context: Context, problems: list[Problem]) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    pairs = ((_text(name, key, context, problems), _text(name, text, context, problems)) for key, text in value.items())
    return {key: text for key, text in islice(pairs, _MAX_OPTIONS) if key and text}


def _category_path(name: str, value: object, context: Context, problems: list[Problem]) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return ()
    return tuple(text for part in value[:_MAX_DEPTH] if (text := _text(name, part, context, problems)))


def _images(name: str, value: object, context: Context, problems: list[Problem]) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return ()
    found = [_address(name, one, context, problems) for one in value[:_MAX_IMAGES]]
    return tuple(dict.fromkeys([address for address in found if address]))


def _address(name: str, value: object, context: Context, problems: list[Problem]) -> str | None:
    """Return an absolute http(s) address; None for nothing, for data: and for what isn't an address."""
    if not isinstance(value, str) or not value or value.startswith("data:"):
        return None
    if len(value) > LIMITS["canonical_url"]:
        problems.append(Problem(name, f"{value[:60]!r}… has {len(value)} characters: no address is that long"))
        return None
    if _PLAIN_ADDRESS.fullmatch(value):
        return value
    address = clean_text(value)
    try:
        if not address.startswith(("https://", "http://")):
            address = urljoin(context.url, address)
        if not (address.startswith(("https://", "http://")) and urlsplit(address).hostname):
            return None
    except ValueError as error:  # "http://[": no IPv6 host can be read
        problems.append(Problem(name, f"{value[:60]!r} isn't an address: {error}"))
        return None
    return address.replace(" ", "%20")


def _own_url(values: Mapping[str, object], context: Context) -> str:
    """A variant's own address where it's one of the same shop; else the page's."""
    own = _address("url", values.get("url"), context, [])
    return own if own and urlsplit(own).hostname == urlsplit(context.url).hostname else context.url


def _rating(name: str, value: object, context: Context, problems: list[Problem]) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    match = _RATING.fullmatch(clean_text(value[:_LIMIT]))
    if match is None:
        problems.append(Problem("rating_value", f"{value[:60]!r} isn't a rating"))
        return None
    number = Decimal(match[1].replace(",", ".")).quantize(Decimal("0.01"))  # shops print means of 15 digits
    return f"{number.normalize():f}"


def _count(name: str, value: object, context: Context, problems: list[Problem]) -> int | None:
    if not isinstance(value, str) or not value.strip():
        return None
    match = _COUNT.fullmatch(clean_text(value[:_LIMIT]))
    if match is None:
        problems.append(Problem("review_count", f"{value[:60]!r} isn't a number of reviews"))
        return None
    count = int(re.sub(r"\D", "", match[1]))
    if count > _MOST_REVIEWS:
        problems.append(Problem("review_count", f"{value[:60]!r} isn't a number of reviews"))
        return None
    return count


def _real(found: tuple[Disagreement, ...], context: Context, currency: str | None) -> list[Disagreement]:
    """Drop disagreements of spelling only: "2879.2" and "2879.20", "InStock" and "http://schema.org/InStock"."""
    return [
        one for one in found if len({_meaning(one.field, *pair, context, currency) for pair in one.values.items()}) > 1
    ]


def _meaning(name: str, source: str, text: str, context: Context, currency: str | None) -> object:
    if name in ("price", "regular_price", "price_min", "price_max"):
        price = parse_price(text, decimal=context.decimal, machine=is_machine(source), currency_hint=currency)
        return (price.amount, price.currency) if price and not price.ambiguous else text
    if name == "availability":
        return read_availability(text, context.availability_phrases) or text
    return clean_text(text).casefold()


_Reader = Callable[[str, object, Context, list[Problem]], object]

_READERS: dict[str, _Reader] = {
    **dict.fromkeys(("name", "brand", "mpn", "sku", "product_id", "item_group_id", "seller", "description"), _text),
    **dict.fromkeys(("canonical_url", "main_image"), _address),
    "variant_id": _text,
    "gtin": _gtin,
    "availability": _availability,
    "condition": _condition,
    "options": _options,
    "category_path": _category_path,
    "images": _images,
    "rating_value": _rating,
    "review_count": _count,
}
