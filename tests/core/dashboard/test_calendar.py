"""When jobs will run."""

from __future__ import annotations

from storebot.core.dashboard.calendar import Planned, calendar
from storebot.core.schedule import Schedule

HOUR = 3_600_000
NOW = 1_780_272_000_000  # 2026-06-01 00:00 UTC


def test_a_daily_job_is_in_each_day_at_its_hour() -> None:
    job = Planned(7, Schedule(every_ms=24 * HOUR), NOW + 5 * HOUR, NOW + 5 * HOUR)
    found = calendar([job], NOW)
    assert [day.strftime("%m-%d") for day in found.days] == [f"06-0{day}" for day in range(1, 8)]
    assert found.hours == {5: [[7]] * 7}
    assert found.often == []


def test_one_that_runs_once_is_there_once_and_one_that_is_late_is_there_now() -> None:
    found = calendar([Planned(1, Schedule(), NOW - HOUR, NOW - HOUR)], NOW + HOUR)
    assert found.hours == {1: [[1], [], [], [], [], [], []]}


def test_one_that_runs_each_quarter_of_an_hour_is_told_by_its_schedule() -> None:
    found = calendar([Planned(3, Schedule(every_ms=HOUR // 4), NOW, NOW)], NOW)
    assert (found.hours, found.often) == ({}, [3])


def test_a_cron_line_follows_its_zone_through_a_change_of_the_clock() -> None:
    """Berlin leaves summer time on 2026-10-25: 03:30 there is 01:30, then 02:30 UTC."""
    saturday = 1_792_800_000_000  # 2026-10-24 00:00 UTC
    job = Planned(1, Schedule(cron="30 3 * * *", timezone="Europe/Berlin"), saturday + HOUR + HOUR // 2, saturday)
    found = calendar([job], saturday)
    assert [len(cell) for cell in found.hours[1]] == [1, 0, 0, 0, 0, 0, 0]
    assert [len(cell) for cell in found.hours[2]] == [0, 1, 1, 1, 1, 1, 1]
