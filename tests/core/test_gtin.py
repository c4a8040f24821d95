"""GTINs: padded to fourteen digits, refused where the check digit is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.gtin import gtin14, gtin_of_isbn


@pytest.mark.parametrize(
    ("text", "gtin"),
    [
        ("4006381333931", "04006381333931"),
        ("036000291452", "00036000291452"),
        ("96385074", "00000096385074"),
        ("978-0-552-17374-2", "09780552173742"),
        ("2000000043333", "02000000043333"),
    ],
)
def test_a_gtin_of_any_length_becomes_fourteen_digits(text: str, gtin: str) -> None:
    assert gtin14(text) == gtin
    assert gtin14(gtin) == gtin


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("4006381333930", "check digit"),
        ("12345", "5 digits"),
        ("0000000000000", "all zeros"),
        ("ABC-123", "other than digits"),
        ("٤٠٠٦٣٨١٣٣٣٩٣١", "other than digits"),
        ("", "other than digits"),
    ],
)
def test_what_is_no_gtin_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        gtin14(text)


@given(st.integers(1, 10**12 - 1), st.integers(1, 9))
def test_exactly_one_check_digit_is_right(number: int, shift: int) -> None:
    accepted = [digit for digit in range(10) if _accepts(f"{number:012}{digit}")]
    assert len(accepted) == 1
    assert not _accepts(f"{number:012}{(accepted[0] + shift) % 10}")


def _accepts(text: str) -> bool:
    try:
        gtin14(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("isbn", "gtin"),
    [("0316769487", "9780316769488"), ("0-8044-2957-X", "9780804429573"), ("9780316769488", "9780316769488")],
)
def test_an_isbn_of_ten_digits_becomes_the_one_of_thirteen(isbn: str, gtin: str) -> None:
    assert gtin_of_isbn(isbn) == gtin
    assert gtin14(gtin_of_isbn(isbn)) == gtin.zfill(14)


@pytest.mark.parametrize("text", ["0316769480", "X316769487", "123", "", "0316769\u0664\u0668\u0667"])
def test_what_is_no_isbn_stays_as_it_is(text: str) -> None:
    assert gtin_of_isbn(text) == text
