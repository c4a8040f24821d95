"""Products that go, or seem to, end to end: what is believed, when, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storebot.demo.running import DemoStore
from tests.crawls.scrapy_process import Row
from tests.crawls.watched import Watched, path_of, store_file

PRODUCTS = 40
HOUR = 3_600_000
AT_ONCE = {"STOREBOT_ERROR_BACKOFF_S": 0, "STOREBOT_COMMIT_S": 0.05}
SELDOM = '[refresh]\ninterval = "90d"'  # nothing is due by itself
_PAGE_TIMES = ("first_missed_at", "checked_at", "next_due_at", "delisted_at", "unnamed_since", "first_seen_at")


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, page_size=10, sitemap_size=20, variant_share=0) as shop:
        yield shop


@pytest.fixture(scope="module")
def backfilled(shop: DemoStore, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    watched = Watched(shop, tmp_path_factory.mktemp("backfilled") / "store.db", settings=AT_ONCE)
    done = watched.forked("backfill")
    assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr
    return watched


@pytest.fixture
def known(backfilled: Watched, tmp_path: Path) -> Iterator[Watched]:
    """The store backfilled, in a database of the test's own; its lies end with the test, its clock never moves."""
    yield backfilled.copied_to(tmp_path / "store.db")
    backfilled.shop.honest()


def hours_pass(watched: Watched, hours: float) -> None:
    """Have all that is in the database have happened so much earlier."""
    by = int(hours * HOUR)
    moved = ", ".join(f"{name} = {name} - {by}" for name in _PAGE_TIMES)
    watched.execute(f"UPDATE pages SET {moved}")
    watched.execute(f"UPDATE namings SET at = at - {by}")
    watched.execute(f"UPDATE scopes SET whole_from = whole_from - {by}, whole_at = whole_at - {by}, at = at - {by}")
    watched.execute(f"UPDATE visits SET at = at - {by}")


def paths(watched: Watched, count: int) -> list[str]:
    return [path_of(row["url"]) for row in watched.shop.iter_truth()][5 : 5 + count]


def statuses(watched: Watched) -> dict[str, str]:
    return {path_of(key): row["status"] for (key, _), row in watched.records().items()}


def away(watched: Watched) -> dict[str, str]:
    """Return what isn't on sale, by path."""
    return {path: status for path, status in statuses(watched).items() if status != "active"}


def events(watched: Watched) -> list[tuple[str, str]]:
    return [(row["type"], path_of(row["url_key"])) for row in watched.rows("SELECT * FROM changes ORDER BY seq")]


def page(watched: Watched, path: str) -> Row:
    (row,) = watched.rows("SELECT * FROM pages WHERE url LIKE ?", f"%{path}")
    return row


def test_removed_products_are_missing_then_delisted_then_seldom_asked_for_and_come_back(known: Watched) -> None:
    """D01, D04: confirmed twice over a day; `relisted` with its history."""
    first, second = paths(known, 2)
    records, offers = known.records(), known.offers()
    known.shop.lie("error", f"^({first}|{second})$", status=404)
    done = known.forked("refresh")
    assert (done.exit_code, done.count("missing"), done.count("changes")) == (0, 2, 0), done.stderr
    assert (away(known), events(known)) == ({first: "missing", second: "missing"}, [])
    hours_pass(known, 2)
    assert known.forked("refresh").count("changes") == 0
    assert events(known) == [], "twice, but within two hours: that is one outage"
    hours_pass(known, 23)
    done = known.forked("refresh")
    assert (done.exit_code, done.count("missing"), done.count("changes")) == (0, 2, 2), done.stderr
    assert away(known) == {first: "delisted", second: "delisted"}
    assert sorted(events(known)) == sorted([("delisted", first), ("delisted", second)])
    assert known.offers() == offers
    hours_pass(known, 24)
    assert known.forked("refresh").count("missing") == 0
    assert first not in known.shop.requests().paths("/p/")
    known.shop.honest()
    hours_pass(known, 24 * 7)
    done = known.forked("refresh")
    assert (done.exit_code, done.count("not_modified"), done.count("changes")) == (0, PRODUCTS, 2), done.stderr
    assert sorted(events(known)[2:]) == sorted([("relisted", first), ("relisted", second)])
    assert (known.records(), known.offers()) == (records, offers)


def test_a_mass_of_404s_is_held_and_delists_nothing(known: Watched) -> None:
    """D01 B: an hour's misconfiguration, seen again and again."""
    before = known.records()
    known.shop.lie("error", "^/p/.*[02468]$", status=404)
    for _ in range(3):
        done = known.forked("refresh")
        assert done.exit_code == 5, done.line
        hours_pass(known, 25)
    assert (known.records(), events(known)) == (before, [])
    known.shop.honest()
    done = known.forked("refresh")
    assert (done.exit_code, known.records()) == (0, before), done.line


