"""Readers of single values of a store file: each returns the value, or says what was expected and what was found."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator

from storebot.core.money import EXPONENTS
from storebot.core.parsing.rules import compile_rule
from storebot.items import Availability, Tier
from storebot.stores import locations
from storebot.stores.texts import distinct, text_of, texts_of
from storebot.stores.wording import clipped, nearest, shown, wrong

_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_UNITS_BYTES = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"([0-9]{1,6}) ?(KB|MB|GB|TB)")
_AMOUNT = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_DURATION = re.compile(r"(?:[0-9]{1,6}[smhd])+")  # what a 64-bit number of milliseconds holds


def regex(value: object) -> str:
    """Return a regular expression that compiles."""
    text = text_of(value, "a regular expression")
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise wrong(f"expected a regular expression, got {clipped(text)}: {error}") from error
    return text


def rules(value: object) -> tuple[str, ...]:
    """Return ordered rules that compile: CSS, ``xpath:…`` or ``re:…``."""
    found = texts_of(value, 'a list of rules such as ["h1::text", "xpath://h1/text()"]')
    return tuple(_compiling(text, "rules that compile", f"but rule {place}, ") for place, text in enumerate(found, 1))


def rule(value: object) -> str:
    """Return one rule that compiles."""
    return _compiling(text_of(value, 'a rule such as "a.next::attr(href)"'), "a rule that compiles", "but ")


def _compiling(text: str, expected: str, place: str) -> str:
    try:
        compile_rule(text)
    except ValueError as error:
        raise wrong(f"expected {expected}, {place}{clipped(text)} doesn't: {' '.join(str(error).split())}") from error
    return text


def currency(value: object) -> str | tuple[str, ...]:
    """Return a declared ISO 4217 code, or the rules that find one on the page."""
    if isinstance(value, list):
        return rules(value)
    expected = 'an ISO 4217 code such as "GBP", or a list of rules'
    text = text_of(value, expected)
    if text not in EXPONENTS:
        raise wrong(f"expected {expected}, got {shown(text)}", nearest=_nearest_code(text))
    return text


def currency_code(value: object) -> str:
    """Return an ISO 4217 code."""
    expected = 'an ISO 4217 code such as "EUR"'
    text = text_of(value, expected)
    if text not in EXPONENTS:
        raise wrong(f"expected {expected}, got {shown(text)}", nearest=_nearest_code(text))
    return text


def price(value: object) -> Decimal:
    """Return an amount of money that is written as text: a number of TOML would be a float."""
    expected = 'an amount as text such as "0.0021"'
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise wrong(f"expected {expected}, got {shown(value)}: put it into quotes")
    text = text_of(value, expected)
    if not _AMOUNT.fullmatch(text):
        raise wrong(f"expected {expected}, got {clipped(text)}")
    return Decimal(text)


def size(value: object) -> str:
    """Return a number of bytes as its own text, such as ``20GB``."""
    expected = 'a size such as "20GB" or "500MB"'
    text = text_of(value, expected)
    found = _SIZE.fullmatch(text)
    if found is None or not int(found[1]):
        raise wrong(f"expected {expected}, got {clipped(text)}")
    return text


def size_bytes(text: str) -> int:
    """Return the bytes of a size that `size` accepted."""
    found = _SIZE.fullmatch(text)
    assert found is not None
    return int(found[1]) * _UNITS_BYTES[found[2]]


def _nearest_code(text: str) -> str | None:
    """Return the code that ``text`` is in other letter case; two codes that are merely alike are two currencies."""
    return text.upper() if text.upper() in EXPONENTS else None


def phrases(value: object) -> dict[str, Availability]:
    """Return a shop's own words for its stock with what they mean."""
    expected = 'a table such as {"Auf Anfrage" = "BackOrder"}'
    if not isinstance(value, dict):
        raise wrong(f"expected {expected}, got {shown(value)}")
    return {text_of(words, expected): _availability(words, term) for words, term in value.items()}


