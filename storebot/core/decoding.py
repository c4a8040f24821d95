"""Which characters the bytes of a page stand for: the rule of browsers, with a way out where a declaration is wrong."""

from __future__ import annotations

import codecs

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, resolve_encoding

_NOT_FOR_PAGES = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"})
LAST_RESORT = "cp1252"
ASCII_INCOMPATIBLE = ("utf-16", "utf-32", "iso2022", "hz", "utf-7", "cp037", "cp500")


def decode(body: bytes, *, content_type: str = "", charset: str | None = None) -> tuple[str, str]:
    """Return ``(encoding, text)``; never raises, and the text holds no U+0000.

    ``charset`` overrides everything (a rendered page is UTF-8 whatever its header says). Else: a byte order mark; the
    header's charset; the document's own ``<meta>`` in the first 4 KB; UTF-8; Windows-1252. A declared encoding counts
    where the bytes are valid in it, or nearly so: one broken character must not turn all others into rubbish, while a
    server's default of UTF-8 over a Windows-1252 document is seen through.
    """
    encoding, text = _choose(body, content_type, charset)
    return encoding, text.replace("\0", "") if "\0" in text else text


def declared(body: bytes, content_type: str) -> str | None:
    """Return the encoding that header or document name, unverified, as Python's codec name."""
    return _known(http_content_type_encoding(content_type)) or _from_meta(body)


def is_ascii_compatible(encoding: str) -> bool:
    """Say whether ASCII markup can be searched for in bytes of this encoding."""
    return not encoding.startswith(ASCII_INCOMPATIBLE)


def _choose(body: bytes, content_type: str, charset: str | None) -> tuple[str, str]:
    override = _known(charset)
    if override:
        return override, body.decode(override, "replace").removeprefix("\ufeff")
    marked, bom = read_bom(body)
    if marked and bom:
        return marked, body[len(bom) :].decode(marked, "replace")
    for encoding in _candidates(body, content_type):
        text = _if_valid(body, encoding)
        if text is not None:
            return encoding, text
    return LAST_RESORT, body.decode(LAST_RESORT, "replace")


def _candidates(body: bytes, content_type: str) -> list[str]:
    found = (_known(http_content_type_encoding(content_type)), _from_meta(body), "utf-8")
    return list(dict.fromkeys(encoding for encoding in found if encoding))


def _from_meta(body: bytes) -> str | None:
    encoding = _known(html_body_declared_encoding(body[:4096]))
    # A declaration that could be read as ASCII can't be true of UTF-16: browsers take UTF-8.
    return "utf-8" if encoding and encoding.startswith(("utf-16", "utf-32")) else encoding


def _known(label: str | None) -> str | None:
    if not label:
        return None
    encoding = resolve_encoding(label)
    if not encoding:
        return None
    try:
        b"text".decode(encoding, "ignore")  # base64 and its like are codecs, but raise here
    except (LookupError, ValueError):
        return None
    name = codecs.lookup(encoding).name
    return None if name.replace("_", "-") in _NOT_FOR_PAGES else name


def _if_valid(body: bytes, encoding: str) -> str | None:
    try:
        return body.decode(encoding)
    except ValueError:
        text = body.decode(encoding, "replace")
    broken = text.count("\ufffd")
    whole = len(text) - len(text.encode("ascii", "ignore")) - broken
    return text if whole >= 4 * broken else None
