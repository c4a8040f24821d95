"""What a store does wrong, end to end: nothing known is lost, nothing false is saved, the run says what happened."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storebot.demo.client import DemoClient
from storebot.demo.running import DemoStore
from tests.crawls.scrapy_process import Row
from tests.crawls.watched import Watched, path_of, store_file

PRODUCTS = 30
AT_ONCE = {"STOREBOT_ERROR_BACKOFF_S": 0}  # what failed is due again in the next run
CATALOGUE = "catalogue /catalogue/page-{page}.html"
ONLY_CATALOGUE = "[discover]\nsitemaps = false"


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, page_size=10, sitemap_size=15) as shop:
        yield shop


@pytest.fixture(scope="module")
def backfilled(shop: DemoStore, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched.backfilled(shop, tmp_path_factory.mktemp("backfilled") / "store.db")


@pytest.fixture
def known(backfilled: Watched, tmp_path: Path) -> Iterator[Watched]:
    """Its clock never moves."""
    with backfilled.lent(tmp_path / "store.db") as known:
        yield known


@pytest.fixture
def fresh(shop: DemoStore, tmp_path: Path) -> Iterator[Watched]:
    """The store, known only by its catalogue, and an empty database."""
    yield Watched(shop, tmp_path / "store.db", store_file(tmp_path, ONLY_CATALOGUE))
    shop.honest()


# --- what is fetched ------------------------------------------------------------------------------------------------


def test_backfill_fetches_each_page_once_and_a_refresh_that_finds_nothing_new_only_304s(
    backfilled: Watched, known: Watched
) -> None:
    assert _listed(backfilled) == _truth(backfilled.shop)
    before = known.records(), known.offers(), known.page_rows()
    done = known.forked("refresh")
    assert (done.exit_code, done.count("not_modified"), done.count("rows")) == (0, PRODUCTS, 0)
    served = known.shop.requests()
    assert (served.not_modified["product"], served.full["product"]) == (PRODUCTS, 0)
    assert set(served.paths("/p/").values()) == {1}
    assert (known.records(), known.offers(), known.page_rows()) == before
    again = known.forked("backfill")  # a new cycle: the walks are walked again, the pages are known
    assert (again.exit_code, again.count("new")) == (0, 0)
    assert known.shop.requests().full["product"] == 0


def test_changes_are_exactly_what_the_shop_changed(tmp_path: Path) -> None:
    with DemoStore(products=60, page_size=20, sitemap_size=40, variant_share=0.3, markup="mixed", seed=5) as shop:
        watched = Watched(shop, tmp_path / "store.db")
        _assert_complete(watched, "backfill")
        assert _listed(watched) == _truth(shop)
        before = watched.records()
        truth = shop.advance(price=6, stock=4, title=3, vanished=2, vanished_status=410, appeared=3)
        done = watched.forked("refresh")
        assert (done.exit_code, done.count("changed"), done.count("missing"), done.count("new")) == (0, 13, 2, 3)
        vanished = {path_of(change.url) for change in truth if change.kind == "vanished"}
        listed = _listed(watched)
        assert {path: row for path, row in listed.items() if path not in vanished} == _truth(shop)
        gone = [row for (key, _), row in watched.records().items() if path_of(key) in vanished]
        assert {row["status"] for row in gone} == {"delisted"}, "410 is believed at once"
        assert watched.count("SELECT count(*) FROM changes WHERE type = 'delisted'") == len(gone)
        assert [{**row, "status": "active", "missing_why": ""} for row in gone] == [
            row for (key, _), row in before.items() if path_of(key) in vanished
        ]
        changed = {change.sku: change for change in truth if change.kind in ("price", "stock", "title")}
        events = watched.rows("SELECT * FROM changes WHERE type = 'changed'")
        assert len(events) == len(changed)
        skus = {(row["url_key"], row["variant_id"]): row["sku"] for row in watched.rows(_SKUS)}
        for event in events:
            change = changed[skus[event["url_key"], event["variant_id"]]]
            (field,) = json.loads(event["fields"])
            assert path_of(event["url_key"]) == path_of(change.url)
            assert (_text(field["before"]), _text(field["after"])) == (_bare(change.before), _bare(change.after))
            assert field["field"] == {"price": "price_minor"}.get(change.field, change.field)
        appeared = {path_of(change.url) for change in truth if change.kind == "appeared"}
        new = watched.rows("SELECT url_key FROM changes WHERE type = 'new'")
        assert {path_of(row["url_key"]) for row in new} == appeared
        prices = watched.count("SELECT count(*) FROM offers WHERE run_id = 2")
        assert prices == 10 + len(new)  # what has a new title has no new offer


def test_products_that_appear_are_found_at_the_catalogues_head_where_there_is_no_sitemap(tmp_path: Path) -> None:
    """Case P10: pages of known products alone don't end the look at the head."""
    stores = store_file(tmp_path, f"{ONLY_CATALOGUE}\n[refresh]\nhead_pages = 4")
    with DemoStore(products=30, page_size=10) as shop:
        watched = Watched(shop, tmp_path / "store.db", stores)
        _assert_complete(watched, "backfill")
        shop.advance(appeared=4)
        done = watched.forked("refresh")
        assert (done.exit_code, done.count("new"), done.count("not_modified")) == (0, 4, 30), done.stderr
        assert _listed(watched) == _truth(shop)
        assert watched.walks()[CATALOGUE]["state"] == "closed"  # the head is no walk of its own


