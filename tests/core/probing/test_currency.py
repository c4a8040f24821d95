"""A currency is declared only where the pages leave it open, and a guess is called one."""

from __future__ import annotations

import pytest

from storebot.core.probing.currency import currency_to_declare
from storebot.core.probing.seen import Seen
from tests.core.probing.shops import FILLER, product, seen


def plain(price: str, language: str = "en") -> Seen:
    buying = f'<b class="price">{price}</b><button>Add to cart</button>'
    return seen("/p/jug", f'<html lang="{language}"><title>Jug</title><h1>Jug</h1>{buying}{FILLER}</html>')


def test_pages_that_say_their_currency_need_none_declared() -> None:
    assert currency_to_declare([seen("/p/mug", product("Mug"))]) is None
    assert currency_to_declare([plain("€ 9.90")]) is None
    assert currency_to_declare([]) is None


@pytest.mark.parametrize(
    ("price", "language", "code"),
    [("$9.90", "en-AU", "AUD"), ("$9.90", "en", "USD"), ("199 kr", "sv-SE", "SEK"), ("199 kr", "da", "DKK")],
)
def test_sign_of_several_currencies_is_settled_by_the_language_and_flagged(
    price: str, language: str, code: str
) -> None:
    declared = currency_to_declare([plain(price, language)])
    assert declared is not None
    assert declared.code == code
    assert "check it" in declared.why


def test_sign_that_nothing_settles_is_left_to_a_person() -> None:
    declared = currency_to_declare([plain("199 kr", "en")])
    assert declared is not None
    assert declared.code == ""
