"""When a job runs next: every so often or by a cron line, in a time zone, around blackout windows.

Times are milliseconds since the epoch, UTC. Why cron lines are cronsim's: docs/decisions/0036-jobs-in-the-database.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY_MINUTES = 24 * 60
_WEEK_MINUTES = 7 * _DAY_MINUTES
_WINDOW = re.compile(r"(?:(?P<days>\S+) +)?(?P<from>\d\d:\d\d)-(?P<until>\d\d:\d\d)")


class Window(NamedTuple):
    """A time of some days of the week in which no job starts; one that ends at or before its begin passes midnight."""

    days: tuple[int, ...]  # of its begin; 0 is Monday
    start: int  # minutes since midnight, by the wall clock
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a job runs: at most one of ``every_ms`` and ``cron``; with neither it runs once."""

    every_ms: int = 0
    cron: str = ""  # five fields
    timezone: str = "UTC"  # of the cron line and the blackout windows
    blackout: tuple[str, ...] = ()
    jitter_ms: int = 0

    @property
    def repeats(self) -> bool:
        """Whether there is another slot after each."""
        return bool(self.every_ms or self.cron)

    def as_text(self) -> str:
        """Return it as the database saves it."""
        return json.dumps({name: value for name, value in asdict(self).items() if value}, sort_keys=True)

    @classmethod
    def read(cls, text: str) -> Schedule:
        """Read what `as_text` wrote; "" is one that runs once."""
        said = json.loads(text or "{}")
        return cls(**{**said, "blackout": tuple(said.get("blackout", ()))})


class Slot(NamedTuple):
    """One occurrence: the time that the schedule gives to it, and the time at which it runs."""

    at: int
    run_at: int


def check_cron(line: str) -> None:
    """Raise ValueError, with what is wrong, for a line that isn't five fields of cron or never comes."""
    if len(line.split()) != 5:
        raise ValueError("a cron line has five fields: minute, hour, day of the month, month, day of the week")
    try:
        next(CronSim(line, datetime(2024, 1, 1)), None)  # in a leap year, so that 29 February comes
    except CronSimError as error:
        raise ValueError(str(error)) from None
    if next(CronSim(line, datetime(2024, 1, 1)), None) is None:
        raise ValueError("there is no such day")


def window(text: str) -> Window:
    """Read a window such as ``Mon-Fri 08:00-18:00``, ``Sat,Sun 00:00-24:00`` or ``22:00-02:00``; raises ValueError."""
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        raise ValueError("it isn't [DAYS] HH:MM-HH:MM")
    start, end = _minutes(found["from"]), _minutes(found["until"])
    if start == _DAY_MINUTES:
        raise ValueError("it begins at 24:00: write 00:00 of the next day")
    return Window(_days(found["days"]), start, end)


def covers_all(windows: Iterable[Window]) -> bool:
    """Whether no minute of the week is left in which a job may start."""
    covered = bytearray(_WEEK_MINUTES)
    for each in windows:
        length = (each.end - each.start) % _DAY_MINUTES or _DAY_MINUTES
        for day in each.days:
            for minute in range(day * _DAY_MINUTES + each.start, day * _DAY_MINUTES + each.start + length):
                covered[minute % _WEEK_MINUTES] = 1
    return all(covered)


def next_slot(schedule: Schedule, now: int, last: int = 0, chance: float = 0.0) -> Slot | None:
    """Return the first occurrence after ``now``; None for a schedule that doesn't repeat.

    ``last`` is the slot before, which ``every`` counts from (0: there was none, so it's due at once). Slots that passed
    meanwhile are left out: they are one run, not many. ``chance`` (0 to 1) draws the jitter.

    A cron line follows its zone's wall clock. A time that a change of the clock leaves out comes right after it; one
    that comes twice counts once. Lines with a star for minute or hour run by the hours that pass, as in Debian's cron.
    """
    if schedule.cron:
        at = _next_of_cron(schedule, now)
    elif schedule.every_ms:
        at = last + ((now - last) // schedule.every_ms + 1) * schedule.every_ms if last else now
    else:
        return None
    return Slot(at, allowed(schedule, at + int(schedule.jitter_ms * chance)))


def allowed(schedule: Schedule, at: int) -> int:
    """Return the first time from ``at`` on that lies in no blackout window."""
    if not schedule.blackout:
        return at
    zone, windows = ZoneInfo(schedule.timezone), [window(text) for text in schedule.blackout]
    for _ in range(8 * len(windows)):  # windows that touch: a week of each at most, or they would cover it all
        ends = [end for each in windows if (end := _end_of(each, at, zone)) is not None]
        if not ends:
            return at
        at = max(ends)
    return at


def _next_of_cron(schedule: Schedule, now: int) -> int:
    zone = ZoneInfo(schedule.timezone)
    for moment in CronSim(schedule.cron, datetime.fromtimestamp(now / 1000, zone)):
        at = _ms(moment)
        if at > now:  # a time that comes twice is given as its first, which may be past
            return at
    raise ValueError(f"{schedule.cron}: there is no such day")  # `check_cron` refuses it before


def _end_of(each: Window, at: int, zone: ZoneInfo) -> int | None:
    """Return when the window that holds ``at`` ends; None if it doesn't hold it."""
    local = datetime.fromtimestamp(at / 1000, zone)
    minute = local.hour * 60 + local.minute
    today = local.date()
    if each.end > each.start:
        inside = local.weekday() in each.days and each.start <= minute < each.end
        return _wall(today, each.end, zone, at) if inside else None
    if local.weekday() in each.days and minute >= each.start:
        return _wall(today + timedelta(days=1), each.end, zone, at)
    if (local.weekday() - 1) % 7 in each.days and minute < each.end:
        return _wall(today, each.end, zone, at)
    return None


def _wall(day: date, minutes: int, zone: ZoneInfo, after: int) -> int:
    """Return a time of the wall clock; of one that comes twice, the first that is past ``after``."""
    days, minutes = divmod(minutes, _DAY_MINUTES)
    wall = datetime.combine(day + timedelta(days=days), time(minutes // 60, minutes % 60), zone)
    first = _ms(wall)
    return first if first > after else _ms(wall.replace(fold=1))


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _minutes(text: str) -> int:
    hours, minutes = int(text[:2]), int(text[3:])
    if minutes > 59 or hours * 60 + minutes > _DAY_MINUTES:
        raise ValueError(f"{text} is no time of a day")
    return hours * 60 + minutes


def _days(text: str | None) -> tuple[int, ...]:
    if text is None:
        return tuple(range(7))
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first not in DAYS or (last or first) not in DAYS:
            raise ValueError(f"{part} is no day or days: {', '.join(DAYS)}, Mon-Fri")
        start, end = DAYS.index(first), DAYS.index(last or first)
        found.update((start + step) % 7 for step in range((end - start) % 7 + 1))
    return tuple(sorted(found))
