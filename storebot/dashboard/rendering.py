"""Templates: escaped by the engine, with the filters that turn values into what a person reads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from storebot.core.pacing import as_duration
from storebot.core.sizes import size

FOLDER = Path(__file__).parent
_LONGEST = 300  # characters of a text in a row: the whole of it is on its own page


def environment() -> Environment:
    """Return the engine. A name that a template misspells is an error, not an empty place."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "when": when,
        "ago": ago,
        "count": count,
        "size": lambda value: size(int(value)),
        "duration": duration,
        "percent": percent,
        "short": short,
        "part": lambda value: quote(str(value), safe=""),
        "link": link,
        "with_query": with_query,
    }
    return made


def when(value: datetime | None) -> Markup | str:
    """Return a time as text with its exact form beside it."""
    if value is None:
        return "never"
    text = value.strftime("%Y-%m-%d %H:%M")
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(value.isoformat(), text, text)


def ago(value: datetime | None, now: datetime) -> Markup | str:
    """Return how long ago a time is, or in how long it comes."""
    if value is None:
        return "never"
    seconds = (now - value).total_seconds()
    text = f"{duration(seconds)} ago" if seconds >= 1 else f"in {duration(-seconds)}" if seconds < -1 else "now"
    title = value.strftime("%Y-%m-%d %H:%M:%S")
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(value.isoformat(), title, text)


def duration(seconds: float) -> str:
    """Return a duration for a person: from two days on in days."""
    days, rest = divmod(round(seconds), 86_400)
    if days < 2:
        return as_duration(seconds)
    return f"{days}d {rest // 3600}h" if rest >= 3600 and days < 10 else f"{days}d"


def count(value: int | Decimal | None) -> str:
    """Return a number with its thousands apart; a dash for none."""
    return "–" if value is None else f"{value:,}"


def percent(value: float | None) -> str:
    """Return a share as a percentage; a dash for none."""
    return "–" if value is None else f"{value * 100:.1f} %"


def short(value: Any, longest: int = _LONGEST) -> str:
    """Return text cut to a length that a row has room for."""
    text = str(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def link(url: str, text: str | None = None) -> Markup:
    """Return a link to a page of a shop; only the text where it is no http(s) URL.

    It opens without telling the shop where it was followed from.
    """
    name = short(url if text is None else text, 120)
    if not _is_web(url.strip()):
        return Markup("{}").format(name)
    made = '<a href="{}" rel="noreferrer noopener nofollow external">{}</a>'
    return Markup(made).format(url.strip(), name)


def _is_web(url: str) -> bool:
    try:
        return urlsplit(url).scheme.lower() in ("http", "https") and url.isprintable()
    except ValueError:
        return False


def with_query(path: str, query: Mapping[str, Any], **changed: Any) -> str:
    """Return an address with these parameters; None or "" leaves one out."""
    found = {name: value for name, value in {**query, **changed}.items() if value not in (None, "")}
    return f"{path}?{urlencode(found)}" if found else path
