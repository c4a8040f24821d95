"""Readers of the values of `[schedule]`: when something runs, and when nothing does."""

from __future__ import annotations

import re
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BeforeValidator

from storebot.core import schedule as times
from storebot.stores.texts import distinct, text_of, texts_of
from storebot.stores.values import milliseconds
from storebot.stores.wording import clipped, nearest, wrong

LEAST_MS = 60_000
WHEN = 'when, such as "every 24h" or the cron line "17 3 * * *"'
_EVERY = re.compile(r"every (.+)")


def when(value: object) -> str:
    """Return ``every`` and a duration of a minute or more, or a cron line."""
    text = " ".join(text_of(value, WHEN).split())
    every = interval(text)
    if every:
        if re.fullmatch(r"(?:[0-9]{1,6}[smhd])+", every) is None:
            raise wrong(f"expected {WHEN}, got {clipped(text)}: {clipped(every)} is no duration")
        if milliseconds(every) < LEAST_MS:
            raise wrong(f"expected {WHEN}, got {clipped(text)}: not more often than every minute")
        return text
    try:
        times.check_cron(text)
    except ValueError as error:
        raise wrong(f"expected {WHEN}, got {clipped(text)}: {error}") from error
    return text


def interval(text: str) -> str:
    """Return the duration of ``every DURATION``; "" for a cron line."""
    found = _EVERY.fullmatch(text)
    return found[1] if found else ""


def zone(value: object) -> str:
    """Return the name of a time zone that this machine knows."""
    expected = 'a time zone such as "Europe/Berlin"'
    text = text_of(value, expected)
    if text not in available_timezones():
        raise wrong(f"expected {expected}, got {clipped(text)}", nearest=nearest(text, available_timezones()))
    ZoneInfo(text)
    return text


def windows(value: object) -> tuple[str, ...]:
    """Return windows of time that leave some minute of the week free."""
    expected = 'a list of times such as ["Mon-Fri 08:00-18:00", "22:00-02:00"]'
    found = distinct(texts_of(value, expected))
    read = []
    for text in found:
        try:
            read.append(times.window(text))
        except ValueError as error:
            raise wrong(f"expected {expected}, got {clipped(text)}: {error}") from error
    if read and times.covers_all(read):
        raise wrong(f"expected {expected} that leave some time free; these cover the whole week")
    return found


When = Annotated[str, BeforeValidator(when)]
Zone = Annotated[str, BeforeValidator(zone)]
Windows = Annotated[tuple[str, ...], BeforeValidator(windows)]