# --- blocks ---------------------------------------------------------------------------------------------------------


def test_challenge_page_with_200_never_erases_a_listing(known: Watched) -> None:
    """Case C09: neither what was known nor its validators are touched, and the next refresh sends them again."""
    small, large, once = _paths(known, 3)
    before = known.records(), known.page_rows()
    known.shop.lie("challenge", f"^{small}$")
    known.shop.lie("challenge", f"^{large}$", size="large", headers=False)
    known.shop.lie("challenge", f"^{once}$", times=1)
    done = known.forked("refresh", **AT_ONCE)
    assert (done.exit_code, done.fields["status"], done.count("blocked")) == (3, "partial", 2), done.stderr
    outcomes = known.outcomes()
    assert [outcomes[path][0] for path in (small, large, once)] == ["blocked", "blocked", "not_modified"]
    asked = known.shop.requests().paths("/p/")
    assert [asked[path] for path in (small, large, once)] == [2, 2, 2]  # one retry each, and no more
    assert sum(asked.values()) == PRODUCTS + 3
    assert (known.records(), _without_errors(known.page_rows())) == (before[0], _without_errors(before[1]))
    ledger = known.rows("SELECT blocks.*, pages.url AS page FROM blocks JOIN pages ON pages.id = page_id")
    assert {path_of(row["page"]) for row in ledger} == {small, large, once}
    assert {"header", "marker"} <= {row["kind"] for row in ledger}
    assert {row["vendor"] for row in ledger} >= {"cloudflare"}
    known.shop.honest()
    again = known.forked("refresh")
    assert (again.exit_code, again.count("not_modified")) == (0, PRODUCTS)


def test_blocked_catalogue_page_never_advances_the_checkpoint_and_never_ends_the_walk(fresh: Watched) -> None:
    fresh.shop.lie("challenge", "/catalogue/page-2.html")
    done = fresh.forked("backfill")
    assert (done.exit_code, done.fields["status"]) == (3, "partial"), done.stderr
    walk = fresh.walks()[CATALOGUE]
    assert (walk["page"], walk["state"]) == (1, "incomplete")
    assert "page 2 blocked; resumes there" in fresh.last_run()["reason"]
    assert fresh.shop.requests().count("/catalogue/page-2.html") == 2
    assert fresh.count("SELECT count(*) FROM blocks WHERE url LIKE '%/catalogue/page-2.html'") > 0
    fresh.shop.honest()
    _assert_complete(fresh, "backfill")
    assert _listed(fresh) == _truth(fresh.shop)


def test_catalogue_that_is_blocked_from_the_first_page_ends_the_run_as_blocked(fresh: Watched) -> None:
    fresh.shop.lie("forbidden", "/catalogue/")
    done = fresh.forked("backfill")
    assert (done.exit_code, done.fields["status"]) == (4, "blocked"), done.stderr
    assert fresh.walks()[CATALOGUE]["page"] == 0


def test_429_waits_as_long_as_it_is_told_to_and_then_succeeds(known: Watched) -> None:
    (path,) = _last_asked(known, 1)
    known.shop.lie("too_many", f"^{path}$", times=1, retry_after=2)
    done = known.forked("refresh")
    assert (done.exit_code, done.count("not_modified")) == (0, PRODUCTS)
    served = known.shop.requests()
    assert (served.count(path, 429), served.count(path, 304)) == (1, 1)
    *others, last = sorted(served.arrivals["product"])
    assert last - others[0] >= 2
    assert known.count("SELECT requests FROM visits WHERE run_id = 2 ORDER BY requests DESC LIMIT 1") == 2


