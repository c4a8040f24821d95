"""``scrapy costs``: of one store or all, of a month or ever."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from storebot.commands.costs import Command
from storebot.core.month import DAY_MS, Month
from storebot.db import spending
from storebot.db.database import Database
from storebot.items import Expense, Outlay, Tier
from tests.stores.writing import LEAST, written

PRICED = LEAST + '[costs]\ncurrency = "EUR"\n[costs.http]\nper_request = "0.001"\n[budget.month]\nmoney = "1.00"\n'
NOW = int(datetime.now(UTC).timestamp() * 1000)
LAST_MONTH = Month.at(Month.at(NOW).start_ms - 1)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A database in which two stores have spent something, this month and the last; one of them has a file."""
    written(tmp_path / "stores", PRICED)
    database = Database.open(f"sqlite:///{tmp_path / 'store.db'}")
    with database.write() as conn:
        for at_ms, store, requests in ((NOW, "acme", 3), (LAST_MONTH.start_ms, "acme", 5), (NOW, "gone", 7)):
            expense = Expense(requests, 1_000, cost_micro=requests * 1_000)
            outlay = Outlay(store=store, at_ms=at_ms, tier=Tier.HTTP, page_type="sitemap", expense=expense)
            spending.add(conn, store, {Tier.HTTP: "EUR"}, [outlay])
    database.dispose()
    return tmp_path


def run(place: Path, *args: str) -> int:
    command, parser = Command(), argparse.ArgumentParser()
    command.settings = Settings(
        {"STOREBOT_DATABASE_URL": f"sqlite:///{place / 'store.db'}", "STOREBOT_STORES": str(place / "stores")}
    )
    command.add_options(parser)
    command.exitcode = 0
    command.run([], parser.parse_args(args))
    return command.exitcode


def told(place: Path, capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    assert run(place, "--json", *args) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_this_month_is_shown_unless_another_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(place, capsys, "--store", "acme")["requests"] == 3
    assert told(place, capsys, "--store", "acme", "--month", LAST_MONTH.name)["requests"] == 5
    ever = told(place, capsys, "--store", "acme", "--month", "ever", "--by", "day")
    assert (ever["period"], ever["requests"], len(ever["rows"])) == ("ever", 8, 2)
    assert ever["rows"][0]["day"] == datetime.fromtimestamp(LAST_MONTH.start_ms / 1000, UTC).strftime("%Y-%m-%d")
    assert DAY_MS * LAST_MONTH.days.start == LAST_MONTH.start_ms


def test_without_a_store_each_is_a_row(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(place, capsys)
    assert [(row["store"], row["cost"]) for row in found["rows"]] == [("acme", "0.003"), ("gone", "0.007")]
    assert (found["cost"], found["prices"]) == ({"EUR": "0.01"}, None)


def test_the_budget_of_the_month_and_the_prices_are_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(place, "--store", "acme") == 0
    text = capsys.readouterr().out
    assert "prices: http 0.001 EUR a request\n" in text
    assert f"budget: 0.003 of 1.00 EUR of {Month.at(NOW).name} (0%); " in text


def test_a_store_without_a_file_still_has_its_books(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(place, capsys, "--store", "gone")["requests"] == 7


def test_a_store_that_is_neither_here_nor_there_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(place, "--store", "acm") == 2
    assert "did you mean 'acme'?" in capsys.readouterr().err


def test_a_database_that_is_not_there_exits_8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 8
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--by", "url"], "--by url wants a store"),
        (["--month", "July"], "a month such as 2026-07"),
        (["--limit", "0"], "scrapy costs"),
    ],
    ids=["url", "month", "limit"],
)
def test_wrong_use_is_refused(place: Path, args: list[str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        run(place, *args)
