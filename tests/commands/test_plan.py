"""``scrapy plan``: what a refresh would fetch, why, what it takes, and whether its promise can be kept."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from sqlalchemy import update

from storebot.commands.plan import Command
from storebot.db import planned_runs, robots, runs, spending
from storebot.db.database import Database, now_ms
from storebot.db.planned_runs import PlanNote
from storebot.db.robots import KeptRobots
from storebot.db.schema import pages, stores
from storebot.db.schema import runs as run_rows
from storebot.items import Expense, Outlay, RunStatus, Tier
from tests.db.shop import Worker, parsed
from tests.stores.writing import LEAST, written

HOUR = 3_600_000
PAGES = 40
PRICES = '[costs]\ncurrency = "EUR"\n[costs.http]\nper_request = "0.001"\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store whose 40 pages were read by a backfill, and last looked at an hour apart; every other one is due."""
    database = Database.open(f"sqlite:///{tmp_path / 'store.db'}")
    backfill = Worker(database, store="acme", kind="backfill")
    backfill.discover(*map(str, range(PAGES)))
    now = backfill.clock()
    took = {"requests": 1, "size_bytes": 50_000, "elapsed_ms": 200, "tier": "http"}
    backfill.save(*(parsed(target, at=now - 48 * HOUR, **took) for target in backfill.pending()))
    with database.write() as conn:
        for number in range(1, PAGES + 1):
            looked = {"checked_at": now - number * HOUR, "next_due_at": now - HOUR if number % 2 else now + HOUR}
            conn.execute(update(pages).where(pages.c.id == number).values(looked))
        outlay = Outlay(store="acme", at_ms=now, tier=Tier.HTTP, page_type="sitemap", expense=Expense(3, 30_000))
        spending.add(conn, "acme", {}, [outlay])
        robots.record(conn, "acme", "https://shop.example", KeptRobots("https://shop.example/robots.txt", 404, ""))
        runs.finish(conn, backfill.run.run_id, RunStatus.COMPLETE, "", outcomes={}, requests=PAGES + 3)
    database.dispose()
    return tmp_path


def run(place: Path, *args: str, refresh: str = "", more: str = "") -> int:
    text = LEAST + more + (f"[refresh]\nhead_pages = 1\n{refresh}" if refresh else "")
    written(place / "stores", text)
    command, parser = Command(), argparse.ArgumentParser()
    command.settings = Settings(
        {"STOREBOT_DATABASE_URL": f"sqlite:///{place / 'store.db'}", "STOREBOT_STORES": str(place / "stores")}
    )
    command.add_options(parser)
    command.exitcode = 0
    command.run([], parser.parse_args(["--store", "acme", *args]))
    return command.exitcode


