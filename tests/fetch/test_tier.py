"""A page that came as text, not as the bytes of the wire."""

from __future__ import annotations

from storebot.fetch.tier import html_response

URL = "https://shop.example/p/1"


def test_text_becomes_utf_8_and_says_so() -> None:
    """Case E01: the header of the shop said another encoding."""
    found = html_response(URL, "<h1>Krügerl à 5 €</h1>", headers={"content-type": "text/html; charset=iso-8859-1"})
    assert (found.url, found.status, found.text, found.body) == (
        URL,
        200,
        "<h1>Krügerl à 5 €</h1>",
        "<h1>Krügerl à 5 €</h1>".encode(),
    )
    assert found.headers.to_unicode_dict() == {"Content-Type": "text/html; charset=utf-8"}


def test_what_described_the_bytes_of_the_wire_stays_behind() -> None:
    said = {"ETag": '"1"', "Last-Modified": "x", "Content-Encoding": "br", "Content-Length": "9", "X-Shop": "1"}
    found = html_response(URL, "<p>", status=404, headers=said, flags=["api"])
    assert found.headers.to_unicode_dict() == {"Content-Type": "text/html; charset=utf-8", "X-Shop": "1"}
    assert (found.status, found.flags) == (404, ["api"])


def test_half_a_surrogate_pair_is_no_character() -> None:
    assert html_response(URL, "a\ud83db").body == b"a?b"
