"""A change in one line, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LONGEST = 60


def change_line(change: Mapping[str, Any]) -> str:
    """Return ``seq time type address [variant] field: before → after, …``; prices as they are saved, in minor units."""
    variant = f" [{change['variant_id']}]" if change["variant_id"] else ""
    fields = ", ".join(f"{one['field']}: {_shown(one['before'])} → {_shown(one['after'])}" for one in change["fields"])
    words = [str(change["seq"]), str(change["at"]), change["type"], f"{change['url_key']}{variant}", fields]
    return " ".join(word for word in words if word)


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
