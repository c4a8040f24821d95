"""When a job runs next: durations, cron lines across both changes of the clock, blackouts, jitter."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.schedule import Schedule, Slot, allowed, check_cron, covers_all, next_slot, window

HOUR_MS = 3_600_000
BERLIN = "Europe/Berlin"


def ms(text: str) -> int:
    """Return a time that is written with its offset."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def wall(at: int, zone: str = BERLIN) -> str:
    return datetime.fromtimestamp(at / 1000, ZoneInfo(zone)).isoformat(" ", "minutes")


def slots(schedule: Schedule, after: str, count: int) -> list[str]:
    """Return the wall-clock times of the next occurrences, each asked for right after the one before."""
    now, found = ms(after), []
    for _ in range(count):
        slot = next_slot(schedule, now)
        assert slot is not None
        found.append(wall(slot.at, schedule.timezone))
        now = slot.at
    return found


class TestCron:
    def test_a_time_that_spring_leaves_out_comes_right_after_the_gap(self) -> None:
        """Case I01."""
        nightly = Schedule(cron="30 2 * * *", timezone=BERLIN)
        assert slots(nightly, "2026-03-28T12:00+01:00", 2) == ["2026-03-29 03:00+02:00", "2026-03-30 02:30+02:00"]

    def test_a_time_that_autumn_has_twice_comes_once_at_its_first(self) -> None:
        nightly = Schedule(cron="30 2 * * *", timezone=BERLIN)
        assert slots(nightly, "2026-10-24T12:00+02:00", 2) == ["2026-10-25 02:30+02:00", "2026-10-26 02:30+01:00"]

    def test_asked_between_its_two_times_it_comes_the_next_day(self) -> None:
        nightly = Schedule(cron="30 2 * * *", timezone=BERLIN)
        assert slots(nightly, "2026-10-25T02:15+01:00", 1) == ["2026-10-26 02:30+01:00"]

    def test_an_hourly_line_runs_by_the_hours_that_pass(self) -> None:
        hourly = Schedule(cron="30 * * * *", timezone=BERLIN)
        assert slots(hourly, "2026-10-25T01:00+02:00", 4) == [
            "2026-10-25 01:30+02:00",
            "2026-10-25 02:30+02:00",
            "2026-10-25 02:30+01:00",
            "2026-10-25 03:30+01:00",
        ]

    def test_without_a_zone_it_is_utc(self) -> None:
        assert slots(Schedule(cron="17 3 * * *"), "2026-03-29T00:00+00:00", 1) == ["2026-03-29 03:17+00:00"]

    def test_a_leap_day_is_a_day(self) -> None:
        check_cron("0 0 29 2 *")

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ("17 3 * *", "five fields"),
            ("0 17 3 * * *", "five fields"),
            ("@daily", "five fields"),
            ("61 3 * * *", "minute"),
            ("0 0 30 2 *", "day-of-month"),
        ],
    )
    def test_what_is_no_line_or_never_comes_is_refused(self, line: str, why: str) -> None:
        with pytest.raises(ValueError, match=why):
            check_cron(line)

    @given(st.integers(min_value=ms("2026-01-01T00:00+00:00"), max_value=ms("2027-12-31T00:00+00:00")))
    def test_the_next_slot_is_always_later(self, now: int) -> None:
        for line in ("30 2 * * *", "*/20 * * * *", "0 1-3 * * *"):
            slot = next_slot(Schedule(cron=line, timezone=BERLIN), now)
            assert slot is not None
            assert now < slot.at <= now + 26 * HOUR_MS


