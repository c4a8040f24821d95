"""What counts as a value."""

from __future__ import annotations

import pytest

from storebot.core.parsing.values import from_dom, from_json, is_amount, is_blank, is_placeholder, same_amount, text_of


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("Nuts &amp; Bolts &#039;L&#039;", "Nuts & Bolts 'L'"),
        ("A &amp;lt; B", "A &lt; B"),
        (" x\0y ", "xy"),
        ("\ud83d!", "!"),
    ],
)
def test_script_text_gets_exactly_one_entity_pass_x04(raw: str, text: str) -> None:
    assert from_json(raw) == text


def test_tree_text_gets_none() -> None:
    assert from_dom("A &lt; B") == "A &lt; B"


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("2879.2", "2879.20", True),
        ("2879.2", "2879,20 €", True),
        ("$1,250", "1250", True),
        ("1.599", "1599", True),
        ("10.04", "10.40", False),
        ("99", "990", False),
        ("call us", "99", False),
    ],
)
def test_amounts_are_compared_as_numbers_x06(left: str, right: str, same: bool) -> None:
    assert same_amount(left, right) is same


@pytest.mark.parametrize("text", ["", "null", "NaN", "{{ product.price }}", "${price}", "<%= price %>"])
def test_blank_text_says_nothing(text: str) -> None:
    assert is_blank(text)


def test_codes_have_placeholders_of_their_own() -> None:
    assert is_placeholder("-")
    assert not is_placeholder("A-1")


@pytest.mark.parametrize(
    ("text", "amount"), [("0", False), ("0.00 €", False), ("", False), ("0.41", True), ("٩٩", True)]
)
def test_zero_is_no_amount(text: str, amount: bool) -> None:
    assert is_amount(text) is amount


def test_the_first_text_of_a_value_wins() -> None:
    value = [None, True, {"name": ""}, {"name": ["", "Acme"]}, "Other"]
    assert text_of(value, from_json, "name") == "Acme"
    assert text_of(5038, from_json) == "5038"
    assert text_of({"name": "x"}, from_json) is None
