"""Where a list goes on: the values of the last row that was shown, as text for an address."""

from __future__ import annotations

import base64
import binascii

import orjson

Cursor = tuple[int | str, ...]
_LONGEST = 2000


def as_text(cursor: Cursor) -> str:
    """Return a cursor for an address."""
    return base64.urlsafe_b64encode(orjson.dumps(cursor)).decode().rstrip("=")


def from_text(text: str, kinds: tuple[type, ...]) -> Cursor:
    """Read a cursor with values of these kinds. ValueError says that it is none."""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        found = orjson.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error):
        found = None
    if not isinstance(found, list) or [type(one) for one in found] != list(kinds):
        raise ValueError("after: it isn't from a list of this order; begin again without it")
    return tuple(found)
