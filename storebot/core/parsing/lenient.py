"""JSON as shops really write it: a strict parser first, then the repairs that can't change what a value means."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from storebot.core.parsing.depth import MAX_DEPTH, is_too_deep

MAX_BYTES = 4_000_000
"""A block beyond this is refused: the largest real ones seen (a shop's whole variant matrix) have some 500 KB."""
_MAX_REPAIRED = 1_000_000  # characters: repairs look at every quote, a second for each million of them

# orjson reads numbers into floats; money, and codes that look like numbers, keep their text as the shop wrote it.
_EXACT = re.compile(rb":\s*-?\d+(?:[.eE]|\d{14})")
_AROUND = " \t\r\n;\ufeff"
_OPENING = re.compile(r"(?:/\*|//)?\s*<!\[CDATA\[\s*(?:\*/)?|<!--")
_CLOSING = re.compile(r"(?:(?:/\*|//)\s*)?\]\]>\s*(?:\*/)?$|(?://\s*)?-->$")
# Each alternative also takes what is never closed, up to the end: otherwise hostile text costs quadratic time.
_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*+(?:"|\\?\Z))"""
    r"""|(?P<single>(?<=[\[{,:\s])'(?:[^'\\]|\\.)*+'(?=\s*[\]},:]))"""
    r"""|(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*|<!--|-->|<!\[CDATA\[|\]\]>)""",
    re.DOTALL,
)
_COMMA = re.compile(r"""(?P<text>"(?:[^"\\]|\\.)*+(?:"|\\?\Z))|,(?=\s*[\]}])""", re.DOTALL)
_KEY = re.compile(r"""(?P<text>"(?:[^"\\]|\\.)*+(?:"|\\?\Z))|(?<=[{,\s])(?P<key>[A-Za-z_$][\w$]*)(?=\s*:)""", re.DOTALL)
_BRACKET = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|'(?:[^'\\\n]|\\.)*+(?:'|\\?\Z|(?=\n))|/\*.*?(?:\*/|\Z)|//[^\n]*)"""
    r"""|(?P<open>[{\[])|(?P<close>[}\]])""",
    re.DOTALL,
)
_BARE_ESCAPE = re.compile(r"""\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|(.))""", re.DOTALL)


_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"


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
            return _bounded(orjson.loads(block), block.count(b"{") + block.count(b"["))
        except orjson.JSONDecodeError:
            pass  # the tolerant way below says what is wrong, if it is
    text = block.decode(encoding, "replace")
    try:
        return _parse(text)
    except Broken:
        raise
    except ValueError as first:
        return _repaired(text, first)


def load_literal(text: str) -> Any:
    """Parse the object or list that a script's text begins with; what follows it is ignored.

    As `load` does; besides, keys may stand without quotes, as JavaScript allows. Raises `Broken`.
    """
    if len(text) > MAX_BYTES:
        raise Broken(f"the script has {len(text)} characters, more than the limit of {MAX_BYTES}")
    try:
        value, end = _DECODER.raw_decode(text)
        return _bounded(value, text.count("{", 0, end) + text.count("[", 0, end))
    except RecursionError:
        raise Broken(_TOO_DEEP) from None
    except Broken:
        raise
    except ValueError:
        extras = _without_extras(_balanced(text[:_MAX_REPAIRED]))
        return load(_KEY.sub(lambda match: match["text"] or f'"{match["key"]}"', extras).encode("utf-8", "replace"))


def _balanced(text: str) -> str:
    """Return the text up to where its first bracket is closed."""
    depth = 0
    for match in _BRACKET.finditer(text):
        depth += (match["open"] is not None) - (match["close"] is not None)
        if depth <= 0:
            return text[: match.end()]
    raise Broken("the object isn't closed")


def _repaired(text: str, first: ValueError) -> Any:
    if len(text) > _MAX_REPAIRED:
        raise Broken(f"{first}, and it is too long to be repaired") from first
    trimmed = _trimmed(text)
    for candidate in (trimmed, _without_extras(trimmed)):
        try:
            return _parse(candidate)
        except Broken:
            raise
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
        return _bounded(_DECODER.decode(text), text.count("{") + text.count("["))
    except RecursionError:
        raise Broken(_TOO_DEEP) from None


def _bounded(value: Any, brackets: int) -> Any:
    if is_too_deep(value, brackets):
        raise Broken(_TOO_DEEP)
    return value


def _nothing(_: str) -> None:
    """NaN and the infinities are no values."""


_DECODER = json.JSONDecoder(strict=False, parse_float=str, parse_int=str, parse_constant=_nothing)
