"""When jobs will run: the slots of the coming days, by day and hour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from storebot.core.schedule import Schedule, next_slot

DAYS = 7
OFTEN = 24  # slots within a day, from which on a job is told by its schedule alone
_DAY_MS = 86_400_000
_HOUR_MS = 3_600_000


class Planned(NamedTuple):
    """A job that runs by itself, and when next."""

    job_id: int
    schedule: Schedule
    next_run_at: int
    slot_at: int


class Calendar(NamedTuple):
    """The coming days, from today on. ``hours``: hour -> for each day the jobs that begin then, by number."""

    days: Sequence[datetime]
    hours: dict[int, list[list[int]]]
    often: Sequence[int]  # jobs that run so often that each hour has them


def calendar(jobs: Iterable[Planned], now_ms: int) -> Calendar:
    """Return when jobs run, by UTC; without the jitter, and as if each run ended before the next slot."""
    today = datetime.fromtimestamp(now_ms / 1000, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    begin = round(today.timestamp() * 1000)
    hours: dict[int, list[list[int]]] = {}
    often: list[int] = []
    for job in jobs:
        slots = slots_of(job, now_ms, begin + DAYS * _DAY_MS)
        if slots is None:
            often.append(job.job_id)
            continue
        for at in slots:
            day, rest = divmod(at - begin, _DAY_MS)
            cell = hours.setdefault(rest // _HOUR_MS, [[] for _ in range(DAYS)])[day]
            if job.job_id not in cell:
                cell.append(job.job_id)
    return Calendar([today + timedelta(days=day) for day in range(DAYS)], dict(sorted(hours.items())), often)


def slots_of(job: Planned, now_ms: int, until_ms: int) -> list[int] | None:
    """Return the times at which a job runs before ``until_ms``; None for one that runs every hour or more often."""
    found = [max(job.next_run_at, now_ms)]
    last, at = job.slot_at, found[0]
    while (slot := next_slot(job.schedule, at, last)) is not None and slot.run_at < until_ms:
        found.append(slot.run_at)
        last, at = slot.at, slot.run_at
        if len(found) > OFTEN and found[OFTEN] - found[0] <= _DAY_MS:
            return None
    return [one for one in found if one < until_ms]
