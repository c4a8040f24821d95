"""Text in one form: what looks the same is the same."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.text import clean_text, comparable_text, unescape


@pytest.mark.parametrize(
    "text", ["Café\u00a0Cup", "Cafe\u0301 Cup", "\u200fCafé Cup\u200f", " Café \n\t Cup ", "Ca\u00adfé\u200b Cup"]
)
def test_what_looks_the_same_is_the_same(text: str) -> None:  # E07
    assert clean_text(text) == "Café Cup"


@pytest.mark.parametrize("text", ["👩\u200d👧 set", "می\u200cخواهم", "❤\ufe0f\u200d🔥", "שולחן אוכל", "क्\u200dष"])
def test_emoji_and_other_scripts_keep_what_they_need(text: str) -> None:
    assert clean_text(text) == text


def test_stray_joiners_go() -> None:
    assert clean_text("Dr\u200dill\u200c \u200d 5") == "Drill 5"


def test_joiners_are_never_compared() -> None:
    assert comparable_text("می\u200cخواهم") == comparable_text("میخواهم")


def test_nothing_that_a_database_refuses_is_left() -> None:  # E05
    assert clean_text("Dri\x00ll \ud800") == "Drill \ufffd"


def test_text_that_spells_an_escape_survives() -> None:  # E06
    assert clean_text("Path C:\\u0000dir") == "Path C:\\u0000dir"


@given(st.text())
def test_cleaning_is_idempotent(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once


@given(st.text(alphabet="a é\u0301\u200b\u200c\u200d\u200f\u00a0\n\x00\x1cم🔥\ufe0f\ud800\u2028क्"))
def test_cleaning_odd_marks_is_idempotent_and_safe(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once
    assert "\0" not in once
    once.encode()


def test_marks_that_change_places_leave_no_joiner_behind() -> None:
    once = clean_text("\u0301\u094d\u200ca")
    assert clean_text(once) == once


@pytest.mark.parametrize("number", ["9" * 5000, "x110000", "99999999"])
def test_a_number_of_no_character_is_a_replacement(number: str) -> None:
    assert unescape(f"&#{number};&amp;&lt;") == "\ufffd&<"


@given(st.lists(st.sampled_from(["&quot;", "&quot", "&amp;", "&amp", "&lt", "&not", "&#39", "quot;", "in;", '"', "x"])))
def test_quotes_are_decoded_as_every_entity_is(parts: list[str]) -> None:
    assert unescape("".join(parts)) == html.unescape("".join(parts))