@pytest.mark.parametrize(
    ("lie", "options"),
    [("soft_404", {}), ("redirect", {"to": "category", "status": 301}), ("redirect", {"to": "home"})],
    ids=["soft-404", "redirect-category", "redirect-home"],
)
def test_lies_of_all_pages_at_once_are_held_and_those_of_few_are_confirmed(
    known: Watched, lie: str, options: dict[str, Any]
) -> None:
    before = known.records()
    known.shop.lie(lie, "^/p/", **options)
    for _ in range(2):
        done = known.forked("refresh")
        assert done.exit_code == 5, done.line
        hours_pass(known, 25)
    assert (known.records(), events(known)) == (before, [])
    known.shop.honest()
    assert known.forked("refresh").exit_code == 0
    assert known.records() == before
    few = paths(known, 2)
    known.shop.lie(lie, f"^({'|'.join(few)})$", **options)
    known.forked("refresh")
    assert (away(known), events(known)) == (dict.fromkeys(few, "missing"), [])
    hours_pass(known, 25)
    known.forked("refresh")
    assert away(known) == dict.fromkeys(few, "delisted")
    assert {page(known, path)["missed_by"] for path in few} == {"soft_404" if lie == "soft_404" else "redirect"}


def test_a_page_in_the_shops_own_words_is_known_by_being_shown_at_many_addresses(tmp_path: Path) -> None:
    with DemoStore(products=120, variant_share=0) as shop:
        watched = Watched(shop, tmp_path / "store.db", settings=AT_ONCE)
        assert watched.forked("backfill").exit_code == 0
        dead = paths(watched, 6)
        shop.lie("soft_404", f"^({'|'.join(dead)})$", worded=False)
        assert watched.forked("refresh").count("invalid") == 6
        assert away(watched) == {}
        done = watched.forked("refresh")
        assert (done.exit_code, done.count("missing")) == (0, 6), done.line
        hours_pass(watched, 25)
        watched.forked("refresh")
        assert away(watched) == dict.fromkeys(dead, "delisted")


# --- five false deletions -------------------------------------------------------------------------------------------


def test_a_time_out_deletes_nothing(known: Watched) -> None:
    before = known.records()
    slow = paths(known, 2)
    known.execute("UPDATE pages SET etag = NULL, last_modified = NULL")  # a 304 can't be cut
    known.shop.lie("slow", f"^{slow[0]}$", delay_s=5.0)
    known.shop.lie("cut", f"^{slow[1]}$")
    for _ in range(3):
        done = known.forked("refresh", DOWNLOAD_TIMEOUT=1, RETRY_TIMES=0)
        assert (done.exit_code, done.count("error")) == (3, 2), done.line
        hours_pass(known, 25)
    assert (known.records(), events(known)) == (before, [])
    assert {page(known, path)["misses"] for path in slow} == {0}


def test_start_pages_and_lists_that_did_not_change_delete_nothing(known: Watched) -> None:
    """304 to sitemaps and catalogue though nobody sent a validator: they name nothing, and the round isn't whole."""
    before = known.records()
    known.shop.lie("error", "^/(sitemap|catalogue|robots)", status=304)
    for phase in ("refresh", "backfill", "refresh", "backfill"):
        known.forked(phase)
        hours_pass(known, 25)
    assert (known.records(), events(known)) == (before, [])
    assert known.count("SELECT count(*) FROM pages WHERE unnamed_since IS NOT NULL") == 0


def test_the_target_of_a_redirect_is_no_orphan(known: Watched) -> None:
    """The sitemap goes on naming the old address alone."""
    (old,) = paths(known, 1)
    new = f"{old.rpartition('/')[0]}/renamed-{old.rpartition('-')[2]}"
    known.execute(f"UPDATE pages SET url_key = replace(url_key, '{old}', '{new}') WHERE url LIKE '%{old}'")
    key, page_id = page(known, old)["url_key"], page(known, old)["id"]
    known.execute(
        "INSERT INTO aliases (store, old_key, page_id, reason, created_at) "
        f"VALUES ('demo', '{key.replace(new, old)}', {page_id}, 'redirect', 1)"
    )
    known.execute(f"UPDATE pages SET url = replace(url, '{old}', '{new}') WHERE id = {page_id}")
    known.shop.lie("redirect", f"^{new}$", to=old)  # whichever way it turns, it's one product
    for _ in range(4):
        known.forked("refresh")
        hours_pass(known, 25)
    assert away(known) == {}
    assert known.count("SELECT count(*) FROM pages WHERE unnamed_since IS NOT NULL") == 0
    assert not [kind for kind, _ in events(known) if kind == "delisted"]


def test_a_temporary_outage_becomes_no_deletion(known: Watched) -> None:
    """Two days of 5xx and of refusals, with 404s of the fallback server among them."""
    before = known.records()
    dead = paths(known, 3)
    known.shop.lie("error", "^/p/.*[13579]$", status=502)
    known.shop.lie("error", f"^({'|'.join(dead)})$", status=404)
    for _ in range(4):
        done = known.forked("refresh", RETRY_TIMES=0)
        assert done.exit_code in (3, 5), done.line
        hours_pass(known, 13)
    assert events(known) == []
    assert set(away(known).values()) <= {"missing"}
    known.shop.honest()
    assert known.forked("refresh").exit_code == 0
    assert (known.records(), events(known)) == (before, [])


