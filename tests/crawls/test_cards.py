"""Cards of catalogue pages end to end on the demo store: proof, a price by its card alone, lies, and reading again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storebot.core.planner.hazard import Flag
from storebot.demo.running import DemoStore
from tests.crawls.scrapy_process import ROOT
from tests.crawls.watched import Watched, path_of, store_file

PRODUCTS = 90
CATALOGUE = "^/catalogue/"
FILE = '[refresh]\ninterval = "24h"\nhead_pages = 3\nsitemaps = false\n[discover]\nsitemaps = false'


@pytest.fixture
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, page_size=30, variant_share=0.1, seed=9) as shop:
        yield shop


@pytest.fixture
def known(shop: DemoStore, tmp_path: Path) -> Watched:
    """The store backfilled: its catalogue first, and within the hour the pages."""
    watched = Watched(shop, tmp_path / "store.db", store_file(tmp_path, FILE))
    done = watched.forked("backfill")
    assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr
    return watched


def knowledge(watched: Watched) -> dict[str, Any]:
    (row,) = watched.rows("SELECT planner FROM stores")
    found: dict[str, Any] = json.loads(row["planner"])["knowledge"]
    return found


def believed(watched: Watched) -> set[str]:
    """Return the paths of pages with one listing: only their cards can be prices."""
    query = "SELECT pages.url FROM pages JOIN listings ON page_id = pages.id GROUP BY pages.id HAVING count(*) = 1"
    return {path_of(row["url"]) for row in watched.rows(query)}


def events(watched: Watched) -> list[dict[str, Any]]:
    return watched.rows("SELECT type, url_key, fields FROM changes ORDER BY seq")


def test_a_backfill_proves_that_cards_show_the_prices_of_their_pages(known: Watched) -> None:
    learned = knowledge(known)
    assert learned["card_pairs"] == learned["card_equal"] == len(believed(known)) >= 50
    (views,) = known.rows("SELECT count(*) AS n, sum(cards) AS cards FROM catalogue_views")
    assert (views["n"], views["cards"]) == (3, PRODUCTS)
    assert known.count("SELECT count(*) FROM pages WHERE view_id = 0 OR card_price_minor IS NULL") == 0


def test_a_price_that_its_card_shows_is_published_without_asking_its_page(known: Watched) -> None:
    changes = known.shop.advance(price=12, hours=1)
    mine = {path_of(one.url) for one in changes} & believed(known)
    done = known.forked("refresh")
    assert done.exit_code == 0, done.stderr
    asked = known.shop.requests().paths("/p/")
    assert mine
    assert not mine & set(asked)
    by_path = {path_of(row["url_key"]): row for row in events(known)}
    assert mine <= set(by_path)
    assert len(events(known)) == len({path_of(one.url) for one in changes} & set(by_path))
    for one in changes:
        if path_of(one.url) in mine:
            (field,) = json.loads(by_path[path_of(one.url)]["fields"])
            assert (field["field"], field["after"]) == ("price_minor", round(float(one.after) * 100))
    again = known.forked("refresh")
    assert (again.exit_code, len(events(known))) == (0, len(by_path))


def test_the_pages_of_carded_prices_confirm_them_in_full(known: Watched) -> None:
    changes = known.shop.advance(price=12, hours=1)
    mine = {path_of(one.url) for one in changes} & believed(known)
    known.forked("refresh")
    before = len(events(known))
    known.execute("UPDATE pages SET next_due_at = 0")
    done = known.forked("refresh")
    assert done.exit_code == 0, done.stderr
    statuses = {path: known.shop.requests().count(path, status=200) for path in mine}
    assert set(statuses.values()) == {1}  # no 304: the validators were of the page as it was before
    assert len(events(known)) == before
    assert known.count("SELECT count(*) FROM pages WHERE carded_at IS NOT NULL") == 0


def test_reading_kept_pages_again_leaves_what_cards_brought(known: Watched) -> None:
    known.shop.advance(price=12, hours=1)
    known.forked("refresh")
    before = known.records()
    env = {
        "STOREBOT_DATABASE_URL": f"sqlite:///{known.database}",
        "STOREBOT_ARCHIVE": str(known.database.with_suffix(".pages")),
        "STOREBOT_STORES": str(known.stores),
        "PATH": "/usr/bin:/bin",
        "HOME": "/nonexistent",
    }
    command = [sys.executable, "-m", "scrapy", "reparse", "--store", "demo"]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert known.records() == before


def test_prices_on_cards_that_are_a_hundred_times_as_high_are_held(known: Watched) -> None:
    before = known.records()
    known.shop.lie("times_100", CATALOGUE)
    done = known.forked("refresh")
    assert (done.exit_code, done.fields["status"]) == (5, "held"), done.stderr
    assert known.records() == before
    assert events(known) == []
    flagged = known.count("SELECT count(*) FROM pages WHERE signal = ?", Flag.DIFFERS.value)
    assert flagged >= len(believed(known))


def test_before_the_proof_a_card_is_a_hint_and_its_page_is_asked_at_once(known: Watched) -> None:
    (row,) = known.rows("SELECT planner FROM stores")
    planner = json.loads(row["planner"])
    planner["knowledge"] |= {"card_pairs": 10, "card_equal": 10}
    known.execute(f"UPDATE stores SET planner = '{json.dumps(planner)}'")
    changes = known.shop.advance(price=12, hours=1)
    done = known.forked("refresh")
    assert done.exit_code == 0, done.stderr
    asked = known.shop.requests().paths("/p/")
    mine = {path_of(one.url) for one in changes} & believed(known)
    assert mine <= set(asked)
    assert len(asked) <= len(changes)
    assert known.count("SELECT count(*) FROM pages WHERE carded_at IS NOT NULL") == 0
    changed = {path_of(one["url_key"]) for one in events(known)}
    assert mine <= changed


def test_a_product_that_vanished_from_the_catalogue_is_asked_at_once(known: Watched) -> None:
    gone = known.shop.advance(vanished=2, hours=1)
    done = known.forked("refresh")
    assert done.exit_code == 0, done.stderr
    asked = known.shop.requests().paths("/p/")
    assert len({path_of(one.url) for one in gone} & set(asked)) >= 1
    assert len(asked) <= 4


PLANNED = FILE.replace("head_pages = 3", "head_pages = 1")


def test_a_planned_refresh_looks_at_the_catalogue_pages_that_are_worth_it(shop: DemoStore, tmp_path: Path) -> None:
    """With a budget of a few requests cards are the cheapest look at many products: no walk's checkpoint moves."""
    watched = Watched(shop, tmp_path / "store.db", store_file(tmp_path, PLANNED))
    assert watched.forked("backfill").exit_code == 0
    before = watched.rows("SELECT walk, page, state FROM checkpoints")
    known = believed(watched)
    changes = shop.advance(price=20, hours=24)
    mine = {path_of(one.url) for one in changes} & known
    watched.execute("UPDATE pages SET checked_at = checked_at - 86400000, listed_at = listed_at - 86400000")
    done = watched.forked("refresh", budget="12")
    assert done.exit_code == 0, done.stderr
    seen = watched.rows(
        "SELECT lane, outcome, requests FROM visits WHERE run_id = ? AND page_type = 'catalogue'",
        watched.last_run()["id"],
    )
    assert seen
    assert {(row["lane"], row["outcome"], row["requests"]) for row in seen} == {("listing", "unchanged", 1)}
    asked = shop.requests()
    assert asked.total <= 12
    assert len(asked.paths("/catalogue/")) == 1 + len(seen)
    carded = watched.rows("SELECT url FROM pages WHERE carded_at IS NOT NULL")
    assert len(mine & {path_of(row["url"]) for row in carded}) >= len(mine) // 2
    assert watched.rows("SELECT walk, page, state FROM checkpoints") == before


