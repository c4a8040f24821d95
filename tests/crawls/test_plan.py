"""What ``scrapy plan`` says of a refresh is what the refresh does; a promise that can't be kept asks nothing."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from storebot.commands.plan import Command
from storebot.commands.report import Command as Report
from storebot.demo.running import DemoStore
from tests.crawls.watched import Watched, store_file

PRODUCTS = 60


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, page_size=12, sitemap_size=30) as shop:
        yield shop


@pytest.fixture(scope="module")
def read(shop: DemoStore, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """The store and a database that knows all of it."""
    watched = Watched(shop, tmp_path_factory.mktemp("read") / "store.db")
    assert watched.forked("backfill").exit_code == 0, watched.log()
    return watched


@pytest.fixture
def known(read: Watched, tmp_path: Path) -> Watched:
    """The same with a database of its own."""
    return read.copied_to(tmp_path / "store.db")


def with_refresh(watched: Watched, keys: str) -> Watched:
    """Return the same store with more in the [refresh] of its file."""
    stores = store_file(watched.database.parent, f"[refresh]\n{keys}")
    return Watched(watched.shop, watched.database, stores, watched.settings)


def planned(
    watched: Watched, capsys: pytest.CaptureFixture[str], *args: str, code: int = 0, command: Any = None
) -> list[dict[str, Any]]:
    """Return the lines of ``scrapy plan --json``, or of another command."""
    run, parser = command or Command(), argparse.ArgumentParser()
    folders = str(watched.stores or Path(__file__).parents[2] / "storebot" / "stores")
    run.settings = Settings({"STOREBOT_DATABASE_URL": f"sqlite:///{watched.database}", "STOREBOT_STORES": folders})
    run.add_options(parser)
    run.exitcode = 0
    capsys.readouterr()
    run.run([], parser.parse_args(["--store", "demo", "--json", *args]))
    assert run.exitcode == code
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def lanes(watched: Watched) -> dict[str, int]:
    """Return the last run's visits of product pages, by lane."""
    rows = watched.rows(
        "SELECT lane, count(*) AS visits FROM visits WHERE run_id = ? AND page_type = 'product' GROUP BY lane",
        watched.last_run()["id"],
    )
    return {row["lane"]: row["visits"] for row in rows}


def let_a_day_pass(watched: Watched) -> None:
    """Have all looks be a day older: what is seconds old is worth more with each second that a run takes to start."""
    day = "checked_at = checked_at - 86400000, listed_at = listed_at - 86400000"
    watched.execute(f"UPDATE pages SET {day} WHERE checked_at IS NOT NULL")


def test_refresh_sends_what_the_plan_says_to_the_request(known: Watched, capsys: pytest.CaptureFixture[str]) -> None:
    for budget in ("30", "41"):  # before the first refresh, and after it
        let_a_day_pass(known)
        (plan,) = planned(known, capsys, "--budget", budget)
        run = known.forked("refresh", budget=budget)
        assert run.exit_code == 0, known.log()
        assert plan["requests"] == int(budget) == run.count("requests") == known.shop.requests().total
        note = json.loads(known.last_run()["plan"])
        assert (note["requests"], note["discovery"]) == (plan["requests"], plan["discovery"])
        # The run chooses when it has read the sitemaps and the catalogue's head: pages and lists may change places.
        pages = sum(plan["lanes"].values())
        assert pages + plan["views"] == run.count("checked") + note["views"]
        assert abs(pages - run.count("checked")) <= 2
        assert known.shop.requests().count("/catalogue/page-1.html") == 1  # its head, by discovery alone
        assert sum(lanes(known).values()) == run.count("checked")
        assert note["share"] is None


def test_plan_of_everything_is_everything(known: Watched, capsys: pytest.CaptureFixture[str]) -> None:
    (plan,) = planned(known, capsys, "--full")
    run = known.forked("refresh", plan="full")
    assert run.exit_code == 0, known.log()
    assert run.count("checked") == PRODUCTS == sum(plan["lanes"].values())
    assert plan["requests"] == run.count("requests")


def test_without_a_budget_the_plan_is_what_is_due(known: Watched, capsys: pytest.CaptureFixture[str]) -> None:
    (plan,) = planned(known, capsys)
    run = known.forked("refresh")
    assert plan["requests"] == run.count("requests")
    assert plan["lanes"] == {"due": PRODUCTS} == lanes(known)


def test_promise_that_cannot_be_kept_exits_2_and_asks_nothing(
    known: Watched, capsys: pytest.CaptureFixture[str]
) -> None:
    store = with_refresh(known, "budget = 20\nmax_age = '1d'\n")
    runs = known.count("SELECT count(*) FROM runs")
    (plan,) = planned(store, capsys, code=2)
    run = store.forked("refresh")
    assert run.exit_code == 2, store.log()
    assert store.shop.requests().total == 0
    assert plan["refused"] in run.stderr
    assert "can't be promised for 60 pages with 20 requests a day" in run.stderr
    assert known.count("SELECT count(*) FROM runs") == runs
    budget = plan["floor"]["least_budget"]
    kept = with_refresh(known, f"budget = {budget}\nmax_age = '1d'\n").forked("refresh")
    assert kept.exit_code == 0, store.log()
    assert kept.count("requests") <= budget
    assert kept.count("checked") == PRODUCTS


def test_day_s_budget_is_spent_once_and_then_saved_up(known: Watched) -> None:
    store = with_refresh(known, "budget = 30\n")
    first = store.forked("refresh")
    assert (first.exit_code, first.count("requests")) == (0, 30), store.log()
    second = store.forked("refresh")
    assert (second.exit_code, second.count("requests")) == (0, 0), store.log()
    assert store.shop.requests().total == 0
    store.execute("UPDATE runs SET started_at = started_at - 43200000 WHERE plan IS NOT NULL")
    third = store.forked("refresh")
    assert third.count("requests") == 15, store.log()


def test_report_tells_what_was_expected_and_found(known: Watched, capsys: pytest.CaptureFixture[str]) -> None:
    assert known.forked("refresh", budget="40").exit_code == 0, known.log()
    *told, truth = planned(known, capsys, command=Report())
    run = next(line for line in told if line.get("plan"))
    assert run["plan"]["requests"] == 40
    assert run["plan"]["found"] == 0
    assert run["plan"]["expected"] >= 0
    audits = lanes(known).get("audit", 0)
    assert (truth["store"], truth["truth"]["stale"]["30d"]["looks"]) == ("demo", audits)
    assert truth["truth"]["stale"]["ever"]["stale"] == 0