def test_a_true_orphan_goes_though_its_lastmod_never_moved(known: Watched, tmp_path: Path) -> None:
    """Nothing says that it changed and nothing is due: that no list names it any more is why it's asked."""
    *_, orphan = paths(known, 20)  # beyond the head of the catalogue, which would miss it at once
    stores = store_file(tmp_path, SELDOM)
    watched = Watched(known.shop, known.database, stores, settings=AT_ONCE)
    watched.execute(f"UPDATE pages SET next_due_at = next_due_at + {90 * 24 * HOUR}")
    watched.shop.lie("unlisted", "^/(sitemap|catalogue)", entries=f"^{orphan}$")
    watched.shop.lie("error", f"^{orphan}$", status=404)
    done = watched.forked("refresh")
    assert (done.exit_code, done.count("checked")) == (0, 0), done.line
    hours_pass(watched, 13)
    watched.forked("refresh")
    assert (away(watched), events(watched)) == ({orphan: "missing"}, []), "named by two whole readings no more"
    hours_pass(watched, 13)
    done = watched.forked("refresh")
    assert (done.count("checked"), done.count("missing"), done.count("changes")) == (1, 1, 1), done.line
    assert (away(watched), events(watched)) == ({orphan: "delisted"}, [("delisted", orphan)])
    watched.shop.honest()
    hours_pass(watched, 24)
    done = watched.forked("refresh")
    assert (done.count("checked"), done.count("changes")) == (1, 1), "named again: asked at once"
    assert (away(watched), events(watched)[1:]) == ({}, [("relisted", orphan)])


def test_a_product_that_lists_leave_out_but_that_sells_is_not_gone(known: Watched) -> None:
    """D04: absence alone never delists."""
    (orphan,) = paths(known, 1)
    known.shop.lie("unlisted", "^/(sitemap|catalogue)", entries=f"^{orphan}$")
    for _ in range(5):
        assert known.forked("refresh").exit_code == 0
        hours_pass(known, 25)
    assert (away(known), events(known)) == ({}, [])
    assert page(known, orphan)["unnamed_since"] is not None


def test_half_a_catalogue_or_a_run_that_was_stopped_proves_nothing(known: Watched, tmp_path: Path) -> None:
    """D03, M07."""
    before = known.records()
    known.shop.lie("unlisted", "^/sitemaps", entries=".*")
    known.shop.lie("error", "/catalogue/page-[34]", status=500)
    for _ in range(3):
        assert known.forked("backfill", RETRY_TIMES=0).exit_code == 3
        hours_pass(known, 25)
    for _ in range(2):
        known.forked("backfill", CLOSESPIDER_ERRORCOUNT=1, RETRY_TIMES=0)
        hours_pass(known, 25)
    narrow = Watched(
        known.shop, known.database, store_file(tmp_path, "[discover]\nsitemaps = false", _ONLY_FIRST), settings=AT_ONCE
    )
    for _ in range(3):
        narrow.forked("backfill")
        hours_pass(known, 25)
    assert (known.records(), events(known)) == (before, [])
    assert known.count("SELECT count(*) FROM pages WHERE unnamed_since IS NOT NULL") == 0


_ONLY_FIRST = {'url = "/catalogue/page-{page}.html"': 'url = "/catalogue/page-1.html"'}


def test_the_events_say_what_the_status_was_and_is(known: Watched) -> None:
    (path,) = paths(known, 1)
    known.shop.lie("error", f"^{path}$", status=410)
    known.forked("refresh")
    (event,) = known.rows("SELECT * FROM changes")
    assert json.loads(event["fields"]) == [{"field": "status", "before": "missing", "after": "delisted"}]


def test_a_backfill_in_two_runs_has_read_each_source_whole(shop: DemoStore, tmp_path: Path) -> None:
    """M07: what the interrupted run named counts, as far as it wasn't a round of its own."""
    watched = Watched(shop, tmp_path / "store.db", settings=AT_ONCE)
    shop.lie("error", "/catalogue/page-3", status=500)
    assert watched.forked("backfill", RETRY_TIMES=0).exit_code == 3
    shop.honest()
    scopes = {row["source"]: row for row in watched.rows("SELECT * FROM scopes")}
    assert (scopes["sitemap"]["rounds"], scopes["catalogue"]["rounds"]) == (1, 0)
    assert "page 3 failed (HTTP 500)" in scopes["catalogue"]["reason"]
    assert watched.forked("backfill").exit_code == 0
    assert shop.requests().count("/catalogue/page-1.html") == 0
    again = {row["source"]: (row["rounds"], row["reason"]) for row in watched.rows("SELECT * FROM scopes")}
    assert again == {"sitemap": (1, ""), "catalogue": (1, "")}
    whole = "SELECT count(*) FROM namings JOIN scopes ON scopes.id = scope_id WHERE namings.at >= whole_from"
    assert watched.count(f"{whole} AND source = 'catalogue'") == PRODUCTS
