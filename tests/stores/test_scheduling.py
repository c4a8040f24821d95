"""`[schedule]`: what runs when, and what is wrong is said with its key and the nearest name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from storebot.core.job_kinds import KINDS, command
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
        ("export = 24", "schedule.export", "or a table, got the number 24", None),
        ("export = 'every 24'", "schedule.export.when", '"24" is no duration', None),
        ("export = {formats = ['csv']}", "schedule.export.when", "is missing", None),
        (
            "export = {when = 'every 1d', formts = ['csv']}",
            "schedule.export.formts",
            "unknown",
            "schedule.export.formats",
        ),
        (
            "export = {when = 'every 1d', formats = 'csv'}",
            "schedule.export.formats",
            "expected a list of formats",
            None,
        ),
        (
            "export = {when = 'every 1d', what = 'offer'}",
            "schedule.export.what",
            "'listings', 'changes' or 'offers'",
            None,
        ),
        ("export = {when = 'every 1d', columns = ['prcie']}", "schedule.export.columns", 'no column "prcie"', "price"),
        (
            "export = {when = 'every 1d', what = 'offers', columns = ['name']}",
            "schedule.export.columns",
            'offers have no column "name"',
            None,
        ),
        ("export = {when = 'every 1d', filter = ['price<x']}", "schedule.export.filter", "'x' is no number", None),
        ("export = {when = 'every 1d', filter = [\"name~a\\nb\"]}", "schedule.export.filter", "each on one line", None),
        ("export = {when = 'every 1d', out = 'sftp://u:hush@h/'}", "schedule.export.out", "without a password", None),
        ("export = {when = 'every 1d', tell = 'no'}", "schedule.export.tell", "expected true or false", None),
        ("export = {when = 'every 1d', link = 'files'}", "schedule.export.link", "expected an address", None),
        (
            "export = {when = 'every 1d', tell = false, link = 'https://f.example'}",
            "schedule.export.link",
            "nobody is told",
            None,
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, key: str, problem: str, nearest: str | None) -> None:
    with pytest.raises(StoreFileError) as caught:
        read(tmp_path, f"{LEAST}[schedule]\n{text}\n")
    assert caught.value.key == key
    assert problem in str(caught.value)
    if nearest:
        assert caught.value.nearest == nearest
    assert "hush" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_an_export_is_a_time_or_a_table(tmp_path: Path) -> None:
    (plain,) = plans_of(read(tmp_path, f'{LEAST}[schedule]\nexport = "every 1d"\n'))
    assert (plain.kind, plain.schedule.every_ms, plain.args) == ("export", DAY_MS, {})
    said = (
        'when = "17 3 * * *"\nformats = ["xlsx", "csv"]\nwhat = "listings"\ncolumns = ["name", "price"]\n'
        'filter = ["price<20", "name~a, b"]\nout = "s3://shops"\nlink = "https://files.example"\n'
    )
    (full,) = plans_of(read(tmp_path, f"{LEAST}[schedule.export]\n{said}"))
    assert full.schedule.cron == "17 3 * * *"
    assert command("export", "acme", full.args) == [
        "export",
        "--store=acme",
        "--tell",
        "--format=xlsx,csv",
        "--columns=name,price",
        "--filter=price<20",
        "--filter=name~a, b",
        "--out=s3://shops",
        "--link=https://files.example",
    ]
    (quiet,) = plans_of(read(tmp_path, f'{LEAST}[schedule.export]\nwhen = "every 1d"\ntell = false\n'))
    assert command("export", "acme", quiet.args) == ["export", "--store=acme", "--tell", "--no-tell"]


@pytest.mark.parametrize(
    ("said", "problem", "nearest"),
    [
        ('formats = ["csv", "xslx"]', "there is no format 'xslx': choose of csv,", "xlsx"),
        ('what = "changes"\nformats = ["merchant"]', "merchant holds listings, not changes", None),
    ],
)
def test_a_format_that_there_is_not_is_said_before_the_job_is_planned(
    tmp_path: Path, said: str, problem: str, nearest: str | None
) -> None:
    store = read(tmp_path, f'{LEAST}[schedule.export]\nwhen = "every 1d"\n{said}\n')
    with pytest.raises(StoreFileError) as caught:
        plans_of(store)
    assert (caught.value.key, caught.value.nearest) == ("schedule.export.formats", nearest)
    assert str(caught.value).startswith(f"{store.path}: schedule.export.formats: {problem}")


def test_a_time_without_quotes_is_no_number(tmp_path: Path) -> None:
    """Case G01: TOML has times of its own, and none is taken for a text."""
    with pytest.raises(StoreFileError, match=r"schedule\.refresh: expected when, such as .*, got the date or time"):
        read(tmp_path, f"{LEAST}[schedule]\nrefresh = 12:30:00\n")


def test_nought_is_a_value(tmp_path: Path) -> None:
    """Case G03."""
    store = read(tmp_path, f'{LEAST}[schedule]\nrefresh = "every 1h"\njitter = "0s"\npriority = 0\n')
    assert (store.schedule.schedules["refresh"].jitter_ms, store.schedule.priority) == (0, 0)
