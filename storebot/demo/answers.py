"""What is asked of the demo store and what it answers, as values; and the rules of conditional requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import formatdate, parsedate_to_datetime

HTML = "text/html; charset=utf-8"
JSON = "application/json; charset=utf-8"
SCRIPT = "text/javascript; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
XML = "application/xml; charset=utf-8"
GZIP = "application/gzip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request: what answers depend on."""

    path: str  # without the query
    query: str = ""
    now_s: float  # the real time: for dates that a client compares with its own clock
    if_none_match: str | None = None
    if_modified_since: str | None = None
    accepts_gzip: bool = False
    cookies: Mapping[str, str] = field(default_factory=dict)
    http: str = "1.1"  # or "2", through the front
    address: str = ""  # the client's, or its proxy's
    agent: str = ""  # User-Agent
    egress: str = ""  # by which a scraping API shows that it is one

    @property
    def conditional(self) -> bool:
        """Whether it carries a validator."""
        return self.if_none_match is not None or self.if_modified_since is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One response, and how it is to be sent."""

    status: int = 200
    body: bytes = b""
    content_type: str = HTML
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut_at: int | None = None  # the connection breaks after this many bytes of the body


def not_modified(asked: Asked, etag: str, modified_s: int | None) -> bool:
    """Whether the client's copy is current: If-None-Match decides where it is sent, and If-Modified-Since only else.

    https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2; a date that can't be read is ignored (section 13.1.3).
    """
    if asked.if_none_match is not None:
        tags = [tag.strip().removeprefix("W/") for tag in asked.if_none_match.split(",")]
        return "*" in tags or etag.removeprefix("W/") in tags
    if asked.if_modified_since is None or modified_s is None:
        return False
    since_s = _http_date_s(asked.if_modified_since)
    return since_s is not None and modified_s <= since_s


def http_date(at_s: float) -> str:
    """Return a time as an HTTP-date."""
    return formatdate(at_s, usegmt=True)


def _http_date_s(text: str) -> float | None:
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
