"""Text of a page in one form, so that what looks the same is the same: NFC, single spaces, no invisible marks."""

from __future__ import annotations

import html
import re
from unicodedata import is_normalized, normalize

REPLACEMENT = "\ufffd"  # what a decoder leaves where the bytes made no sense

_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_CHARACTER = re.compile(r"&#[0-9]{8,};?")  # a number beyond all characters
# Controls, bidi marks, zero-width marks, soft hyphens. The two joiners are apart: emoji, Persian and Indic need them.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]"
)
_JOINABLE = (
    "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\ufb50-\ufdff\ufe70-\ufefc"  # Arabic, Indic, Khmer
    "\ufe0f\u2600-\u27bf\U0001f000-\U0001faff"  # emoji
)
_STRAY_JOINER = re.compile(
    rf"[\u200c\u200d]+(?=\s|$)|(?<![{_JOINABLE}])[\u200c\u200d]+|(?<=[\u200c\u200d])[\u200c\u200d]+"
)
_JOINER = re.compile("[\u200c\u200d]")


def clean_text(text: str) -> str:
    """Return the text as it's published: NFC, white space collapsed, invisible marks gone. Idempotent.

    Joiners stay where a script or an emoji needs them. Nothing in the result is refused by a database or by UTF-8:
    U+0000 is dropped, a lone surrogate becomes U+FFFD.
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip(" ")
    text = " ".join(text.split())
    if not text.isprintable():  # white space is plain by now: what is left is invisible, or a joiner
        text = _SURROGATE.sub(REPLACEMENT, text)
        text = " ".join(_STRAY_JOINER.sub("", _INVISIBLE.sub("", text)).split())
    if not text.isascii() and not is_normalized("NFC", text):
        text = " ".join(normalize("NFC", text).split())
        if not text.isprintable():  # marks changed places, and with them what stands before a joiner
            return clean_text(text)
    return text


def unescape(text: str) -> str:
    """Decode the entities of HTML once; a reference to a character that can't be is U+FFFD. Never raises.

    `html.unescape` does where the number has more than 4,300 digits, Python's limit for reading one. JSON in an
    attribute has thousands of quotes: they are replaced at once, for no name of an entity goes on behind one.
    """
    if "&" not in text:
        return text
    text = text.replace("&quot;", '"')
    try:
        return html.unescape(text)
    except ValueError:
        return html.unescape(_NO_CHARACTER.sub(REPLACEMENT, text))


def comparable_text(text: str) -> str:
    """Return clean text without its joiners: the form that is hashed and compared."""
    return text if text.isascii() or text.isprintable() else _JOINER.sub("", text)
