"""`[schedule]`: what runs when, and what is wrong is said with its key and the nearest name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from storebot.core.job_kinds import KINDS
from storebot.core.schedule import Schedule
from storebot.exceptions import StoreFileError
from storebot.jobs.planning import plans_of
from storebot.stores.scheduling import SchedulePlan
from tests.stores.writing import LEAST, read

DAY_MS = 86_400_000


def test_each_kind_of_job_has_its_key() -> None:
    assert set(KINDS) <= SchedulePlan.model_fields.keys()


def test_a_store_file_without_it_plans_nothing(tmp_path: Path) -> None:
    assert plans_of(read(tmp_path)) == []


def test_what_it_says_is_the_plan(tmp_path: Path) -> None:
    store = read(
        tmp_path,
        f'{LEAST}[schedule]\nrefresh = "every  1d"\nprune = "17 3 * * sun"\ntimezone = "Europe/Berlin"\n'
        'blackout = ["Mon-Fri 08:00-18:00"]\njitter = "10m"\npriority = 3\ntime_limit = "90m"\n',
    )
    common = Schedule(timezone="Europe/Berlin", blackout=("Mon-Fri 08:00-18:00",), jitter_ms=600_000)
    refresh, prune = plans_of(store)
    assert (refresh.kind, refresh.schedule) == ("refresh", replace(common, every_ms=DAY_MS))
    assert (prune.kind, prune.schedule) == ("prune", replace(common, cron="17 3 * * sun"))
    assert (refresh.priority, refresh.time_limit_s) == (3, 5400)


@pytest.mark.parametrize(
    ("text", "key", "problem", "nearest"),
    [
        ("refesh = 'every 24h'", "schedule.refesh", "unknown key", "schedule.refresh"),
        ("refresh = 24", "schedule.refresh", "the number 24; put it in quotes", None),
        ("refresh = '24h'", "schedule.refresh", "five fields", None),
        ("refresh = 'every day'", "schedule.refresh", '"day" is no duration', None),
        ("refresh = 'every 24'", "schedule.refresh", '"24" is no duration', None),
        ("refresh = 'every 0h'", "schedule.refresh", "not more often than every minute", None),
        ("refresh = '0 25 * * *'", "schedule.refresh", "Bad hour", None),
        ("refresh = '0 0 31 2 *'", "schedule.refresh", "Bad day-of-month", None),
        ("timezone = 'Europe/Berln'", "schedule.timezone", "expected a time zone", "Europe/Berlin"),
        ("timezone = 'CEST'", "schedule.timezone", "expected a time zone", None),
        ("blackout = '22:00-02:00'", "schedule.blackout", "expected a list of times", None),
        ("blackout = ['22-2']", "schedule.blackout", "HH:MM", None),
        ("blackout = ['Mon-Sun 00:00-24:00']", "schedule.blackout", "cover the whole week", None),
        ("jitter = 10", "schedule.jitter", "expected a duration", None),
        ("time_limit = '0s'", "schedule.time_limit", "a minute or more", None),
        ("priority = '1'", "schedule.priority", "expected a whole number", None),
        ("priority = 5000", "schedule.priority", "at most 1000", None),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, key: str, problem: str, nearest: str | None) -> None:
    with pytest.raises(StoreFileError) as caught:
        read(tmp_path, f"{LEAST}[schedule]\n{text}\n")
    assert caught.value.key == key
    assert problem in str(caught.value)
    if nearest:
        assert caught.value.nearest == nearest


def test_a_time_without_quotes_is_no_number(tmp_path: Path) -> None:
    """Case G01: TOML has times of its own, and none is taken for a text."""
    with pytest.raises(StoreFileError, match=r"schedule\.refresh: expected when, such as .*, got the date or time"):
        read(tmp_path, f"{LEAST}[schedule]\nrefresh = 12:30:00\n")


def test_nought_is_a_value(tmp_path: Path) -> None:
    """Case G03."""
    store = read(tmp_path, f'{LEAST}[schedule]\nrefresh = "every 1h"\njitter = "0s"\npriority = 0\n')
    assert (store.schedule.schedules["refresh"].jitter_ms, store.schedule.priority) == (0, 0)
