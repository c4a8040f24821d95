"""A crawl that may spend so much: never more, in the end all of the store, and every request in the books."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from storebot.commands.costs import Command
from storebot.core.month import Month
from storebot.demo.running import DemoStore
from tests.crawls import scrapy_process
from tests.crawls.scrapy_process import Crawl
from tests.crawls.watched import Watched, store_file, wait_until
from tests.vendors.scraping_api import KEY, ScrapingApi

PRODUCTS = 40
ESCALATED = '[fetch]\ntiers = ["http", "api"]\n[fetch.api]\npreset = "finedata"\n'
PRICES = '[costs]\ncurrency = "EUR"\n[costs.http]\nper_request = "0.0001"\nper_gb = "3.7"\n'


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, page_size=10, sitemap_size=20) as shop:
        yield shop


@pytest.fixture
def fresh(shop: DemoStore, tmp_path: Path) -> Iterator[Watched]:
    """The store and an empty database; `limited` gives its file a budget."""
    yield Watched(shop, tmp_path / "store.db")
    shop.honest()


def limited(watched: Watched, text: str) -> Watched:
    """Return the same store with more in its file."""
    stores = store_file(watched.database.parent, text)
    return Watched(watched.shop, watched.database, stores, watched.settings)


def spent(watched: Watched) -> dict[str, int]:
    """Return what all days, tiers and types of page come to."""
    (row,) = watched.rows(
        "SELECT sum(visits) AS visits, sum(requests) AS requests, sum(bytes) AS bytes, sum(cost_micro) AS cost_micro "
        "FROM spending"
    )
    return {name: int(value or 0) for name, value in row.items()}


def costs(watched: Watched, capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    """Return what ``scrapy costs --json`` says."""
    command, parser = Command(), argparse.ArgumentParser()
    command.settings = Settings(
        {"STOREBOT_DATABASE_URL": f"sqlite:///{watched.database}", "STOREBOT_STORES": str(watched.stores)}
    )
    command.add_options(parser)
    capsys.readouterr()
    command.run([], parser.parse_args(["--store", "demo", "--json", *args]))
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_budget_of_15_requests_ends_each_run_at_15_and_the_next_ones_read_the_rest(fresh: Watched) -> None:
    store = limited(fresh, "[budget.run]\nrequests = 15\n")
    runs: list[Crawl] = []
    while not runs or runs[-1].exit_code == 6:
        runs.append(store.forked("backfill"))
        assert store.shop.requests().total <= 15
        assert len(runs) < 8, "it does not get on"
    assert [run.exit_code for run in runs] == [6] * (len(runs) - 1) + [0], store.log()
    assert runs[0].fields["status"] == "partial"
    assert store.rows("SELECT reason FROM runs ORDER BY id")[0]["reason"].startswith(
        "budget reached: 15 of 15 requests of this run; the next run goes on; "
    )
    assert sum(run.count("new") for run in runs) == PRODUCTS
    assert store.count("SELECT count(*) FROM visits") == PRODUCTS, "no page was fetched twice"
    assert store.count("SELECT count(*) FROM pages WHERE status = 'parsed'") == PRODUCTS
    assert store.count("SELECT count(*) FROM pages WHERE claim_token != '' OR tries > 0") == 0
    assert sum(run.count("requests") for run in runs) == spent(store)["requests"]


def test_every_request_is_in_the_books_with_its_price(fresh: Watched, capsys: pytest.CaptureFixture[str]) -> None:
    """Visits and discovery are what was spent, is what the command says, is what the shop saw; retries are in it."""
    store = limited(fresh, PRICES)
    path = "/p/"
    store.shop.lie("error", path, times=4)
    lines, seen = [], 0
    for phase in ("backfill", "refresh"):
        lines.append(store.forked(phase))
        seen += store.shop.requests().total
    books = spent(store)
    (visits,) = store.rows(
        "SELECT count(*) AS visits, sum(requests) AS requests, sum(bytes) AS bytes, sum(cost_micro) AS cost_micro "
        "FROM visits"
    )
    (discovery,) = store.rows(
        "SELECT 0 AS visits, sum(requests) AS requests, sum(bytes) AS bytes, sum(cost_micro) AS cost_micro "
        "FROM spending WHERE page_type != 'product'"
    )
    assert books == {name: visits[name] + discovery[name] for name in books}
    assert books["requests"] == seen == sum(line.count("requests") for line in lines)
    assert books["bytes"] == sum(line.count("bytes") for line in lines)
    exact = books["requests"] * 100 + books["bytes"] * 3.7 / 1000
    assert exact - len(lines) <= books["cost_micro"] <= exact
    told = [line.fields["cost"].removesuffix("EUR") for line in lines]
    assert sum(round(float(cost) * 1_000_000) for cost in told) == books["cost_micro"]
    for by in ("tier", "day"):
        said = costs(store, capsys, "--by", by)
        assert {name: said[name] for name in books} == books
        assert sum(row["cost_micro"] for row in said["rows"]) == books["cost_micro"]
        assert said["unpriced_requests"] == {}
    by_url = costs(store, capsys, "--by", "url", "--limit", "1000")
    assert sum(row["cost_micro"] for row in by_url["rows"]) == visits["cost_micro"]


def test_an_escalated_page_costs_what_both_tiers_took_and_money_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Product pages are blocked but for the API: every call is paid, and none that there is no money for."""
    monkeypatch.setenv("FINEDATA_API_KEY", KEY)
    with DemoStore(products=8, page_size=8, guard="api_only", guarded="^/p/") as shop, ScrapingApi() as api:
        text = (
            f'{ESCALATED}url = "{api.endpoint}"\n{PRICES}[costs.api]\nper_call = "0.02"\n[budget.run]\nmoney = "0.12"\n'
        )
        folder = store_file(tmp_path, text, {"concurrency = 16": "concurrency = 1"})
        store = Watched(shop, tmp_path / "store.db", folder)
        runs: list[Crawl] = []
        while not runs or runs[-1].exit_code == 6:
            asked = len(api.billed.urls)
            runs.append(store.forked("backfill", STOREBOT_BLOCK_WAIT_MAX_S=0))
            assert len(api.billed.urls) - asked <= 5, "six calls and what plain HTTP costs are more than there is"
            assert len(runs) < 5, "it does not get on"
    assert [run.exit_code for run in runs] == [6, 0], store.log()
    assert len(api.billed.urls) == len(set(api.billed.urls)) == 8
    visits = store.rows("SELECT * FROM visits ORDER BY id")
    assert [(row["tier"], row["billed"]) for row in visits] == [("api", 1)] * 8
    first = visits[0]
    assert first["requests"] == 3
    assert first["steps"].startswith("http: blocked")
    assert first["cost_micro"] > 20_000 + 200, "two requests of plain HTTP, and what they brought"
    (of_api,) = store.rows("SELECT visits, billed, cost_micro FROM spending WHERE tier = 'api'")
    assert of_api == {"visits": 8, "billed": 8, "cost_micro": 8 * 20_000}
    (of_http,) = store.rows("SELECT visits, requests FROM spending WHERE tier = 'http' AND page_type = 'product'")
    assert of_http == {"visits": 0, "requests": sum(row["requests"] for row in visits) - 8}
    pages = "SELECT sum(cost_micro) FROM spending WHERE page_type = 'product'"
    assert store.count("SELECT sum(cost_micro) FROM visits") == store.count(pages)


