"""Errors of one run in classes: what they say, without what differs from page to page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_LONGEST = 160
_KEPT = "; the page is kept:"  # storebot.failed_pages adds it: a path of its own for each page
_LOOSE = (
    (re.compile(r"https?://[^\s'\"<>]+"), "URL"),
    (re.compile(r"'[^']{0,200}'|\"[^\"]{0,200}\"|«[^»]{0,200}»"), "'…'"),
    (re.compile(r"\b[0-9a-f]{16,}\b"), "…"),
    (re.compile(r"\d+[.,]\d+|\d{4,}"), "N"),  # an HTTP status has three digits, and says something
)


@dataclass(slots=True)
class ErrorClass:
    """Errors that say the same; ``example`` is the newest of them in full."""

    outcome: str
    says: str
    visits: int
    example: str
    page_id: int


def says(reason: str) -> str:
    """Return what a reason says, without addresses, quotations and numbers."""
    text = " ".join(reason.partition(_KEPT)[0][:2000].split())
    for pattern, instead in _LOOSE:
        text = pattern.sub(instead, text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def classes(rows: Iterable[tuple[str, str, int]]) -> list[ErrorClass]:
    """Return the classes of (outcome, reason, page), the newest first; those with most visits come first."""
    found: dict[tuple[str, str], ErrorClass] = {}
    for outcome, reason, page_id in rows:
        key = (outcome, says(reason) or "no reason was given")
        if key in found:
            found[key].visits += 1
        else:
            found[key] = ErrorClass(*key, 1, reason, page_id)
    return sorted(found.values(), key=lambda one: -one.visits)
