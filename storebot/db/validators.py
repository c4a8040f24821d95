"""The validators of conditional requests that may be stored and sent back."""

from __future__ import annotations

import re

_DAY, _MONTH, _TIME = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)", r"[A-Z][a-z]{2}", r"\d\d:\d\d:\d\d"
_HTTP_DATE = re.compile(  # RFC 9110 §5.6.7: the form of today and two obsolete ones
    rf"{_DAY}, \d\d {_MONTH} \d{{4}} {_TIME} GMT"
    rf"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d\d-{_MONTH}-\d\d {_TIME} GMT"
    rf"|{_DAY} {_MONTH} [ \d]\d {_TIME} \d{{4}}"
)
_LONGEST_ETAG = 1000


def http_date(text: str | None) -> str | None:
    """Return ``text`` as it is if it has the form of an HTTP-date, else None. A future date is the store's business."""
    return text if text and _HTTP_DATE.fullmatch(text) else None


def entity_tag(text: str | None) -> str | None:
    """Return ``text`` as it is, quoted or not, if a header can carry it back, else None."""
    return text if text and len(text) <= _LONGEST_ETAG and text.isprintable() and text.isascii() else None
