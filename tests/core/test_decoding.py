"""The rule of browsers, and where it is bent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.decoding import decode

META_1252 = b"<meta http-equiv=Content-Type content='text/html; charset=windows-1252'>"


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("Töpfe".encode("utf-16"), "text/html; charset=utf-8", "Töpfe"),
        (b"\xef\xbb\xbfT\xc3\xb6pfe", "text/html; charset=iso-8859-1", "Töpfe"),
        ("Töpfe".encode("latin-1"), "text/html; charset=iso-8859-1", "Töpfe"),
        ("Töpfe".encode(), "", "Töpfe"),
        (b"T\xf6pfe", "", "Töpfe"),
        (b"90\x80", "text/html; charset=ISO-8859-1", "90€"),
        ("日本".encode("shift_jis"), 'text/html; charset="Shift_JIS"', "日本"),
        (b"T\xc3\xb6pfe", "text/html; charset=no-such-charset", "Töpfe"),
        (b"T\xc3\xb6pfe", "text/html; charset=base64", "Töpfe"),
        (b"T\xc3\xb6\\dpfe", "text/html; charset=unicode_escape", "Tö\\dpfe"),
        (b"T\xc3\xb6pfe", "text/html; charset=idna", "Töpfe"),
    ],
)
def test_a_mark_then_the_header_then_utf_8_then_windows_1252(body: bytes, content_type: str, text: str) -> None:
    assert decode(body, content_type=content_type)[1] == text


def test_a_header_that_the_bytes_refute_yields_to_the_document_e02() -> None:
    text = decode(META_1252 + b"Caf\xe9 90\x80", content_type="text/html; charset=utf-8")[1]
    assert text.endswith("Café 90€")


def test_a_valid_header_wins_over_the_document() -> None:
    assert decode(META_1252 + "Café".encode(), content_type="text/html; charset=utf-8")[1].endswith("Café")


def test_one_broken_character_does_not_spoil_the_others() -> None:
    body = "Täglich frische Töpfe für Köche".encode() + b"\xc3"
    assert decode(body, content_type="text/html; charset=utf-8")[1] == "Täglich frische Töpfe für Köche\ufffd"


def test_a_document_that_claims_utf_16_in_ascii_is_utf_8() -> None:
    assert decode("<meta charset=utf-16>ü".encode())[1].endswith("ü")


def test_a_charset_given_overrides_the_header_e01() -> None:
    body = "Müller Töpfe".encode()
    assert decode(body, content_type="text/html; charset=iso-8859-15", charset="utf-8") == ("utf-8", "Müller Töpfe")


def test_nul_characters_are_removed_e05() -> None:
    assert decode(b"<h1>Drill\0</h1><b>49</b>")[1] == "<h1>Drill</h1><b>49</b>"


@given(st.binary(max_size=400), st.sampled_from(["", "text/html; charset=utf-8", "x; charset=utf-16", "; charset=gbk"]))
def test_any_bytes_decode(body: bytes, content_type: str) -> None:
    encoding, text = decode(body, content_type=content_type)
    assert "\0" not in text
    assert b"".decode(encoding) == ""