class TestEvery:
    def test_it_is_due_at_once_where_it_never_ran(self) -> None:
        assert next_slot(Schedule(every_ms=HOUR_MS), 5_000) == Slot(5_000, 5_000)

    def test_it_counts_from_its_slots_so_that_it_never_drifts(self) -> None:
        assert next_slot(Schedule(every_ms=HOUR_MS), HOUR_MS + 90_000, last=HOUR_MS) == Slot(2 * HOUR_MS, 2 * HOUR_MS)

    def test_slots_that_passed_are_one_run_not_many(self) -> None:
        slot = next_slot(Schedule(every_ms=HOUR_MS), 72 * HOUR_MS + 1, last=HOUR_MS)
        assert slot is not None
        assert slot.at == 73 * HOUR_MS

    def test_a_change_of_the_clock_doesn_t_move_it(self) -> None:
        before = ms("2026-03-28T12:00+01:00")
        slot = next_slot(Schedule(every_ms=24 * HOUR_MS, timezone=BERLIN), before + 1, last=before)
        assert slot is not None
        assert wall(slot.at) == "2026-03-29 13:00+02:00"

    def test_jitter_delays_the_run_and_not_the_slots(self) -> None:
        schedule = Schedule(every_ms=HOUR_MS, jitter_ms=600_000)
        assert next_slot(schedule, HOUR_MS + 1, HOUR_MS, 0.5) == Slot(2 * HOUR_MS, 2 * HOUR_MS + 300_000)

    def test_without_either_there_is_no_next(self) -> None:
        assert next_slot(Schedule(), 1) is None


class TestBlackout:
    OFFICE = Schedule(cron="0 * * * *", timezone=BERLIN, blackout=("Mon-Fri 08:00-18:00",))

    @pytest.mark.parametrize(
        ("at", "begins"),
        [
            ("2026-11-30T07:59+01:00", "2026-11-30 07:59+01:00"),
            ("2026-11-30T08:00+01:00", "2026-11-30 18:00+01:00"),
            ("2026-11-30T18:00+01:00", "2026-11-30 18:00+01:00"),
            ("2026-12-05T12:00+01:00", "2026-12-05 12:00+01:00"),  # a Saturday
        ],
    )
    def test_what_is_due_in_it_begins_at_its_end(self, at: str, begins: str) -> None:
        assert wall(allowed(self.OFFICE, ms(at))) == begins

    def test_one_that_passes_midnight_belongs_to_the_day_of_its_begin(self) -> None:
        friday = Schedule(timezone=BERLIN, blackout=("Fri 22:00-02:00",))
        assert wall(allowed(friday, ms("2026-12-05T01:00+01:00"))) == "2026-12-05 02:00+01:00"
        assert wall(allowed(friday, ms("2026-12-04T01:00+01:00"))) == "2026-12-04 01:00+01:00"

    def test_windows_that_touch_are_one(self) -> None:
        both = Schedule(blackout=("08:00-12:00", "12:00-13:30"))
        assert wall(allowed(both, ms("2026-11-30T09:00+00:00")), "UTC") == "2026-11-30 13:30+00:00"

    def test_its_end_is_by_the_wall_clock_on_the_days_of_the_change(self) -> None:
        night = Schedule(timezone=BERLIN, blackout=("22:00-02:30",))
        assert wall(allowed(night, ms("2026-03-29T00:30+01:00"))) == "2026-03-29 03:30+02:00"
        assert wall(allowed(night, ms("2026-10-25T02:15+01:00"))) == "2026-10-25 02:30+01:00"

    def test_a_window_that_leaves_nothing_free_is_found(self) -> None:
        assert covers_all([window("00:00-24:00")])
        assert covers_all([window("Mon-Sun 06:00-06:00")])
        assert not covers_all([window("Mon-Sat 00:00-24:00"), window("Sun 00:00-23:59")])

    @pytest.mark.parametrize("text", ["8-18", "08:00-25:00", "Mon-Fry 08:00-09:00", "08:60-09:00", "24:00-02:00", ""])
    def test_what_is_no_window_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"\w"):
            window(text)


def test_a_schedule_comes_back_as_it_was_saved() -> None:
    schedule = Schedule(cron="17 3 * * *", timezone=BERLIN, blackout=("22:00-02:00",), jitter_ms=60_000)
    assert Schedule.read(schedule.as_text()) == schedule
    assert Schedule.read("") == Schedule()