# --- pages that are not what they were ------------------------------------------------------------------------------


def test_page_without_its_product_is_never_written_over_the_old_row(known: Watched) -> None:
    """A soft 404, an empty answer, a redesign, a cut connection, a server error: each has its outcome, none a row."""
    soft, empty, drifted, cut, failing = _paths(known, 5)
    before = known.records(), known.page_rows(), known.offers()
    known.shop.lie("soft_404", f"^{soft}$")
    known.shop.lie("empty", f"^{empty}$")
    known.shop.lie("drifted", f"^{drifted}$")
    known.execute(f"UPDATE pages SET etag = NULL, last_modified = NULL WHERE url LIKE '%{cut}'")  # a 304 can't be cut
    known.shop.lie("cut", f"^{cut}$")
    known.shop.lie("error", f"^{failing}$", status=500)  # a 503 would slow down all that is asked after it
    done = known.forked("refresh", **AT_ONCE)
    assert (done.exit_code, done.fields["status"]) == (3, "partial"), done.stderr
    outcomes = known.outcomes()
    assert [outcomes[path][0] for path in (soft, empty, drifted, cut, failing)] == [
        "missing",
        "blocked",
        "invalid",
        "error",
        "error",
    ], outcomes
    assert all(outcomes[path][1] for path in (soft, empty, drifted, cut, failing))
    assert known.shop.requests().count(cut) == 3  # RETRY_TIMES is 2
    assert _but_missing(known.records()) == before[0]
    assert known.offers() == before[2]
    assert known.count("SELECT count(*) FROM changes") == 0
    known.shop.honest()
    again = known.forked("refresh")
    assert (again.exit_code, again.count("not_modified"), again.count("unchanged")) == (0, PRODUCTS - 1, 1)
    assert known.page_rows() == before[1]


def test_redirect_away_from_the_product_overwrites_nothing(known: Watched) -> None:
    """Cases R01, C09: the validators of the page that it leads to aren't saved under the product's key."""
    home, category = _paths(known, 2)
    before = known.records(), known.page_rows()
    known.shop.lie("redirect", f"^{home}$", to="home")
    known.shop.lie("redirect", f"^{category}$", to="category", status=301)
    done = known.forked("refresh", **AT_ONCE)
    assert (done.count("missing"), done.count("not_modified")) == (2, PRODUCTS - 2), done.stderr
    outcomes = known.outcomes()
    assert "/, the home page" in outcomes[home][1]
    assert "/c/" in outcomes[category][1]
    assert (_but_missing(known.records()), _without_errors(known.page_rows())) == (
        before[0],
        _without_errors(before[1]),
    )
    known.shop.honest()
    assert known.forked("refresh").count("not_modified") == PRODUCTS
    assert known.records() == before[0]


def test_redirect_without_end_is_an_error_and_one_to_a_busy_page_is_tried_again_from_the_product(
    known: Watched,
) -> None:
    """Cases R04, R07."""
    looping, busy = _last_asked(known, 2)
    before = known.records()
    known.shop.lie("redirect", f"^{looping}$", to=looping)
    known.shop.lie("redirect", f"^{busy}$", to="/errors/busy", times=1)
    known.shop.lie("too_many", "^/errors/busy$", retry_after=0)
    done = known.forked("refresh")
    assert (done.exit_code, done.count("error"), done.count("unchanged")) == (3, 1, 1), done.stderr
    assert "redirects without end" in known.outcomes()[looping][1]
    assert known.shop.requests().count(busy) == 2
    assert known.shop.requests().count("/errors/busy") == 1
    assert known.records() == before


def test_store_that_sends_every_product_elsewhere_is_no_success(known: Watched) -> None:
    """Case R05: a shop that was sold redirects every page off its site."""
    before = known.records()
    with DemoStore(products=1) as parked:
        known.shop.lie("redirect", "^/p/", to=f"{parked.url.replace('127.0.0.1', 'localhost')}/", status=301)
        done = known.forked("refresh")
    assert (done.exit_code, done.count("moved")) == (3, PRODUCTS), done.stderr
    assert known.last_run()["status"] == "failed"
    assert known.last_run()["reason"].startswith(f"domain moved: {PRODUCTS} of {PRODUCTS} pages redirect to localhost")
    assert known.records() == before


