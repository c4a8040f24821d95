"""``scrapy stage``: which stages it runs, what it prints, and how it exits."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from sqlalchemy import func, select

from storebot.commands.stage import Command, Progress
from storebot.core.stage import Derived, Reads, Subject
from storebot.db.database import Database
from storebot.db.schema import derived
from tests.db.shop import Worker, listing

HERE = "tests.commands.test_stage"


class Failing:
    """A stage of a user that divides by a price."""

    version = "1"
    reads: frozenset[Reads] = frozenset()

    def derive(self, subject: Subject) -> Derived:
        return Derived(number=1000 // (subject.listing.price_minor or 0))


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database with two listings of one store and one of another."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    database = Database.open(url)
    Worker(database).known("1", listings=[listing("Beans 500 g", variant_id="a"), listing("Free", None, "b")])
    Worker(database, token="books", store="books").known("2")
    database.dispose()
    return url


def stage(url: str, *argv: str, **settings: Any) -> int:
    command = Command()
    command.settings = Settings({"STOREBOT_DATABASE_URL": url, "STOREBOT_PROGRESS": "off", **settings})
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    parser.add_argument("args", nargs="*")
    opts = parser.parse_args(list(argv))
    command.run(opts.args, opts)
    return command.exitcode


def saved(url: str) -> dict[str, int]:
    database = Database.open(url)
    with database.read() as conn:
        found = conn.execute(select(derived.c.stage, func.count()).group_by(derived.c.stage)).all()
    database.dispose()
    return {name: count for name, count in found}


def test_all_stages_run_in_their_order_and_a_row_says_what_each_did(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stage(url, "all") == 0
    out, err = capsys.readouterr()
    lines = [line.split() for line in out.splitlines()[2:]]
    assert [line[0] for line in lines] == ["same_product", "price_lows", "unit_price", "score"]
    assert lines[2][:7] == ["unit_price", "1", "3", "3", "0", "0", "0"]
    assert err == ""
    assert saved(url) == {"price_lows": 3, "unit_price": 3, "score": 3}


def test_a_second_time_nothing_is_written(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    stage(url, "enrich")
    capsys.readouterr()
    assert stage(url, "enrich", "--json", "--all") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["stage"], one["rows"], one["written"], one["unchanged"]) for one in found] == [
        ("same_product", 3, 0, 3),
        ("price_lows", 3, 0, 3),
        ("unit_price", 3, 0, 3),
    ]
    assert {"version", "flagged", "failed", "failure", "elapsed_s", "dry_run"} <= found[0].keys()


def test_one_store_and_a_dry_run(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert stage(url, "score", "--store", "books", "--dry-run") == 0
    out = capsys.readouterr().out.splitlines()
    assert out[2].split()[:4] == ["score", "1", "1", "1"]
    assert out[-1] == "dry run: nothing was written"
    assert saved(url) == {}


def test_a_stage_of_ones_own_that_fails_over_one_listing_is_exit_3_and_says_over_which(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {"STOREBOT_STAGES": {"divide": f"{HERE}.Failing"}}
    assert stage(url, "divide", **own) == 3
    err = capsys.readouterr().err
    assert (
        "divide: 1 listings failed and stay as they were, the first: shop: https://shop.example/p/1, variant b" in err
    )
    assert "ZeroDivisionError" in err
    assert saved(url) == {"divide": 2}


def test_settings_of_the_command_line_are_text(url: str) -> None:
    assert stage(url, "divide", STOREBOT_STAGES=f'{{"divide": "{HERE}.Failing"}}') == 3


@pytest.mark.parametrize(
    ("argv", "settings", "why"),
    [
        ([], {}, "usage: scrapy stage"),
        (["score", "enrich"], {}, "usage: scrapy stage"),
        (["scores"], {}, "did you mean 'score'?"),
        (["score", "--store", "boks"], {}, "store 'boks': the database has no listing of it (did you mean 'books'?)"),
        (["score"], {"STOREBOT_STAGES": "{no json"}, "STOREBOT_STAGES: expected"),
        (["score"], {"STOREBOT_STAGES": {"x": "y.Z"}}, "STOREBOT_STAGES: 'x': y.Z: can't be made"),
    ],
)
def test_wrong_use_is_exit_2_and_one_line(
    url: str, capsys: pytest.CaptureFixture[str], argv: list[str], settings: dict[str, Any], why: str
) -> None:
    assert stage(url, *argv, **settings) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert why in err


def test_database_that_is_not_there_is_exit_8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stage(f"sqlite:///{tmp_path / 'none.db'}", "score") == 8
    assert "no such file" in capsys.readouterr().err


def test_progress_is_lines_where_there_is_no_terminal_a_bar_where_it_is_asked_for_and_nothing_if_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Progress, "LINE_EVERY_S", 0.0)
    for mode in ("off", "lines", "bar"):
        with Progress("score", 3, mode) as progress:
            progress(2)
        shown = capsys.readouterr().err
        assert ("score: 2 of 3 rows\n" in shown) == (mode == "lines")
        assert bool(shown) == (mode != "off")
