"""Refreshes that choose: a budget is kept, what the shop tells of is found, and what is gone is left alone."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from storebot.demo.client import Changed
from storebot.demo.running import DemoProcess
from tests.crawls.scrapy_process import Crawl
from tests.crawls.watched import Watched, path_of, store_file, wait_until

PRODUCTS, BUDGET = 200, 40
DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoProcess]:
    """A shop whose clock is a day behind this machine's: what it says to have changed is later than the last look."""
    with DemoProcess(products=PRODUCTS, page_size=20) as shop:
        behind_h = (time.time() - int(shop.status()["now_s"])) / 3600
        shop.advance(changed=0, hours=behind_h - 24)
        yield shop


@pytest.fixture(scope="module")
def backfilled(shop: DemoProcess, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """The store as it was read when it opened."""
    watched = Watched(shop, tmp_path_factory.mktemp("planned") / "store.db")
    assert watched.forked("backfill").exit_code == 0, watched.log()
    return watched


@pytest.fixture
def known(backfilled: Watched, shop: DemoProcess, tmp_path: Path) -> Iterator[Watched]:
    """A database in which all is known as it is now, by the shop's clock: its lastmod is of that clock."""
    watched = backfilled.copied_to(tmp_path / "store.db")
    assert watched.forked("refresh").exit_code == 0, watched.log()
    set_clock(watched)
    yield watched
    shop.honest()


def set_clock(watched: Watched) -> None:
    """Have all pages be looked at just now, by the shop's clock.

    The sitemap was read a day ago: entries of which a tenth moves within seconds say nothing, and rightly.
    """
    now_ms = int(watched.shop.status()["now_s"]) * 1000
    watched.execute(f"UPDATE pages SET checked_at = {now_ms}, fetched_at = {now_ms}, listed_at = 0")
    read_at = "json_extract(planner, '$.lastmods_at')"
    watched.execute(f"UPDATE stores SET planner = json_set(planner, '$.lastmods_at', {read_at} - {DAY_MS})")


def lanes(watched: Watched) -> dict[str, set[str]]:
    """Return the paths that the last run visited, by lane."""
    found: dict[str, set[str]] = {}
    query = "SELECT lane, url FROM visits JOIN pages ON pages.id = page_id WHERE run_id = ? AND requests > 0"
    for row in watched.rows(query, watched.last_run()["id"]):
        found.setdefault(row["lane"], set()).add(path_of(row["url"]))
    return found


def of_kind(truth: list[Changed], *kinds: str) -> set[str]:
    return {path_of(one.url) for one in truth if one.kind in kinds}


def planner(watched: Watched) -> dict[str, Any]:
    """Return what the planner has learned of the store."""
    found: dict[str, Any] = orjson.loads(watched.rows("SELECT planner FROM stores")[0]["planner"])
    return found


def test_budget_of_40_finds_what_the_sitemap_tells_of_among_200_pages(known: Watched, shop: DemoProcess) -> None:
    truth = shop.advance(changed=12, appeared=3, hours=1)
    run = known.forked("refresh", budget=BUDGET)
    assert run.exit_code == 0, known.log()
    assert run.fields["status"] == "complete"
    asked = shop.requests()
    assert asked.total == run.count("requests") <= BUDGET
    visited = lanes(known)
    assert of_kind(truth, "appeared") == visited["new"]
    seen = {path for path, outcomes in known_outcomes(known).items() if outcomes & {"changed", "held"}}
    assert of_kind(truth, "price", "stock", "title") <= seen | visited["sweep"] | visited["audit"]
    assert of_kind(truth, "price", "stock", "title") & visited["signal"], "no lastmod was believed"
    assert len(visited["sweep"]) >= 7
    assert sum(map(len, visited.values())) == len(asked.paths("/p/"))
    kept = orjson.loads(known.last_run()["plan"])
    assert kept["requests"] <= BUDGET
    told = told_by_cards(known)
    assert told <= of_kind(truth, "price")
    assert told
    assert told.isdisjoint(visited["signal"]), "a card had told of it, and its page was asked because of lastmod"
    assert len(visited["signal"]) <= kept["lanes"]["signal"] <= len(visited["signal"]) + len(told)


def told_by_cards(watched: Watched) -> set[str]:
    """Return the paths of the pages whose new price the last run has from their cards."""
    query = "SELECT url FROM visits JOIN pages ON pages.id = page_id WHERE run_id = ? AND requests = 0"
    return {path_of(row["url"]) for row in watched.rows(query, watched.last_run()["id"])}


def known_outcomes(watched: Watched) -> dict[str, set[str]]:
    """Return what the last run has in its ledger of each page: its card and the page itself may both be there."""
    query = "SELECT url, outcome FROM visits JOIN pages ON pages.id = page_id WHERE run_id = ?"
    found: dict[str, set[str]] = {}
    for row in watched.rows(query, watched.last_run()["id"]):
        found.setdefault(path_of(row["url"]), set()).add(row["outcome"])
    return found


def test_what_is_gone_is_never_fetched_by_a_plan(known: Watched, shop: DemoProcess) -> None:
    gone = of_kind(shop.advance(changed=0, vanished=4, vanished_status=410, hours=1), "vanished")
    assert known.forked("refresh").count("missing") == 4
    assert known.count("SELECT count(*) FROM pages WHERE delisted_at IS NOT NULL") == 4
    known.execute("UPDATE pages SET checked_at = 1, signal = 3 WHERE delisted_at IS NOT NULL")
    for _ in range(2):
        run = known.forked("refresh", budget=BUDGET)
        assert run.exit_code == 0, known.log()
        assert gone.isdisjoint(shop.requests().paths("/p/"))
        assert shop.requests().total <= BUDGET
    known.execute("UPDATE pages SET next_due_at = 1 WHERE delisted_at IS NOT NULL")  # its own date comes
    known.forked("refresh", budget=BUDGET)
    assert gone == lanes(known)["due"]


def test_run_that_is_killed_leaves_due_dates_as_they_are_and_the_next_plans_anew(
    known: Watched, shop: DemoProcess
) -> None:
    # But for those of which its cards told something: they are due at once.
    dates = (
        "SELECT url_key, next_due_at FROM pages WHERE signal = 0 "
        "AND id NOT IN (SELECT page_id FROM visits WHERE run_id > 2)"
    )
    before = {row["url_key"]: row["next_due_at"] for row in known.rows(dates)}
    process = known.fork("refresh", budget=BUDGET, DOWNLOAD_DELAY=0.05, STOREBOT_COMMIT_ROWS=1)
    in_plan = "SELECT count(*) FROM visits WHERE run_id > 2 AND lane IN ('sweep', 'hazard', 'audit')"
    wait_until(lambda: known.count(in_plan) >= 5)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    dead = known.last_run()
    assert dead["status"] == "running"
    done = known.count("SELECT count(*) FROM visits WHERE run_id = ?", dead["id"])
    assert done < BUDGET
    after = {row["url_key"]: row["next_due_at"] for row in known.rows(dates)}
    assert after == {key: before[key] for key in after}
    run = known.forked("refresh", budget=BUDGET)
    assert run.exit_code == 0, known.log()
    assert shop.requests().total <= BUDGET
    assert known.rows("SELECT status FROM runs WHERE id = ?", dead["id"]) == [{"status": "interrupted"}]
    assert known.count("SELECT count(*) FROM pages WHERE claim_token != ''") == 0
    assert planner(known)["knowledge"]["plain_expected"] > 1.0
    seen = lanes(known)
    visited = known.rows("SELECT url FROM visits JOIN pages ON pages.id = page_id WHERE run_id = ?", dead["id"])
    assert seen["sweep"].isdisjoint(path_of(row["url"]) for row in visited), "the sweep began anew at the same pages"


def test_plan_full_looks_at_everything_whatever_is_due(known: Watched, shop: DemoProcess, tmp_path: Path) -> None:
    stores = store_file(tmp_path, '[refresh]\ninterval = "30d"\n')
    patient = Watched(shop, known.database, stores)
    patient.execute(f"UPDATE pages SET next_due_at = {2**60}")
    assert patient.forked("refresh").count("checked") == 0
    run = patient.forked("refresh", plan="full")
    assert run.exit_code == 0, patient.log()
    assert len(lanes(patient)["sweep"]) == len(shop.truth())


def test_day_s_budget_is_spent_once_and_the_next_run_waits(known: Watched, shop: DemoProcess, tmp_path: Path) -> None:
    stores = store_file(tmp_path, f"[refresh]\nbudget = {BUDGET}\n")
    daily = Watched(shop, known.database, stores)
    assert daily.forked("refresh").exit_code == 0, daily.log()
    assert BUDGET - 2 <= shop.requests().total <= BUDGET
    run = daily.forked("refresh")
    assert run.exit_code == 0, daily.log()
    assert shop.requests().total == 0
    assert "nothing is fetched yet" in daily.last_run()["reason"]


def test_server_that_says_304_though_a_page_changed_is_found_by_an_audit(known: Watched, shop: DemoProcess) -> None:
    """Case C05: from then on pages are asked for in full, and what it hid comes to light."""
    known.execute("UPDATE pages SET checked_at = checked_at + 1000")  # the last look was a 304
    truth = shop.advance(title=100, hours=1)  # which no card gives away
    shop.lie("false_304", "^/p/")
    runs: list[Crawl] = []
    while not planner(known)["validators_lie"]:
        assert len(runs) < 4, "half the pages changed, and audits of four runs found none"
        runs.append(known.forked("refresh", budget=PRODUCTS + 50))
    assert "its 304 is not to be believed" in runs[-1].stderr
    assert "304 to what was known, right after another page was sent" in planner(known)["validators_lie"]
    assert lanes(known)["audit"]
    known.forked("refresh")  # without a budget: all of them
    assert shop.requests().not_modified["product"] == 0
    told = "SELECT url FROM pages WHERE id IN (SELECT page_id FROM visits WHERE outcome IN ('changed', 'held'))"
    assert of_kind(truth, "price", "stock", "title") <= {path_of(row["url"]) for row in known.rows(told)}