def test_redirect_to_a_product_that_is_known_leads_there_and_leaves_one_active_listing(known: Watched) -> None:
    old, new = _paths(known, 2)
    before = known.records()
    known.shop.lie("redirect", f"^{old}$", to=new, status=301)
    done = known.forked("refresh")
    assert (done.count("moved"), done.count("not_modified")) == (1, PRODUCTS - 1), done.stderr
    after = {path_of(key): row for (key, _), row in known.records().items()}
    assert (after[old]["status"], after[new]["status"]) == ("missing", "active")
    assert after[new] == {path_of(key): row for (key, _), row in before.items()}[new]
    aliases = known.rows("SELECT old_key, url_key FROM aliases JOIN pages ON pages.id = page_id")
    assert [(path_of(row["old_key"]), path_of(row["url_key"])) for row in aliases] == [(old, new)]
    known.forked("refresh")
    assert old not in known.shop.requests().paths("/p/")


def test_redirect_to_another_product_that_is_not_known_yet_ends_the_old_one_and_begins_the_new(tmp_path: Path) -> None:
    """Case R01. (One that is the same product keeps its history: tests/crawls/test_one_page_one_key.py.)"""
    stores = store_file(tmp_path, "[refresh]\nhead_pages = 0\nsitemaps = false")
    with DemoStore(products=20, variant_share=0) as shop:
        watched = Watched(shop, tmp_path / "store.db", stores)
        _assert_complete(watched, "backfill")
        (old,) = _paths(watched, 1)
        (appeared,) = shop.advance(appeared=1)
        new = path_of(appeared.url)
        shop.lie("redirect", f"^{old}$", to=new, status=301)
        done = watched.forked("refresh")
        assert (done.exit_code, done.count("moved"), done.count("not_modified")) == (0, 1, 19), done.stderr
        again = watched.forked("refresh")
        assert (again.exit_code, again.count("new"), again.count("not_modified")) == (0, 1, 19), again.stderr
        assert old not in shop.requests().paths("/p/")
        records = {path_of(key): row for (key, _), row in watched.records().items()}
        assert (records[old]["status"], records[new]["status"]) == ("missing", "active")
        assert records[new]["name"] == _truth(shop)[new][0]["name"]
        assert watched.count("SELECT count(*) FROM offers") == 21
        assert watched.forked("backfill").exit_code == 0  # the sitemap names both: neither is a page of its own again
        assert watched.count("SELECT count(*) FROM pages") == 21


def test_price_that_is_wrong_for_a_visit_is_two_changes_and_no_lost_history(known: Watched) -> None:
    (path,) = _paths(known, 1)
    known.shop.lie("times_100", f"^{path}$")
    assert known.forked("refresh").count("changed") == 1
    known.shop.honest()
    assert known.forked("refresh").count("changed") == 1
    fields = [json.loads(row["fields"])[0] for row in known.rows("SELECT fields FROM changes ORDER BY seq")]
    assert fields[0]["before"] * 100 == fields[0]["after"] == fields[1]["before"]
    assert fields[1]["after"] == fields[0]["before"]


# --- conditional requests -------------------------------------------------------------------------------------------


def test_304_without_a_record_behind_it_is_fetched_in_full(fresh: Watched) -> None:
    """Case C03: a page whose first parse failed has no validators, and a 304 to it is no answer."""
    failed, denied, lying = _paths(fresh, 3)
    fresh.shop.lie("drifted", f"^({failed}|{denied}|{lying})$")
    first = fresh.forked("backfill")
    assert (first.exit_code, first.count("invalid")) == (3, 3), first.stderr
    assert fresh.count("SELECT count(*) FROM pages WHERE etag IS NOT NULL AND content_hash IS NULL") == 0
    fresh.shop.honest()
    fresh.shop.lie("false_304", f"^{failed}$")  # to whoever sends a validator: nobody does
    fresh.shop.lie("error", f"^{denied}$", status=304, times=1)
    fresh.shop.lie("error", f"^{lying}$", status=304)
    fresh.execute("UPDATE pages SET next_due_at = 0 WHERE content_hash IS NULL")
    second = fresh.forked("refresh")
    assert (second.exit_code, second.count("new"), second.count("error")) == (3, 2, 1), second.stderr
    asked = fresh.shop.requests()
    assert (asked.count(failed), asked.count(denied), asked.count(lying)) == (1, 2, 2)
    assert fresh.outcomes()[lying] == ("error", "HTTP 304 to a request without validators")
    assert fresh.count("SELECT count(*) FROM listings WHERE name IS NULL") == 0


