"""Prices, currencies, stock lines, GTINs and times of any text: an answer or none, never an exception or a hang."""

from __future__ import annotations

from contextlib import nullcontext
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.availability import read_availability, read_condition
from storebot.core.gtin import gtin14, gtin_of_isbn
from storebot.core.offer import read_offer
from storebot.core.pacing import retry_after_s
from storebot.core.parsing.lastmod import lastmod_ms
from storebot.core.parsing.price import parse_price
from storebot.core.parsing.values import amounts, from_dom, from_json, is_blank, same_amount
from storebot.core.parsing.visible_labels import labelled
from storebot.core.text import clean_text, unescape
from storebot.items import Availability
from tests.fuzz.bounded import cpu_seconds
from tests.fuzz.junk import FUZZ, listed, texts

words = st.sampled_from(
    (
        *listed(
            "0 1 9 12 999 1.299 12,50 .99 1'049 298 2 5 x X × / - – ~ . , : ' ( ) % $ € £ ¥ zł Kč kr kr. Rs USD EUR usd"
        ),
        *("р.", "₽", "CHF"),
        *listed(
            "from ab save was now statt per kg 100 g /kg month monthly incl. excl. VAT MwSt free call for price rrp"
        ),
        *(
            " ",
            "\u00a0",
            "\u202f",
            "\n",
            "\0",
            "\ud800",
            "١٢",
            "１２",
            "½",
            "²",
            "e",
            "E+5",
            "NaN",
            "Infinity",
            "{{",
            "99999999",
        ),
    )
)
price_texts = st.one_of(st.lists(words, max_size=12).map(" ".join), st.lists(words, max_size=12).map("".join), texts)
hints = st.sampled_from((None, "EUR", "USD", "JPY", "KWD", "$", "kr", "12 EUR", "nonsense", "\0"))
decimals = st.sampled_from((None, ".", ",", "€"))
LONG = (
    "1 ",
    "1.000,",
    "9",
    "EUR 1 ",
    "$",
    "- 1 ",
    "from 1 to ",
    "1/",
    "1 x 1 ",
    "(",
    " ",
    "a",
    "save ",
    "1,",
    ".1",
    "\u00a0",
    "&#1;",
)


@FUZZ
@given(price_texts, decimals, st.booleans(), hints)
def test_any_text_is_a_price_or_none(text: str, decimal: str | None, machine: bool, hint: str | None) -> None:
    with cpu_seconds(0.5, text):
        price = parse_price(text, decimal=decimal, machine=machine, currency_hint=hint)
    if price is not None and price.amount is not None:
        assert price.amount.is_finite()
        assert price.currency is None or len(price.currency) == 3


@FUZZ
@given(
    st.dictionaries(st.sampled_from(("price", "regular_price", "price_min", "price_max", "currency")), price_texts),
    hints,
)
def test_any_money_makes_an_offer(values: dict[str, str], declared: str | None) -> None:
    declared = declared if declared in ("EUR", "USD", "JPY", "KWD") else None
    for source in ("jsonld", "css:.price"):
        with cpu_seconds(0.5, values):
            offer = read_offer(values, dict.fromkeys(values, source), decimal=None, declared=declared)
        assert offer.price_minor is None or (offer.currency is not None and offer.price_minor < 2**63)


@FUZZ
@given(st.one_of(texts, price_texts))
def test_any_text_is_cleaned_once_and_for_all(text: str) -> None:
    with cpu_seconds(0.5, text):
        once = clean_text(text)
        assert clean_text(once) == once
        once.encode("utf-8")
        from_json(text)
        from_dom(text).encode("utf-8")
        unescape(text)
        is_blank(text)
        labelled(text)


@FUZZ
@given(st.one_of(texts, price_texts), st.one_of(texts, price_texts))
def test_any_text_is_a_term_a_code_a_time_or_none(text: str, other: str) -> None:
    with cpu_seconds(0.5, text):
        read_availability(text)
        read_availability(text, {other: Availability.IN_STOCK} if other else None)
        read_condition(text)
        gtin_of_isbn(text)
        lastmod_ms(text)
        retry_after_s(text, 0)
        assert all(isinstance(one, Decimal) and one.is_finite() for one in amounts(text))
        assert same_amount(text, text)
        if text.isascii() and text.isdigit() and len(text) in (8, 12, 13, 14):
            with pytest.raises(ValueError, match="GTIN") if _is_wrong(text) else nullcontext():
                assert len(gtin14(text)) == 14


def _is_wrong(text: str) -> bool:
    numbers = [int(digit) for digit in text.zfill(14)]
    return not any(numbers) or (3 * sum(numbers[0::2]) + sum(numbers[1::2])) % 10 != 0


@FUZZ
@given(
    st.one_of(
        st.from_regex(
            r"\d{4}([-/.]\d{1,2}([-/.]\d{1,2})?)?([T ]\d\d:\d\d(:\d\d)?([.,]\d*)?( ?[+-]\d\d:?\d\d|Z| UTC)?)?",
            fullmatch=True,
        ),
        st.from_regex(
            r"([A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{1,4} \d\d?:\d\d(:\d\d)? ([+-]\d*|[A-Z]{1,4})?", fullmatch=True
        ),
    )
)
def test_any_time_is_milliseconds_or_none(text: str) -> None:
    with cpu_seconds(0.5, text):
        at_ms = lastmod_ms(text)
        retry_after_s(text, 0)
    assert at_ms is None or at_ms > 0


@pytest.mark.parametrize("part", LONG, ids=range(len(LONG)))
def test_a_long_text_takes_no_longer_than_a_short_one(part: str) -> None:
    text = part * (1_000_000 // len(part))
    with cpu_seconds(2.0, part):
        for machine in (False, True):
            parse_price(text, machine=machine, currency_hint="EUR")
        clean_text(text)
        from_json(text)
        read_availability(text)
        amounts(text)
        labelled(text)
        lastmod_ms(text)
