"""The file that says what is told when: ``STOREBOT_ALERTS``. Who is told is a secret, and stands in the environment."""

from __future__ import annotations

import tomllib
from datetime import tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import BeforeValidator, Field, ValidationError, field_validator, model_validator

from storebot.core.alerts.alerting import Rules
from storebot.core.alerts.conditions import Limits
from storebot.core.alerts.digest import Terms, Watch
from storebot.core.alerts.finding import Kind
from storebot.core.alerts.moves import Event
from storebot.core.alerts.quiet import QuietHours
from storebot.exceptions import StoreFileError
from storebot.stores import values
from storebot.stores.keys import keys_of
from storebot.stores.problems import problems, syntax_problem
from storebot.stores.section import Section
from storebot.stores.texts import distinct, text_of, texts_of
from storebot.stores.wording import clipped, nearest, shown, wrong


def _zone(value: object) -> str:
    """Return the name of a time zone that this machine knows."""
    expected = 'a time zone such as "Europe/Berlin" or "UTC"'
    name = text_of(value, expected)
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        close = nearest(name, available_timezones())
        raise wrong(f"expected {expected}, got {clipped(name)}", nearest=close) from None
    return name


def _hours(value: object) -> str:
    text = text_of(value, 'times such as "22:00-07:00"')
    try:
        QuietHours.read(text, ZoneInfo("UTC"))
    except ValueError as error:
        raise wrong(str(error)) from error
    return text


def _kinds(value: object) -> tuple[Kind, ...]:
    return tuple(map(Kind, _names(value, [kind.value for kind in Kind])))


def _events(value: object) -> tuple[Event, ...]:
    return tuple(map(Event, _names(value, [event.value for event in Event])))


def _names(value: object, known: list[str]) -> tuple[str, ...]:
    expected = f"a list of {', '.join(known)}"
    named = distinct(texts_of(value, expected))
    for name in named:
        if name not in known:
            raise wrong(f"expected {expected}, got {clipped(name)}", nearest=nearest(name, known))
    return named


def _texts(value: object) -> tuple[str, ...]:
    return distinct(texts_of(value, 'a list of names such as ["acme"]'))


