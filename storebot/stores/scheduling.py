"""`[schedule]` of a store file: what `scrapy worker` runs for the store, and when."""

from __future__ import annotations

import re
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BeforeValidator, Field, field_validator

from storebot.core import schedule as times
from storebot.core.job_kinds import KINDS
from storebot.stores.section import Section
from storebot.stores.texts import distinct, text_of, texts_of
from storebot.stores.values import Duration, milliseconds
from storebot.stores.wording import clipped, nearest, wrong

_EVERY = re.compile(r"every (.+)")
_LEAST_MS = 60_000
_WHEN = 'when, such as "every 24h" or the cron line "17 3 * * *"'


def when(value: object) -> str:
    """Return ``every`` and a duration of a minute or more, or a cron line."""
    text = " ".join(text_of(value, _WHEN).split())
    found = _EVERY.fullmatch(text)
    if found:
        if re.fullmatch(r"(?:[0-9]{1,6}[smhd])+", found[1]) is None:
            raise wrong(f"expected {_WHEN}, got {clipped(text)}: {clipped(found[1])} is no duration")
        if milliseconds(found[1]) < _LEAST_MS:
            raise wrong(f"expected {_WHEN}, got {clipped(text)}: not more often than every minute")
        return text
    try:
        times.check_cron(text)
    except ValueError as error:
        raise wrong(f"expected {_WHEN}, got {clipped(text)}: {error}") from error
    return text


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


def _when(what: str) -> str | None:
    found: str | None = Field(default=None, description=f"When {what}: `every DURATION`, or a cron line.")
    return found


class SchedulePlan(Section):
    """What the worker runs for this store, and when. Without a key a kind doesn't run by itself."""

    backfill: When | None = _when(
        "the whole store is walked for pages that were never read (the first time the worker does it by itself)"
    )
    refresh: When | None = _when("what is known is looked at again")
    reparse: When | None = _when("records are read again from kept pages, after a change of the rules")
    prune: When | None = _when("the page archive lets go of old generations")
    coverage: When | None = _when("the sources are compared with the database; the log has the result")
    export: When | None = _when(
        "the listings are written to `var/exports`, as CSV with a manifest, and the business channel is told"
    )
    deliver: When | None = _when("changes of all stores are posted to who subscribed: one store's file is enough")
    stage: When | None = _when("all stages run over the store's listings")
    timezone: Zone = Field(default="UTC", description="Time zone of the cron lines and of `blackout`.")
    blackout: Windows = Field(
        default=(),
        description='Times in which no job of the store begins: `["Mon-Fri 08:00-18:00", "22:00-02:00"]`. What is due '
        "then begins at their end; what runs goes on.",
    )
    jitter: Duration = Field(
        default="0s",
        description='How much later than its time a job may begin, at random, such as `"10m"`: so that stores with the '
        "same line don't begin together.",
    )
    priority: int = Field(
        default=0, ge=-1000, le=1000, description="Of the jobs that are due the one with the highest begins first."
    )
    time_limit: Duration = Field(
        default="24h", description="How long a job may run; then it is stopped gracefully, and tried again."
    )

    @field_validator("time_limit")
    @classmethod
    def _time_limit_is_some(cls, text: str) -> str:
        if milliseconds(text) < _LEAST_MS:
            raise wrong(f"expected a duration of a minute or more, got {clipped(text)}")
        return text

    @property
    def schedules(self) -> dict[str, times.Schedule]:
        """When each kind runs that has a time, as the core takes it."""
        return {kind: self._schedule(text) for kind in KINDS if (text := getattr(self, kind)) is not None}

    @property
    def time_limit_s(self) -> int:
        """The time limit in seconds."""
        return milliseconds(self.time_limit) // 1000

    def _schedule(self, text: str) -> times.Schedule:
        found = _EVERY.fullmatch(text)
        return times.Schedule(
            every_ms=milliseconds(found[1]) if found else 0,
            cron="" if found else text,
            timezone=self.timezone,
            blackout=self.blackout,
            jitter_ms=milliseconds(self.jitter),
        )
