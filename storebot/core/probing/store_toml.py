"""A draft as the text of a store file."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from storebot.core.probing.draft import Draft, Entry, Value

_WIDTH = 110


def store_toml(draft: Draft) -> str:
    """Return the text: what `tomllib` reads of it is exactly the draft's entries, those that are off left out."""
    lines: list[str] = []
    for sentence in draft.about:
        lines += _comment(sentence)
    for section, entries in draft.sections.items():
        if section:
            switched = "" if any(not entry.is_off for entry in entries) else "# "
            lines += ["", f"{switched}[{section}]"]
        for entry in entries:
            lines += _entry(entry)
    if draft.open:
        lines += ["", *_comment("What the probe couldn't settle:")]
        for sentence in draft.open:
            lines += _comment(f"- {sentence}")
    return "\n".join(lines) + "\n"


def _entry(entry: Entry) -> Iterator[str]:
    if entry.why:
        yield from _comment(entry.why)
    off = "# " if entry.is_off else ""
    for line in f"{entry.key} = {_value(entry.value)}".split("\n"):
        yield f"{off}{line}"


def _comment(sentence: str) -> list[str]:
    """Return a sentence as comment lines: without what would end one, or isn't allowed in one."""
    plain = "".join(sign if sign.isprintable() else " " for sign in sentence)
    return [f"# {line}" for line in textwrap.wrap(plain, _WIDTH, break_long_words=False, break_on_hyphens=False)]


def _value(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return _text(value)
    if len(value) <= 3 and sum(map(len, value)) < 80:
        return f"[{', '.join(map(_text, value))}]"
    return "\n".join(["[", *(f"    {_text(one)}," for one in value), "]"])


def _text(text: str) -> str:
    """Return a literal string where that is possible, so that an expression reads as it is."""
    if "\\" in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
