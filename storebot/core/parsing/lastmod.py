"""Times as sitemaps write them."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_EARLIEST_YEAR = 1990  # before the web: 0001-01-01 and 1970-01-01 are how software writes "not set"
_LONGEST = 100  # characters
_DAY_MS = 86_400_000
_SHORT = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_DAY = re.compile(r"(\d{4})(\d{2})(\d{2})")
_LONG_FRACTION = re.compile(r"([.,]\d{6})\d+")


def lastmod_ms(text: str | None) -> int | None:
    """Return a ``lastmod`` as milliseconds since the epoch, UTC; None where the text is no time that can be trusted.

    Reads the W3C forms (https://www.w3.org/TR/NOTE-datetime), a year or a date alone (its first instant), a blank for
    the "T", offsets without a colon, no offset (taken as UTC), slashes, and the dates of mail headers.
    """
    moment = _moment((text or "")[:_LONGEST].strip())
    if moment is None or moment.year < _EARLIEST_YEAR:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def span_ms(text: str | None) -> tuple[int, int] | None:
    """Return the first and the last instant that a ``lastmod`` may mean: of a day, a month or a year its end.

    None where `lastmod_ms` has none.
    """
    first = lastmod_ms(text)
    short = _SHORT.fullmatch((text or "").strip()) or _DAY.fullmatch((text or "").strip())
    if first is None or short is None:
        return None if first is None else (first, first)
    year, month, day = (int(part or 0) for part in short.groups())
    month = month or 12
    last = datetime(year, month, day or monthrange(year, month)[1], tzinfo=UTC)
    return first, round(last.timestamp() * 1000) + _DAY_MS - 1


def _moment(text: str) -> datetime | None:
    short = _SHORT.fullmatch(text)
    try:
        if short:
            return datetime(int(short[1]), int(short[2] or 1), int(short[3] or 1), tzinfo=UTC)
        if text[:4].isdigit():
            return datetime.fromisoformat(_iso(text))
        return parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None


def _iso(text: str) -> str:
    """Return ``text`` in a form that Python 3.11 reads: no blank before the offset, six digits of a second at most."""
    text = _LONG_FRACTION.sub(r"\1", text.replace("/", "-"))
    if text.upper().endswith("UTC") or text.upper().endswith("GMT"):
        text = text[:-3].rstrip() + "Z"
    date, _, time = text.replace("T", " ", 1).partition(" ")
    return f"{date}T{time.replace(' ', '')}" if time else date