def test_month_that_is_used_up_sends_no_request(fresh: Watched, capsys: pytest.CaptureFixture[str]) -> None:
    store = limited(fresh, "[budget.month]\nrequests = 20\n")
    first = store.forked("backfill")
    assert (first.exit_code, store.shop.requests().total) == (6, 20)
    second = store.forked("refresh")
    assert (second.exit_code, store.shop.requests().total) == (6, 0)
    month = Month.at(int(datetime.now(UTC).timestamp() * 1000)).name
    run = store.last_run()
    assert run["status"] == "partial"
    assert run["reason"].startswith(f"budget reached: 20 of 20 requests of {month}; the next run goes on; ")
    assert costs(store, capsys)["budget"] == {"requests": {"spent": 20, "limit": 20}}
    # Another month begins: its budget is whole.
    store.execute("UPDATE spending SET day = day - 40")
    assert store.forked("backfill").exit_code == 6
    assert store.shop.requests().total == 20


def test_what_is_left_and_not_enough_for_anything_is_said_once(fresh: Watched) -> None:
    """A refresh asks for its sitemaps and for its pages at once: the one and the other find no room."""
    store = limited(fresh, '[costs]\ncurrency = "EUR"\n[costs.http]\nper_request = "0.002"\n')
    assert store.forked("backfill").exit_code == 0
    spent_ = spent(store)["cost_micro"]
    store = limited(store, f'{PRICES}[budget.month]\nmoney = "{(spent_ + 50) / 1e6:.6f}"\n')
    store.execute("UPDATE pages SET next_due_at = 0")
    done = store.forked("refresh")
    assert (done.exit_code, store.shop.requests().total) == (6, 0)
    assert done.stderr.count("the budget is reached: ") == 1


