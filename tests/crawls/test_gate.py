"""Each lie of the demo store, end to end: what is published stays the truth, the run says why, a person can decide."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storebot.demo.running import DemoStore
from tests.crawls.scrapy_process import ROOT, Crawl, Row
from tests.crawls.watched import Watched, path_of, store_file

PRODUCTS = 60
FIRST = "^/p/.*-([1-9]|1[0-9]|2[0-4])$"  # 24 of them


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, page_size=30, variant_share=0.1, seed=9) as shop:
        yield shop


@pytest.fixture(scope="module")
def backfilled(shop: DemoStore, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder = tmp_path_factory.mktemp("gate")
    watched = Watched(shop, folder / "store.db", store_file(folder, "[refresh]\nhead_pages = 0\nsitemaps = false"))
    done = watched.forked("backfill")
    assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr
    return watched


@pytest.fixture
def known(backfilled: Watched, tmp_path: Path) -> Iterator[Watched]:
    """The store backfilled, in a database of the test's own; its lies end with the test, its clock never moves."""
    yield backfilled.copied_to(tmp_path / "store.db")
    backfilled.shop.honest()


def published(watched: Watched) -> tuple[Any, ...]:
    """Return all that anybody reads: the records, their history, the events, and what the pages' rows stand for."""
    events = watched.rows("SELECT type, url_key, variant_id, fields FROM changes ORDER BY url_key, variant_id, seq")
    kept = ("content_hash", "etag", "last_modified", "source_hash", "misses", "canonical_key")
    pages = {key: {name: row[name] for name in kept} for key, row in watched.page_rows().items()}
    return watched.records(), watched.offers(), events, pages


def holds(watched: Watched, *statuses: str) -> list[Row]:
    found = watched.rows("SELECT * FROM holds ORDER BY id")
    return [row for row in found if row["status"] in (statuses or ("held",))]