def told(place: Path, capsys: pytest.CaptureFixture[str], *args: str, code: int = 0, **texts: str) -> dict[str, Any]:
    assert run(place, "--json", *args, **texts) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_without_a_budget_all_that_is_due_is_visited(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(place, capsys)
    assert (found["plan"], found["pages_known"], found["lanes"], found["discovery"]) == ("due", 40, {"due": 20}, 3)
    assert (found["requests"], found["seconds"]) == (23, 23.0)
    assert found["bytes"] == 20 * 50_000 + 3 * 10_000
    assert 0 < found["found"] < found["waiting"]
    assert run(place) == 0
    assert "no budget, so all that is due is visited" in capsys.readouterr().out


def test_budget_is_spent_to_the_last_request(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(place, capsys, "--budget", "15")
    assert (found["plan"], found["share"], found["requests"]) == ("budget", 15, 15)
    assert sum(found["lanes"].values()) == 12
    assert found["lanes"]["sweep"] == 3
    assert len(found["first"]) == 10
    assert {one["lane"] for one in found["first"]} <= found["lanes"].keys()


def test_day_s_budget_is_shared_by_the_time_since_the_last_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(place, capsys, refresh="budget = 24\n")["share"] == 24
    database = Database.open(f"sqlite:///{place / 'store.db'}")
    with database.write() as conn:
        run_id = runs.start(conn, "acme", "refresh")
        planned_runs.note(conn, run_id, PlanNote(share=24.0, requests=24, discovery=3, views=0))
        runs.finish(conn, run_id, RunStatus.COMPLETE, "", outcomes={}, requests=24)
        conn.execute(update(run_rows).where(run_rows.c.id == run_id).values(started_at=now_ms(conn) - 6 * HOUR))
    database.dispose()
    assert told(place, capsys, refresh="budget = 24\n")["share"] == 6


def test_full_is_everything(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(place, capsys, "--full", refresh="budget = 5\nmax_age = '1h'\n")
    assert (found["plan"], found["requests"], found["caught"]) == ("full", 43, pytest.approx(1.0))


def test_money_is_by_the_price_table(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(place, capsys, "--budget", "15", more=PRICES)
    assert (found["cost"], found["currency"]) == ("0.015", "EUR")


def test_infeasible_promise_is_refused_with_the_numbers(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refresh = "budget = 13\nmax_age = '2d'\n"
    found = told(place, capsys, code=2, refresh=refresh)
    assert (found["requests"], found["lanes"], found["first"]) == (0, {}, [])
    assert found["floor"] == {
        "max_age_h": 48.0,
        "feasible": False,
        "sweep": 1.0,
        "shortest_h": 96.0,
        "least_budget": 23,
    }
    assert run(place, refresh=refresh) == 2
    out = capsys.readouterr().out
    assert "refused: max_age = 2d can't be promised for 40 pages with 13 requests a day" in out
    assert "budget = 23 would do, or max_age = 4d with this budget" in out


def test_feasible_promise_raises_the_sweep(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(place, capsys, refresh="budget = 23\nmax_age = '4d'\n")
    assert found["floor"]["feasible"]
    assert (found["floor"]["sweep"], found["lanes"]["sweep"]) == (0.5, 10)


def test_share_that_only_finds_pages_is_saved(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(place, refresh="budget = 3\n") == 0
    assert "finding pages alone takes 3; the share is saved for the next run" in capsys.readouterr().out


def test_newcomer_reads_lanes_costs_and_reasons(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(place, "--budget", "15", more=PRICES) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "acme: 40 pages known; 15 requests for this run"
    assert "(discovery)         3  robots.txt, sitemaps, the first pages of the catalogue" in lines
    assert "sweep               3  not looked at for the longest time" in lines
    assert "takes: 15 requests, about 630 KB, 15s at the store's delay, 0.015 EUR" in lines
    assert any(line.startswith("finds: ") and "this is the model's word" in line for line in lines)
    assert "trust: 304: not tried yet: audits do, in a refresh with a budget" in lines
    assert "stale: how many copies are stale isn't known: a refresh with a budget audits some at random" in lines
    assert sum(line.startswith("http://shop.example/p/") for line in lines) == 10


def test_minutes_are_by_the_delay_that_is_kept(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Crawl-delay that was read, and what the last run had to do, are longer than what the store file has."""
    database = Database.open(f"sqlite:///{place / 'store.db'}")
    text = "User-agent: *\nCrawl-delay: 10\n"
    with database.write() as conn:
        for origin in ("http://shop.example", "http://cdn.example"):
            asked = text if "shop" in origin else text.replace("10", "90")
            robots.record(conn, "acme", origin, KeptRobots(f"{origin}/robots.txt", 200, asked))
    found = told(place, capsys, "--budget", "15")
    assert (found["requests"], found["delay_s"], found["seconds"]) == (15, 10.0, 150.0)
    assert run(place, "--budget", "15") == 0
    assert "3m at 10 s a request (its robots.txt, or its answers, ask for more than delay_s)" in capsys.readouterr().out
    with database.write() as conn:
        conn.execute(update(stores).values(slow_steps=1, slow_at=now_ms(conn)))
    assert told(place, capsys, "--budget", "15")["delay_s"] == 20.0
    heedless = '[politeness]\nrobots = false\nrobots_reason = "ours"\n'
    assert told(place, capsys, "--budget", "15", more=heedless)["delay_s"] == 2.0
    database.dispose()


def test_it_writes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (place / "store.db").read_bytes()
    for args in ([], ["--budget", "9"], ["--full"]):
        assert run(place, *args) == 0
    assert (place / "store.db").read_bytes() == before


@pytest.mark.parametrize("args", [["--budget", "0"], ["--budget", "3", "--full"]], ids=["nothing", "two plans"])
def test_wrong_use_is_refused(place: Path, args: list[str]) -> None:
    with pytest.raises(UsageError, match="scrapy plan --store NAME"):
        run(place, *args)


def test_store_is_needed_and_known(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(place, "--store", "acm") == 2
    assert "did you mean 'acme'?" in capsys.readouterr().err