def test_refresh_looks_less_often_when_the_month_runs_ahead(tmp_path: Path) -> None:
    """Nearly all that the month may spend is gone before the month is: known pages wait, what is new is read."""
    with DemoStore(products=PRODUCTS, page_size=10, sitemap_size=20) as shop:
        store = limited(Watched(shop, tmp_path / "store.db"), "[budget.month]\nrequests = 100_000_000\n")
        assert store.forked("backfill").exit_code == 0
        # 500 are left, which is little but in the last two minutes of a month.
        store.execute("UPDATE spending SET requests = 99999500 WHERE page_type = 'product'")
        store.shop.advance(appeared=2)
        done = store.forked("refresh")
        assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr
        assert (done.count("checked"), done.count("new")) == (2, 2)
        assert "of the month's requests is spent" in store.last_run()["reason"]
        assert "known pages are looked at 8.0 times less often" in store.last_run()["reason"]
        store.execute("UPDATE pages SET next_due_at = next_due_at - 8 * 86400000")
        assert store.forked("refresh").count("checked") == PRODUCTS + 2


def test_budget_is_an_argument_too(fresh: Watched) -> None:
    command = [sys.executable, "-m", "scrapy", "crawl", "backfill", "-a", "store=demo"]
    fresh.shop.reset_counts()
    for value, code, asked in (("9", 6, 9), ("some", 2, 9), ("0", 2, 9)):
        done = subprocess.run(
            [*command, "-a", f"base_url={fresh.shop.url}", "-a", f"budget={value}", "-L", "ERROR"],
            cwd=scrapy_process.ROOT,
            env={**os.environ, "STOREBOT_DATABASE_URL": f"sqlite:///{fresh.database}", "STOREBOT_ARCHIVE": "off"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, fresh.shop.requests().total) == (code, asked), done.stderr
    assert done.stderr == "-a budget=0: expected a number of requests, 1 or more\n"


def test_after_a_kill_the_books_hold_what_the_saved_visits_took(fresh: Watched) -> None:
    store = limited(fresh, PRICES)
    process = store.fork("backfill", STOREBOT_COMMIT_ROWS=5, CONCURRENT_REQUESTS=2)
    wait_until(lambda: store.count("SELECT count(*) FROM visits") >= 10)
    process.kill()
    process.join()
    of_pages = "SELECT sum(requests) FROM spending WHERE page_type = 'product'"
    assert store.count(of_pages) == store.count("SELECT sum(requests) FROM visits") >= 10
    of_money = "SELECT sum(cost_micro) FROM spending WHERE page_type = 'product'"
    assert store.count(of_money) == store.count("SELECT sum(cost_micro) FROM visits") > 0


def test_visits_older_than_the_setting_go_with_the_next_run_and_what_they_cost_stays(fresh: Watched) -> None:
    store = limited(fresh, PRICES)
    assert store.forked("backfill").exit_code == 0
    before = spent(store)
    store.execute("UPDATE runs SET started_at = 1000, finished_at = 2000")
    store.execute("UPDATE visits SET at = 1500")
    assert store.forked("refresh", STOREBOT_VISITS_KEEP_DAYS=0).exit_code == 0
    assert store.count("SELECT count(*) FROM visits WHERE run_id = 1") == PRODUCTS
    assert store.forked("refresh").exit_code == 0
    assert store.count("SELECT count(*) FROM visits WHERE run_id = 1") == 0
    assert store.count("SELECT count(*) FROM visits WHERE run_id > 1") == 2 * PRODUCTS
    assert spent(store)["requests"] > before["requests"]
    assert store.count("SELECT count(*) FROM runs") == 3