def test_new_parser_asks_without_validators_and_corrects_the_rows_silently(tmp_path: Path) -> None:
    """Case C08: the store keeps saying 304, but not to a parser that never saw the page."""
    stores = store_file(tmp_path, changed={'name = ["h1.product-name"]': 'name = [".product-main .brand"]'})
    with DemoStore(products=20, markup="plain") as shop:
        watched = Watched(shop, tmp_path / "store.db", stores)
        _assert_complete(watched, "backfill")
        offers = watched.offers()
        names = {row["id"]: row["name"] for row in shop.iter_truth()}
        assert {row["name"] for row in watched.records().values()}.isdisjoint(names.values())
        store_file(tmp_path)  # the rule is repaired
        done = watched.forked("refresh")
        assert (done.exit_code, done.count("unchanged"), done.count("changes")) == (0, 20, 0), done.stderr
        assert shop.requests().full["product"] == 20
        assert _listed(watched) == _truth(shop)
        assert watched.offers() == offers
        assert watched.count("SELECT count(*) FROM changes") == 0
        assert watched.forked("refresh").count("not_modified") == 20


def test_tag_that_the_store_does_not_know_again_is_no_change(tmp_path: Path) -> None:
    """Case C01: with mod_deflate's suffix there is never a 304; the pages are unchanged by what they say."""
    with DemoStore(products=20, gzip=True, etag_gzip_suffix=True) as shop:
        watched = Watched(shop, tmp_path / "store.db")
        _assert_complete(watched, "backfill")
        assert watched.count("SELECT count(*) FROM pages WHERE etag LIKE '%-gzip\"'") == 20
        done = watched.forked("refresh")
        assert (done.exit_code, done.count("unchanged"), done.count("rows")) == (0, 20, 0)
        assert watched.count("SELECT count(*) FROM changes") == 0


# --- the catalogue --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("past_end", "reason"),
    [
        ("404", "page 4 answers 404"),
        ("empty", "page 4 is empty"),
        ("repeat_last", "page 4 repeats page 3"),
        ("redirect_first", "page 4 redirects to page 1"),
    ],
)
def test_page_past_the_end_ends_the_walk_with_a_named_reason(tmp_path: Path, past_end: str, reason: str) -> None:
    """Case P01."""
    with DemoStore(products=30, page_size=10, past_end=past_end) as shop:
        watched = Watched(shop, tmp_path / "store.db", store_file(tmp_path, ONLY_CATALOGUE))
        _assert_complete(watched, "backfill")
        walk = watched.walks()[CATALOGUE]
        assert (walk["page"], walk["state"], reason in walk["reason"]) == (3, "closed", True), walk
        assert max(int(path[16:-5]) for path in shop.requests().paths("/catalogue/")) <= 12  # one window, at most
        assert _listed(watched) == _truth(shop)


def test_page_that_is_empty_once_is_looked_at_again(fresh: Watched) -> None:
    """Case P05."""
    fresh.shop.lie("soft_404", "/catalogue/page-2.html", times=1)
    _assert_complete(fresh, "backfill")
    assert _listed(fresh) == _truth(fresh.shop)


def test_page_that_stays_empty_between_full_ones_is_a_hole_and_the_rest_is_read(fresh: Watched) -> None:
    """Case P05."""
    fresh.shop.lie("soft_404", "/catalogue/page-2.html")
    done = fresh.forked("backfill")
    assert (done.exit_code, done.count("new")) == (3, 20), done.stderr
    assert "page 2 is empty between full pages" in fresh.last_run()["reason"]
    assert fresh.walks()[CATALOGUE]["page"] == 1
    fresh.shop.honest()
    again = fresh.forked("backfill")
    assert (again.exit_code, again.count("new")) == (0, 10), again.stderr


def test_page_cap_of_a_platform_is_named_and_is_not_the_end(fresh: Watched) -> None:
    """Case P07."""
    fresh.shop.lie("error", r"/catalogue/page-([3-9]|\d\d)", status=400)
    done = fresh.forked("backfill")
    assert (done.exit_code, done.fields["status"], done.count("new")) == (3, "partial", 20), done.stderr
    assert "page cap" in fresh.last_run()["reason"]