def tiers(value: object) -> tuple[Tier, ...]:
    """Return tiers in the order of what they cost."""
    known = [tier.value for tier in Tier]
    expected = f"a list of tiers ({', '.join(known)})"
    named = distinct(texts_of(value, expected))
    for name in named:
        if name not in known:
            raise wrong(f"expected {expected}, got {clipped(name)}", nearest=nearest(name, known))
    if not named:
        raise wrong(f"expected {expected}, got none")
    return tuple(tier for tier in Tier if tier.value in named)


def _availability(words: str, term: object) -> Availability:
    names = [known.value for known in Availability]
    expected = f'a schema.org ItemAvailability for {clipped(words)}, such as "InStock"'
    text = text_of(term, expected)
    if text not in names:
        raise wrong(f"expected {expected}, got {clipped(text)}", nearest=nearest(text, names))
    return Availability(text)


def markers(value: object) -> tuple[str, ...]:
    """Return texts that mark a block page."""
    return distinct(texts_of(value, "a list of texts"))


def field_names(value: object) -> tuple[str, ...]:
    """Return names of fields, not yet compared with those that exist."""
    return distinct(texts_of(value, 'a list of field names such as ["name", "price"]'))


def header_text(value: object) -> str:
    """Return text that may stand in an HTTP header: printable ASCII on one line."""
    text = text_of(value, "a user agent on one line of printable ASCII")
    if not (text.isascii() and text.isprintable()):
        raise wrong(f"expected a user agent on one line of printable ASCII, got {clipped(text)}")
    return text


def sentence(value: object) -> str:
    """Return text that a person wrote for a person."""
    return text_of(value, "a sentence")


def duration(value: object) -> str:
    """Return a duration's own text, such as ``24h`` or ``1h30m``."""
    text = text_of(value, 'a duration such as "24h", "90m" or "0s"')
    if not _DURATION.fullmatch(text):
        raise wrong(f'expected a duration such as "24h", "90m" or "0s", got {clipped(text)}')
    return text


def milliseconds(duration_text: str) -> int:
    """Return the length of a duration that `duration` accepted."""
    return sum(int(number) * _UNITS_MS[unit] for number, unit in re.findall(r"([0-9]+)([smhd])", duration_text))


def moment(value: object) -> datetime:
    """Return a date and time that says its offset from UTC."""
    expected = "a date and time with an offset from UTC such as 2026-11-27T00:00:00+01:00"
    if not isinstance(value, datetime):
        raise wrong(f"expected {expected}, got {shown(value)}")
    if value.utcoffset() is None:
        raise wrong(f"expected {expected}, got {value.isoformat()}, which has none")
    return value


BaseURL = Annotated[str, BeforeValidator(locations.absolute_url)]
Templates = Annotated[tuple[str, ...], BeforeValidator(locations.templates)]
Sitemaps = Annotated[bool | tuple[str, ...], BeforeValidator(locations.sitemaps)]
Feeds = Annotated[tuple[str, ...], BeforeValidator(locations.feeds)]
Regex = Annotated[str, BeforeValidator(regex)]
Rule = Annotated[str, BeforeValidator(rule)]
Rules = Annotated[tuple[str, ...], BeforeValidator(rules)]
Currency = Annotated[str | tuple[str, ...], BeforeValidator(currency)]
CurrencyCode = Annotated[str, BeforeValidator(currency_code)]
Price = Annotated[Decimal, BeforeValidator(price)]
Size = Annotated[str, BeforeValidator(size)]
Parameters = Annotated[tuple[str, ...], BeforeValidator(locations.parameters)]
Hosts = Annotated[tuple[str, ...], BeforeValidator(locations.hosts)]
Markers = Annotated[tuple[str, ...], BeforeValidator(markers)]
Tiers = Annotated[tuple[Tier, ...], BeforeValidator(tiers)]
Phrases = Annotated[dict[str, Availability], BeforeValidator(phrases)]
HeaderText = Annotated[str, BeforeValidator(header_text)]
Sentence = Annotated[str, BeforeValidator(sentence)]
Duration = Annotated[str, BeforeValidator(duration)]
Moment = Annotated[datetime, BeforeValidator(moment)]
