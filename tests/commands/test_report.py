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

from storebot.commands.report import HEADERS, Command, render
from storebot.core.breaker import Breaker, State
from storebot.core.overrides import Override
from storebot.core.sizes import size
from storebot.db import breakers, runs
from storebot.db.database import Database, now_ms
from storebot.db.planned_runs import PlanNote
from storebot.items import Outcome, RunStatus
from tests.db.test_truth import DAY, visited

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


def test_runs_that_needed_a_dearer_tier_are_told_below_the_table() -> None:
    plain, climbed = ran(tiers={"http": 9}), ran(id=4, tiers={"http": 6, "browser": 3}, escalations=1)
    lines = render([plain, climbed]).split("\n")
    assert lines[-1] == "run 4 fetched by http:6,browser:3; 1 escalation"
    assert "fetched by" not in render([plain])


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


def test_overrides_stand_below_the_table_and_in_the_json(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    override = Override("0.2 s between two requests", "ann", "their letter")
    database = Database.open(url)
    with database.write() as conn:
        run_id = runs.start(conn, "acme", "refresh", overrides=[override])
    database.dispose()
    assert report(url, "--store", "acme") == 0
    assert f"run {run_id} overrode: 0.2 s between two requests (ann: their letter)" in capsys.readouterr().out
    assert report(url, "--json", "--last", "2") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [run["overrides"] for run in found] == [[override._asdict()], []]


@pytest.mark.parametrize(
    ("breaker", "line"),
    [
        (
            Breaker(State.OPEN, 1_700_000_000_000, 1_700_001_800_000, 1, "10 of 10 visits were blocked"),
            "acme: circuit breaker open until 2023-11-14 22:43:20 UTC (since 2023-11-14 22:13:20 UTC, because 10 of 10 "
            "visits were blocked): until then no run asks anything",
        ),
        (
            Breaker(State.HALF_OPEN, 1_700_000_000_000, 0, 1, "HTTP 503"),
            "acme: circuit breaker half-open (since 2023-11-14 22:13:20 UTC, because HTTP 503): the next run asks for "
            "one page first",
        ),
    ],
    ids=["open", "half-open"],
)
def test_store_that_is_left_alone_is_shown(
    url: str, capsys: pytest.CaptureFixture[str], breaker: Breaker, line: str
) -> None:
    database = Database.open(url)
    with database.write() as conn:
        breakers.record(conn, "acme", breaker)
        breakers.record(conn, "books", breaker._replace(state=State.CLOSED))
    database.dispose()
    assert report(url) == 0
    assert capsys.readouterr().out.splitlines()[-1] == line
    assert report(url, "--json", "--store", "books") == 0
    assert "breaker" not in capsys.readouterr().out
    assert report(url, "--json", "--store", "acme") == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["store"], last["breaker"]["state"], last["breaker"]["trips"]) == ("acme", breaker.state.value, 1)


def test_what_came_of_a_plan_stands_below_the_table() -> None:
    plan = PlanNote(
        share=None, requests=1_200, discovery=4, views=20, lanes={"hazard": 900, "new": 0, "audit": 36}, expected=41.26
    )
    lines = render([ran(), ran(id=4, plan=plan)], {4: 38}).split("\n")
    assert lines[-1] == (
        "run 4 planned 1,200 requests (900 hazard, 36 audit, 20 pages of the catalogue): 41.3 changes expected, "
        "38 found"
    )


def test_what_is_true_of_a_store_is_told_where_it_is_refreshed_by_a_plan(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    database = Database.open(url)
    with database.read() as conn:
        now = now_ms(conn)
    run_id = visited(database, Outcome.CHANGED, *[Outcome.UNCHANGED] * 9, at=now)
    visited(database, Outcome.CHANGED, at=now - 40 * DAY)
    database.dispose()
    assert report(url) == 0
    out = capsys.readouterr().out
    assert f"run {run_id} planned 9 requests (no page): 0.0 changes expected, 1 found\n" in out
    assert (
        "acme: 1 of 10 audits found a stale copy: 10.0% (95 %: 1.8% to 40.4%), in the last 30 days; ever: 2 of 11 "
        "audits found a stale copy: 18.2% (95 %: 5.1% to 47.7%)\nacme: lastmod: none was read of late\n"
    ) in out
    assert "books: " not in out
    assert report(url, "--json", "--store", "acme", "--last", "2") == 0
    first, second, truth = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert [first["plan"]["found"], second["plan"]["found"]] == [1, 1]
    assert (truth["store"], truth["truth"]["stale"]["30d"]["stale"], truth["truth"]["stale"]["ever"]["looks"]) == (
        "acme",
        1,
        11,
    )
    assert report(url, "--json", "--store", "books") == 0
    assert "truth" not in capsys.readouterr().out


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
