"""JSON as shops really write it: a strict parser first, then the repairs that can't change what a value means."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

MAX_BYTES = 4_000_000
"""A block beyond this is refused: the largest real ones seen (a shop's whole variant matrix) have some 500 KB."""

# orjson reads numbers into floats; money, and codes that look like numbers, keep their text as the shop wrote it.
_EXACT = re.compile(rb":\s*-?\d+(?:[.eE]|\d{14})")
_AROUND = " \t\r\n;\ufeff"
_OPENING = re.compile(r"(?:/\*|//)?\s*<!\[CDATA\[\s*(?:\*/)?|<!--")
_CLOSING = re.compile(r"(?:(?:/\*|//)\s*)?\]\]>\s*(?:\*/)?$|(?://\s*)?-->$")
# Each alternative also takes what is never closed, up to the end: otherwise hostile text costs quadratic time.
_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*+(?:"|\Z))"""
    r"""|(?P<single>(?<=[\[{,:\s])'(?:[^'\\]|\\.)*+'(?=\s*[\]},:]))"""
    r"""|(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*|<!--|-->|<!\[CDATA\[|\]\]>)""",
    re.DOTALL,
)
_COMMA = re.compile(r"""(?P<text>"(?:[^"\\]|\\.)*+(?:"|\Z))|,(?=\s*[\]}])""", re.DOTALL)
_BARE_ESCAPE = re.compile(r"""\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|(.))""", re.DOTALL)


class Broken(ValueError):
    """Raised by `load` for text that no repair makes JSON; its text says where the first fault is."""


def load(block: bytes, encoding: str = "utf-8") -> Any:
    """Parse one block; numbers with a fraction, an exponent or 15 digits and more come back as their text.

    Raw control characters in strings, comments, CDATA and HTML comment wrappers, trailing commas and semicolons, single
    quotes, stray backslashes and a byte order mark are read through; NaN and Infinity are None. Raises `Broken`.
    """
    if b"\0" in block:
        block = block.replace(b"\0", b"")
    if len(block) > MAX_BYTES:
        raise Broken(f"the block has {len(block)} bytes, more than the limit of {MAX_BYTES}")
    if encoding == "utf-8" and not _EXACT.search(block):
        try:
            return orjson.loads(block)
        except orjson.JSONDecodeError:
            pass  # the tolerant way below says what is wrong, if it is
    text = block.decode(encoding, "replace")
    try:
        return _parse(text)
    except ValueError as first:
        return _repaired(text, first)


def _repaired(text: str, first: ValueError) -> Any:
    trimmed = _trimmed(text)
    for candidate in (trimmed, _without_extras(trimmed)):
        try:
            return _parse(candidate)
        except ValueError:
            continue
    try:
        return _parse(_BARE_ESCAPE.sub(_escape, _without_extras(trimmed)))
    except ValueError:
        raise Broken(str(first)) from first


def _trimmed(text: str) -> str:
    text = text.strip(_AROUND)
    if opening := _OPENING.match(text):
        text = text[opening.end() :]
    tail = max(0, len(text) - 40)
    return (text[:tail] + _CLOSING.sub("", text[tail:])).strip(_AROUND)


def _without_extras(text: str) -> str:
    return _COMMA.sub(lambda match: match["text"] or "", _TOKEN.sub(_token, text))


def _token(match: re.Match[str]) -> str:
    if match["single"]:
        return json.dumps(match["single"][1:-1].replace("\\'", "'").replace('\\"', '"'), ensure_ascii=False)
    return match["text"] or " "


def _escape(match: re.Match[str]) -> str:
    return match[0] if match[1] else "\\\\" + match[2]


def _parse(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise Broken("the block is nested too deeply") from None


def _nothing(_: str) -> None:
    """NaN and the infinities are no values."""


_DECODER = json.JSONDecoder(strict=False, parse_float=str, parse_int=str, parse_constant=_nothing)