def test_checkpoint_of_another_walk_is_refused_and_the_walk_starts_again(fresh: Watched, tmp_path: Path) -> None:
    """Case M08: what is a product has changed in the store file, so that "page 2" is of other products."""
    fresh.shop.lie("challenge", "/catalogue/page-3.html")
    assert fresh.forked("backfill").exit_code == 3
    assert fresh.walks()[CATALOGUE]["page"] == 2
    fresh.shop.honest()
    changed = {r"'/p/[^/]+-\d+$'": r"'/p/[^/]+-[0-9]+$'"}
    store_file(tmp_path, ONLY_CATALOGUE, changed)
    done = fresh.forked("backfill")
    assert (done.exit_code, done.count("new")) == (0, 10), done.stderr
    assert fresh.shop.requests().count("/catalogue/page-1.html") == 1
    assert "the walk's parameters changed after page 2" in done.stderr


# --- robots.txt, claims ---------------------------------------------------------------------------------------------


def test_page_that_robots_txt_disallows_is_skipped(known: Watched) -> None:
    known.execute(f"UPDATE pages SET url = '{known.shop.url}/cart/p/x-1' WHERE id = 5")
    done = known.forked("refresh")
    assert (done.exit_code, done.count("not_modified")) == (3, PRODUCTS - 1)  # case Z07: it was read before
    assert known.last_run()["reason"] == "blocked by robots.txt: 1 page that was read before"
    assert known.shop.requests().paths("/cart") == {}
    outcome, reason = known.outcomes()["/cart/p/x-1"]
    assert (outcome, "robots.txt" in reason) == ("skipped", True)


def test_page_that_was_set_aside_keeps_the_run_from_being_complete(fresh: Watched) -> None:
    """A page whose claims all ended with a dead worker isn't tried for a week, and the run doesn't hide it."""
    fresh.shop.lie("challenge", "/catalogue/page-3.html")
    fresh.forked("backfill")
    fresh.shop.honest()
    fresh.execute(
        "UPDATE pages SET status = 'in_progress', claim_token = 'dead', tries = 6, content_hash = NULL WHERE id = 1"
    )
    done = fresh.forked("backfill")
    assert (done.exit_code, done.fields["status"]) == (3, "partial"), done.stderr
    assert "set aside" in done.stderr


# --- what several tests ask -----------------------------------------------------------------------------------------

_SKUS = "SELECT url_key, variant_id, sku FROM listings JOIN pages ON pages.id = page_id"
_TOLD = ("name", "price_minor", "currency", "availability")


def _assert_complete(watched: Watched, phase: str) -> None:
    done = watched.forked(phase)
    assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr


def _paths(watched: Watched, count: int) -> list[str]:
    """Return paths of products without variants."""
    plain = [path_of(row["url"]) for row in watched.shop.iter_truth() if not row["variants"]]
    return plain[3 : 3 + count]


def _last_asked(watched: Watched, count: int) -> list[str]:
    """Return paths of the products that a refresh asks for last, for lies that slow down all that comes after them."""
    found = watched.rows("SELECT url FROM pages ORDER BY next_due_at DESC, id DESC LIMIT ?", count)
    return [path_of(row["url"]) for row in found]


def _listed(watched: Watched) -> dict[str, list[Row]]:
    """Return what is believed of each product, by path: a row for each of its variants, by SKU."""
    found: dict[str, list[Row]] = {}
    for (key, _), row in sorted(watched.records().items(), key=lambda item: item[1]["sku"]):
        found.setdefault(path_of(key), []).append({name: row[name] for name in (*_TOLD, "sku")})
    return found


def _truth(shop: DemoClient) -> dict[str, list[Row]]:
    """Return the same as the shop tells it."""
    found: dict[str, list[Row]] = {}
    for product in shop.iter_truth():
        sold: list[dict[str, Any]] = product["variants"] or [product]
        rows = [{**product, **one} for one in sorted(sold, key=lambda one: str(one["sku"]))]
        found[path_of(product["url"])] = [{name: row[name] for name in (*_TOLD, "sku")} for row in rows]
    return found


def _without_errors(pages: dict[str, Row]) -> dict[str, Row]:
    told = {"last_error": "", "last_failure": "", "misses": 0, "first_missed_at": None, "missed_by": None}
    return {key: {**row, **told, "stray_hash": None} for key, row in pages.items()}


def _but_missing(records: dict[tuple[str, str], Row]) -> dict[tuple[str, str], Row]:
    """Return records as they'd be if none were missing."""
    return {key: {**row, "status": "active", "missing_why": ""} for key, row in records.items()}


def _text(value: object) -> str:
    return str(value)


def _bare(text: str) -> str:
    """Return a price as minor units; another text as it is."""
    return text.replace(".", "") if re.fullmatch(r"\d+\.\d\d", text) else text