def _percent(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 10_000:
        raise wrong(f"expected a number of per cent such as 10 or 2.5, got {shown(value)}")
    return Decimal(str(value))


Zone = Annotated[str, BeforeValidator(_zone)]
Hours = Annotated[str, BeforeValidator(_hours)]


class Operator(Section):
    """What the operator is told of what is wrong."""

    repeat: values.Duration = Field(
        default="24h", description='After which time what is still wrong is told again; `"0s"`: never.'
    )
    settle: values.Duration = Field(
        default="15m", description="How long it has to be gone before that is told; what returns earlier is the same."
    )
    quiet: Hours | None = Field(
        default=None, description='Times of day in which nothing is told: `"22:00-07:00"`. What was is told after them.'
    )
    urgent: Annotated[tuple[Kind, ...], BeforeValidator(_kinds)] = Field(
        default=(), description='What is told in quiet hours all the same: `["disk", "silent"]`.'
    )
    failures: int = Field(default=3, ge=1, description="How many runs, or tries of a job, in a row have to fail.")
    disk_free: values.Size = Field(default="2GB", description="What has to be free on the disks that are written to.")


class Business(Section):
    """How often somebody is told what moved in the market."""

    every: values.Duration = Field(default="1h", description="How often a digest is made, if there is anything in it.")
    cool_down: values.Duration = Field(
        default="24h", description="How long one thing of one product isn't told again, however often it moves."
    )
    quiet: Hours | None = Field(default=None, description="Times of day in which no digest is made.")


class WatchSection(Section):
    """What somebody wants to be told of. All that it names has to fit."""

    name: values.Sentence = Field(description="What the digest is called.")
    events: Annotated[tuple[Event, ...], BeforeValidator(_events)] = Field(
        default=(Event.PRICE_DROP, Event.BACK_IN_STOCK), description="What has to happen."
    )
    stores: Annotated[tuple[str, ...], BeforeValidator(_texts)] = Field(default=(), description="At which stores.")
    brands: Annotated[tuple[str, ...], BeforeValidator(_texts)] = Field(
        default=(), description="Of which brands, in any letter case."
    )
    percent: Annotated[Decimal, BeforeValidator(_percent)] | None = Field(
        default=None, description="By how many per cent a price has to move at least."
    )
    below: values.Price | None = Field(
        default=None, description='Below which price the product has to be now, as text: `"99.00"`.'
    )
    currency: values.CurrencyCode | None = Field(default=None, description="The currency of `below`.")

    @model_validator(mode="after")
    def _below_has_a_currency(self) -> WatchSection:
        if (self.below is None) != (self.currency is None):
            raise wrong("below and currency need each other", key="watch.below")
        return self

    @property
    def watch(self) -> Watch:
        """What it says, as the core takes it."""
        return Watch(
            name=self.name[:64],
            events=frozenset(self.events),
            stores=frozenset(self.stores),
            brands=frozenset(brand.casefold() for brand in self.brands),
            percent=self.percent or Decimal(0),
            below=self.below,
            currency=self.currency or "",
        )


class AlertsFile(Section):
    """The whole file."""

    time_zone: Zone = Field(
        default="UTC", description='In which messages tell the time, and quiet hours are kept: `"Europe/Berlin"`.'
    )
    operator: Operator = Field(default_factory=Operator, description="What the operator is told of what is wrong.")
    business: Business = Field(default_factory=Business, description="How often somebody is told what moved.")
    watch: tuple[WatchSection, ...] = Field(
        default=(),
        description="`[[watch]]` tables, each its own digest. Without any: price drops and what is back in stock.",
    )

    @field_validator("watch", mode="before")
    @classmethod
    def _watch_is_a_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("watch")
    @classmethod
    def _names_differ(cls, watches: tuple[WatchSection, ...]) -> tuple[WatchSection, ...]:
        distinct([one.watch.name for one in watches])
        return watches

    @property
    def zone(self) -> tzinfo:
        """The time zone."""
        return ZoneInfo(self.time_zone)

    @property
    def rules(self) -> Rules:
        """How the operator is told, as the core takes it."""
        operator = self.operator
        return Rules(
            repeat_ms=values.milliseconds(operator.repeat),
            settle_ms=values.milliseconds(operator.settle),
            quiet=self._quiet(operator.quiet),
            urgent=frozenset(operator.urgent),
            zone=self.zone,
        )

    @property
    def limits(self) -> Limits:
        """From where on things are wrong."""
        free = values.size_bytes(self.operator.disk_free)
        return Limits(failures=self.operator.failures, disk_free_bytes=free, zone=self.zone)

    @property
    def terms(self) -> Terms:
        """How digests are made."""
        watches = tuple(one.watch for one in self.watch)
        more = {"watches": watches} if watches else {}
        return Terms(
            every_ms=values.milliseconds(self.business.every),
            cool_down_ms=values.milliseconds(self.business.cool_down),
            quiet=self._quiet(self.business.quiet),
            zone=self.zone,
            **more,
        )

    def _quiet(self, text: str | None) -> QuietHours | None:
        return QuietHours.read(text, self.zone) if text else None


def read_alerts_file(path: str) -> AlertsFile:
    """Return what the file says; "" is no file, and says nothing.

    Raises StoreFileError for one that can't be read or isn't valid, its text a line for each fault.
    """
    if not path:
        return AlertsFile()
    try:
        document = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise StoreFileError(path, "", f"can't be read: {error.strerror or error}; STOREBOT_ALERTS names it") from error
    except UnicodeDecodeError as error:
        raise StoreFileError(path, f"byte {error.start}", "expected UTF-8; save the file in that encoding") from error
    except tomllib.TOMLDecodeError as error:
        raise syntax_problem(path, error) from error
    try:
        return AlertsFile.model_validate(document)
    except ValidationError as error:
        raise problems(path, error, keys_of(AlertsFile)) from error
