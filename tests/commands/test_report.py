"""``scrapy report``: the runs as a table and as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from storebot.commands.report import HEADERS, Command, render, size
from storebot.db import runs
from storebot.db.database import Database
from storebot.items import Outcome, RunStatus

NINE = {Outcome.NOT_MODIFIED: 5, Outcome.UNCHANGED: 1, Outcome.CHANGED: 2, Outcome.ERROR: 1}


def ran(**facts: Any) -> runs.Run:
    """Return a row of the ledger."""
    usual: dict[str, Any] = {
        "id": 3,
        "store": "acme",
        "kind": "refresh",
        "status": RunStatus.PARTIAL,
        "reason": "1 error",
        "started_at": 1_700_000_000_000,
        "finished_at": 1_700_000_041_250,
        "parser_version": "1",
        "hash_version": 1,
        "outcomes": NINE,
        "requests": 12,
        "size_bytes": 1_234_567,
        "rows_written": 4,
        "rows_skipped": 6,
        "change_events": 3,
    }
    return runs.Run(**{**usual, **facts})


def cells(found: runs.Run) -> dict[str, str]:
    """Return the cells of a run by their headers."""
    head, rule, row, *_ = render([found]).split("\n")
    starts = [match for match, sign in enumerate(rule) if sign == "─" and rule[match - 1 : match] != "─"]
    ends = [*starts[1:], max(len(head), len(row))]
    return {head[a:b].strip(): row[a:b].strip() for a, b in zip(starts, ends, strict=True)}


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database with three runs: two of acme, one of books."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    database = Database.open(url)
    with database.write() as conn:
        for store, kind in (("acme", "backfill"), ("books", "backfill"), ("acme", "refresh")):
            run_id = runs.start(conn, store, kind)
            runs.finish(conn, run_id, RunStatus.COMPLETE, "", outcomes={Outcome.NEW: run_id}, requests=7)
    database.dispose()
    return url


def report(url: str, *args: str) -> int:
    command = Command()
    command.settings = Settings({"STOREBOT_DATABASE_URL": url})
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    command.run([], parser.parse_args(list(args)))
    return command.exitcode


def test_row_says_what_was_fetched_rewritten_and_skipped() -> None:
    found = cells(ran())
    assert found["pages fetched"] == "4"  # all visits but those that were answered by 304
    assert (found["not modified"], found["rows rewritten"], found["rows skipped"]) == ("5", "4", "6")
    assert (found["changes"], found["requests"], found["bytes"]) == ("3", "12", "1.2 MB")
    assert (found["run"], found["kind"], found["store"], found["status"]) == ("3", "refresh", "acme", "partial")
    assert (found["started (UTC)"], found["elapsed"]) == ("2023-11-14 22:13:20", "41.2 s")


def test_naive_script_fetches_every_page_and_rewrites_every_listing_that_were_known() -> None:
    found = cells(ran(pages_known=40, listings_known=55))
    assert (found["naive: pages"], found["naive: rows"]) == ("40", "55")


def test_naive_script_fetches_no_less_than_was_visited() -> None:
    found = cells(ran(pages_known=0, listings_known=0))  # of a run that did not end
    assert (found["naive: pages"], found["naive: rows"]) == ("9", "9")


def test_every_header_has_its_cell() -> None:
    assert tuple(cells(ran())) == HEADERS


def test_run_that_is_under_way_has_no_time_yet() -> None:
    assert cells(ran(finished_at=None, status=RunStatus.RUNNING))["elapsed"] == "-"


def test_reasons_stand_below_the_table_and_only_where_there_is_one() -> None:
    lines = render([ran(id=1, status=RunStatus.COMPLETE, reason=""), ran(id=2, reason="1 error; 3 pages left")])
    assert lines.split("\n")[4:] == ["run 2 (partial): 1 error; 3 pages left"]


def test_table_begins_with_the_oldest_run(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(url) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]


def test_only_the_last_runs_of_one_store_are_shown(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(url, "--store", "acme", "--last", "1") == 0
    (row,) = capsys.readouterr().out.splitlines()[2:]
    assert row.split()[:3] == ["3", "refresh", "acme"]


def test_json_is_one_object_a_line_newest_first(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(url, "--json") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [run["id"] for run in found] == [3, 2, 1]
    assert found[0]["outcomes"]["new"] == 3
    assert {"store", "kind", "status", "reason", "started_at", "finished_at", "requests"} <= set(found[0])
    assert found[0]["status"] == "complete"


def test_database_without_runs_says_how_to_make_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    Database.open(url).dispose()
    assert report(url) == 0
    assert "scrapy crawl backfill -a store=NAME" in capsys.readouterr().out
    assert report(url, "--json") == 0
    assert capsys.readouterr().out == ""


def test_database_that_cannot_be_reached_is_one_line_and_exit_8(capsys: pytest.CaptureFixture[str]) -> None:
    assert report("mysql://root@127.0.0.1:1/none") == 8
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (9_940, "9.9 KB"), (65_000, "65 KB"), (999_600, "1.0 MB")],
)
def test_size_has_a_unit(count: int, text: str) -> None:
    assert size(count) == text


@given(st.integers(0, 10**15 - 10**12))
def test_size_has_three_digits_at_most(count: int) -> None:
    assert sum(sign.isdigit() for sign in size(count)) <= 3