def scrapy_holds(watched: Watched, *args: str) -> subprocess.CompletedProcess[str]:
    env = {"STOREBOT_DATABASE_URL": f"sqlite:///{watched.database}", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    command = [sys.executable, "-m", "scrapy", "holds", *args]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def assert_held(done: Crawl, watched: Watched, gate: str, sentence: str) -> None:
    run = watched.last_run()
    assert (done.exit_code, done.fields["status"], run["status"]) == (5, "held", "held"), done.stderr
    assert sentence in run["reason"]
    assert json.loads(run["counts"])["held"] == done.count("held")
    assert sum(json.loads(run["counts"]).values()) == watched.count(
        "SELECT count(*) FROM visits WHERE run_id = ? AND page_type = 'product'", run["id"]
    )
    assert {row["gate"] for row in holds(watched)} == {gate}
    assert not holds(watched, "waiting")


@pytest.mark.parametrize(
    ("lie", "options", "gate", "sentence"),
    [
        ("no_prices", {}, "lost", "lost their price (85%); the limit is 10%"),
        ("times_100", {}, "price", "100 times what they were (median); the limit is a factor of 3"),
        ("currency", {}, "currency", "switched their currency from GBP to EUR (100%)"),
        ("frozen_page", {}, "identical", "show the very same record"),
        ("swapped", {}, "identity", "show another name, SKU, GTIN or brand (100%)"),
        ("error", {"status": 404}, "missing", "known pages are missing or lead to another (100%); the limit is 20%"),
        ("error", {"status": 410}, "missing", "known pages are missing or lead to another (100%)"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) and " " not in value else "",
)
def test_a_lie_about_everything_is_held_and_the_truth_stays(
    known: Watched, lie: str, options: dict[str, Any], gate: str, sentence: str
) -> None:
    truth = published(known)
    known.shop.lie(lie, "^/p/", **options)
    done = known.forked("refresh")
    assert published(known) == truth
    assert_held(done, known, gate, sentence)
    again = known.forked("refresh")  # the same once more: no second hold of a page
    assert (again.exit_code, published(known)) == (5, truth), again.stderr
    assert len(holds(known)) == len({row["page_id"] for row in holds(known)}) == done.count("held")
    known.shop.honest()
    healed = known.forked("refresh")  # the published values are seen again
    assert (healed.exit_code, published(known)) == (0, truth), healed.stderr
    assert not holds(known, "held", "waiting")
    assert holds(known, "superseded")


@pytest.mark.parametrize("lie", ["drifted", "challenge", "empty", "soft_404"])
def test_pages_that_show_no_product_are_no_change_and_the_truth_stays(known: Watched, lie: str) -> None:
    truth = published(known)
    known.shop.lie(lie, "^/p/")
    done = known.forked("refresh", STOREBOT_ERROR_BACKOFF_S=0)
    assert done.exit_code in (3, 4, 5), done.stderr
    assert known.last_run()["reason"]
    assert published(known)[:3] == truth[:3]
    known.shop.honest()
    known.execute("UPDATE stores SET breaker_until = 1")  # the cool-down is over
    assert known.forked("refresh").exit_code == 0
    assert published(known) == truth


def test_redirects_of_everything_to_a_category_take_nothing_off_sale(known: Watched) -> None:
    truth = published(known)
    known.shop.lie("redirect", "^/p/", to="category", status=301)
    done = known.forked("refresh", STOREBOT_ERROR_BACKOFF_S=0)
    assert_held(done, known, "missing", "known pages are missing or lead to another (100%)")
    assert published(known)[:3] == truth[:3]


def test_redirects_of_everything_to_one_product_retire_nothing(known: Watched) -> None:
    truth, path = published(known), plain_path(known)
    known.shop.lie("redirect", f"^(?!{path}$)/p/", to=path, status=301)
    done = known.forked("refresh")
    assert_held(done, known, "missing", "59 of 60 known pages are missing or lead to another (98%)")
    assert published(known) == truth
    known.shop.honest()
    assert (known.forked("refresh").exit_code, published(known)) == (0, truth)


def test_a_lie_about_a_third_of_the_store_is_held_and_the_rest_is_seen(known: Watched) -> None:
    truth = published(known)
    known.shop.lie("times_100", FIRST)
    done = known.forked("refresh")
    assert (done.exit_code, done.count("held"), done.count("not_modified")) == (5, 24, PRODUCTS - 24), done.stderr
    assert published(known) == truth


# --- one page -------------------------------------------------------------------------------------------------------


def test_two_swapped_pages_are_held_because_each_shows_what_the_other_sells(known: Watched) -> None:
    truth = published(known)
    known.shop.lie("swapped", "^/p/.*-(11|12)$")
    done = known.forked("refresh")
    assert (done.exit_code, done.count("held"), done.count("not_modified")) == (5, 2, PRODUCTS - 2), done.stderr
    assert published(known) == truth
    assert {"it shows the product that is published at" in row["reason"] for row in holds(known)} == {True}


def test_a_price_a_hundredfold_is_published_when_a_second_look_confirms_it(known: Watched) -> None:
    known.shop.lie("times_100", f"^{plain_path(known)}$")
    done = known.forked("refresh")
    assert (done.exit_code, done.count("changed"), done.count("held")) == (0, 1, 1), done.stderr
    assert known.shop.requests().count(plain_path(known)) == 2
    assert known.count("SELECT count(*) FROM changes") == 1
    assert [row["why"] for row in holds(known, "superseded")] == ["run 2 saw the page anew"]


def test_a_price_that_a_second_look_does_not_confirm_is_not_published(known: Watched) -> None:
    truth = published(known)
    known.shop.lie("times_100", f"^{plain_path(known)}$", times=1)
    done = known.forked("refresh")
    assert (done.exit_code, done.count("held"), done.count("not_modified")) == (0, 1, PRODUCTS), done.stderr
    assert published(known) == truth


# --- somebody decides -----------------------------------------------------------------------------------------------


@pytest.fixture
def sale(tmp_path: Path) -> Iterator[Watched]:
    """A store in which every price has moved a little, and its run was held."""
    with DemoStore(products=40, variant_share=0.1, seed=5) as shop:
        watched = Watched(shop, tmp_path / "store.db", store_file(tmp_path, "[refresh]\ninterval = '1h'"))
        assert watched.forked("backfill").exit_code == 0
        watched.execute("UPDATE pages SET next_due_at = 0")
        shop.advance(price=40)
        yield watched


def held_sale(sale: Watched) -> tuple[Any, ...]:
    truth = published(sale)
    done = sale.forked("refresh")
    assert_held(done, sale, "changed", "40 of 40 known pages changed (100%); the limit is 50%")
    assert published(sale) == truth
    return truth


def test_approved_holds_are_published_as_their_visits_would_have_been(sale: Watched, tmp_path: Path) -> None:
    other = sale.copied_to(tmp_path / "other.db")
    held_sale(sale)
    dry = scrapy_holds(sale, "approve", "--run", "2", "--dry-run")
    assert (dry.returncode, len(holds(sale))) == (0, 40), dry.stderr
    assert "40 would be published; nothing was written" in dry.stdout
    done = scrapy_holds(sale, "approve", "--run", "2")
    assert (done.returncode, done.stdout) == (0, "40 published: 40 rows, 40 changes\n"), done.stderr
    other_stores = store_file(tmp_path / "open", "[refresh]\ninterval = '1h'\n[gate]\nmax_changed = 1")
    open_ = Watched(other.shop, other.database, other_stores)
    assert open_.forked("refresh").exit_code == 0
    assert published(sale) == published(open_)
    assert [row["decided_by"] != "" for row in holds(sale, "approved")] == [True] * 40
    sale.execute("UPDATE pages SET next_due_at = 0")
    again = sale.forked("refresh")  # the validators of what was approved are sent
    assert (again.exit_code, again.count("not_modified")) == (0, 40), again.stderr


def test_rejected_holds_leave_what_is_published_and_the_pages_are_read_again(sale: Watched) -> None:
    truth = held_sale(sale)
    assert scrapy_holds(sale, "reject", "--store", "demo", "--all").stdout == "40 dropped\n"
    assert (published(sale), holds(sale), len(holds(sale, "rejected"))) == (truth, [], 40)
    sale.execute("UPDATE pages SET next_due_at = 0")
    assert sale.forked("refresh").count("held") == 40


def test_retried_pages_are_due_at_once(sale: Watched) -> None:
    held_sale(sale)
    first = str(holds(sale)[0]["id"])
    assert sale.forked("refresh").count("held") == 0  # they're due in an hour
    assert scrapy_holds(sale, "retry", first).stdout == "1 due now\n"
    done = sale.forked("refresh")
    assert (done.fields["checked"], done.count("changed")) == ("1", 1), done.stderr
    assert len(holds(sale)) == 39


def test_a_planned_sale_passes(sale: Watched, tmp_path: Path) -> None:
    window = "[[gate.planned]]\nfrom = 2000-01-01T00:00:00Z\nuntil = 2200-01-01T00:00:00Z\nreason = 'a sale'"
    planned = store_file(tmp_path / "planned", f"[refresh]\ninterval = '1h'\n{window}")
    done = Watched(sale.shop, sale.database, planned).forked("refresh")
    assert (done.exit_code, done.count("changed")) == (0, 40), done.stderr


def test_a_planned_sale_lets_no_other_lie_pass(sale: Watched, tmp_path: Path) -> None:
    window = "[[gate.planned]]\nfrom = 2000-01-01T00:00:00Z\nuntil = 2200-01-01T00:00:00Z\nreason = 'a sale'"
    planned = store_file(tmp_path / "planned", f"[refresh]\ninterval = '1h'\n{window}")
    sale.shop.lie("no_prices", "^/p/")
    done = Watched(sale.shop, sale.database, planned).forked("refresh")
    assert (done.exit_code, done.count("changed")) == (5, 0), done.stderr


def plain_path(watched: Watched) -> str:
    """Return the path of a product without variants."""
    return next(path_of(row["url"]) for row in watched.shop.iter_truth() if not row["variants"])
