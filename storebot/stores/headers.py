"""Readers of what a store file says of the requests' headers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from storebot.stores.texts import text_of
from storebot.stores.wording import clipped, shown, wrong

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 section 5.6.2
_LANGUAGE = r"(?:[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*|\*)(?:;q=(?:0(?:\.[0-9]{1,3})?|1(?:\.0{1,3})?))?"
_LANGUAGES = re.compile(rf"{_LANGUAGE}(?:, ?{_LANGUAGE})*")  # RFC 9110 section 12.5.4
_COUNTRY = re.compile(r"[A-Z]{2}")
_ELSEWHERE: Mapping[str, str] = {
    "user-agent": "politeness.user_agent says it",
    "accept-language": "fetch.language says it",
    "if-none-match": "storebot sets it, page by page",
    "if-modified-since": "storebot sets it, page by page",
    "cookie": "storebot keeps the cookies that the shop sets",
    "accept-encoding": "it has to be what storebot can read",
    "proxy-authorization": "it belongs to the proxy's address",
} | dict.fromkeys(
    ("host", "content-length", "connection", "transfer-encoding", "te", "upgrade", "keep-alive"),
    "it belongs to the connection",
)


def page_headers(value: object) -> dict[str, str]:
    """Return headers for the requests to a shop."""
    found = any_headers(value)
    for name in found:
        if reason := _ELSEWHERE.get(name.lower()):
            raise wrong(f"{name} can't be set here: {reason}")
    return found


def any_headers(value: object) -> dict[str, str]:
    """Return headers by their name: each a token, its value printable ASCII on one line."""
    expected = 'a table of headers such as {"X-Requested-With" = "XMLHttpRequest"}'
    if not isinstance(value, dict):
        raise wrong(f"expected {expected}, got {shown(value)}")
    for name, text in value.items():
        if not _NAME.fullmatch(name):
            raise wrong(f"expected {expected}, got the name {clipped(name)}")
        if not (text_of(text, expected).isascii() and text.isprintable()):
            raise wrong(f"expected printable ASCII on one line for {name}, got {clipped(text)}")
    if len({name.lower() for name in value}) < len(value):
        raise wrong("names a header twice: their letter case makes no difference")
    return dict(value)


def language_tags(value: object) -> str:
    """Return the value of an Accept-Language header."""
    expected = 'languages such as "de-DE" or "de-DE,de;q=0.9"'
    text = text_of(value, expected)
    if not _LANGUAGES.fullmatch(text):
        raise wrong(f"expected {expected}, got {clipped(text)}")
    return text


def country_code(value: object) -> str:
    """Return two capital letters: whether it's a country that exists, its user knows better than a list."""
    expected = 'an ISO 3166 code of two capital letters such as "DE"'
    text = text_of(value, expected)
    if not _COUNTRY.fullmatch(text):
        raise wrong(f"expected {expected}, got {clipped(text)}", nearest=text.upper() if len(text) == 2 else None)
    return text