def test_a_catalogue_page_that_is_gone_is_forgotten(shop: DemoStore, tmp_path: Path) -> None:
    watched = Watched(shop, tmp_path / "store.db", store_file(tmp_path, PLANNED))
    assert watched.forked("backfill").exit_code == 0
    watched.execute("UPDATE pages SET checked_at = checked_at - 86400000, listed_at = listed_at - 86400000")
    shop.lie("error", "^/catalogue/page-3", status=404)
    done = watched.forked("refresh", budget="12")
    assert done.exit_code == 0, done.stderr
    assert {row["number"] for row in watched.rows("SELECT number FROM catalogue_views")} == {1, 2}
    third = watched.count("SELECT count(*) FROM pages WHERE view_id NOT IN (SELECT id FROM catalogue_views)")
    assert third == 30


def test_a_blocked_catalogue_page_is_no_observation(shop: DemoStore, tmp_path: Path) -> None:
    watched = Watched(shop, tmp_path / "store.db", store_file(tmp_path, PLANNED))
    assert watched.forked("backfill").exit_code == 0
    watched.execute("UPDATE pages SET checked_at = checked_at - 86400000, listed_at = listed_at - 86400000")
    before = watched.rows("SELECT * FROM catalogue_views WHERE number = 3")
    shop.lie("challenge", "^/catalogue/page-3")
    done = watched.forked("refresh", budget="12")
    assert watched.count("SELECT count(*) FROM blocks WHERE url LIKE '%/catalogue/page-3.html'") >= 1, done.stderr
    assert watched.rows("SELECT * FROM catalogue_views WHERE number = 3") == before
    assert watched.count("SELECT count(*) FROM pages WHERE signal = ?", Flag.DIFFERS.value) == 0
