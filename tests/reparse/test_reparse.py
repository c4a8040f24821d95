"""``scrapy reparse``: what a change of the rules corrects, what it leaves alone, and how it ends."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from storebot.archive import archive_path
from storebot.exceptions import ExitCode
from tests.crawls.scrapy_process import rows
from tests.inside import Place, store_folder
from tests.reparse.running import run
from tests.scripted import FILLER, Answer, ScriptedShop, listing

LIST = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\nconcurrency = 4\n'
RULES = '[product]\nname = ["h1::text"]\nprice = [".old::text"]\ncurrency = "EUR"\navailability = [".stock::text"]\n'
MENDED = RULES.replace(".old", ".now")


def page(number: int) -> Answer:
    """A page that shows the old price beside the one to pay."""
    text = (
        f'<html><body><h1>Mug {number}</h1><s class="old">{number + 30}.00 €</s><b class="now">{number + 20}.00 €</b>'
        f'<span class="stock">In stock</span>{FILLER}</body></html>'
    )
    return Answer(text.encode(), headers={"Content-Type": "text/html; charset=utf-8", "ETag": f'"{number}"'})


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A store of three pages that was read by rules which take the old price; its shop is closed."""
    folder = tmp_path_factory.mktemp("crawled")
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1", "/p/2", "/p/3"))
        for number in (1, 2, 3):
            shop.says(f"/p/{number}", page(number))
        place = Place(shop.url, folder / "store.db", "shop", store_folder(folder, LIST + RULES))
        place.crawl("backfill")
    return place


@pytest.fixture
def here(crawled: Place, tmp_path: Path) -> Place:
    """The same, for one test alone, with rules that take the price to pay."""
    shutil.copytree(crawled.database.parent, tmp_path, dirs_exist_ok=True)
    return Place(crawled.url, tmp_path / "store.db", "shop", store_folder(tmp_path, LIST + MENDED))


def prices(here: Place) -> list[int]:
    return [row["price_minor"] for row in rows(here.database, "SELECT price_minor FROM listings ORDER BY name")]


def everything(here: Place) -> dict[str, list[dict[str, Any]]]:
    tables = ("pages", "listings", "offers", "changes", "visits", "runs", "stores")
    return {name: rows(here.database, f"SELECT * FROM {name}") for name in tables}


def test_dry_run_shows_what_differs_by_field_and_writes_nothing(here: Place) -> None:
    before = everything(here)
    done = run(here, "reparse", "--dry-run")
    assert done.exit_code == ExitCode.COMPLETE
    table = done.stdout.splitlines()
    assert table[0].split() == ["field", "listings", "was", "becomes", "such", "as"]
    assert table[2].split()[:4] == ["price_minor", "3", "3100", "2100"]
    assert done.fields.items() >= {("status", "complete"), ("changed", "3"), ("rows", "0")}
    assert everything(here) == before
    (told, last) = run(here, "reparse", "--dry-run", "--json").json
    assert told["fields"]["price_minor"]["listings"] == 3
    sample = told["fields"]["price_minor"]["samples"][0]
    assert (sample["before"], sample["after"], sample["variant_id"]) == (3100, 2100, "")
    assert (last["kind"], last["exit_code"], last["updated"]) == ("reparse", 0, 3)


def test_rows_are_corrected_silently_and_the_history_says_that_it_is_a_correction(here: Place) -> None:
    before = everything(here)
    done = run(here, "reparse")
    assert done.exit_code == ExitCode.COMPLETE
    assert done.line.startswith("reparse: checked=3 updated=3 skipped=0 elapsed=")
    after = everything(here)
    assert prices(here) == [2100, 2200, 2300]
    assert after["changes"] == []
    kept = {row["id"]: row for row in before["pages"]}
    for page_row in after["pages"]:
        was = kept[page_row["id"]]
        moved = {name for name, value in page_row.items() if value != was[name]}
        assert moved == {"content_hash", "parser_version"}
    corrected = [row for row in after["offers"] if row["cause"] == "corrected"]
    assert sorted(row["price_minor"] for row in corrected) == [2100, 2200, 2300]
    assert all(row["at"] == kept[row["page_id"]]["fetched_at"] for row in corrected)
    assert [row for row in after["offers"] if row["cause"] == "seen"] == before["offers"]
    changed_at = [[row["last_changed_at"] for row in found["listings"]] for found in (before, after)]
    assert changed_at[0] == changed_at[1]
    (run_row,) = [row for row in after["runs"] if row["kind"] == "reparse"]
    assert (run_row["status"], json.loads(run_row["counts"]), run_row["requests"]) == ("complete", {"changed": 3}, 0)
    assert after["stores"][0]["lease_token"] == ""


def test_a_second_re_parse_changes_nothing(here: Place) -> None:
    run(here, "reparse")
    before = everything(here)
    done = run(here, "reparse")
    assert done.fields.items() >= {("unchanged", "3"), ("rows", "0"), ("status", "complete")}
    after = everything(here)
    assert [after[name] for name in ("pages", "listings", "offers", "changes")] == [
        before[name] for name in ("pages", "listings", "offers", "changes")
    ]


def test_announce_makes_an_event_of_each_correction(here: Place) -> None:
    done = run(here, "reparse", "--announce")
    assert done.fields["changes"] == "3"
    events = rows(here.database, "SELECT type, fields FROM changes ORDER BY seq")
    assert [row["type"] for row in events] == ["corrected"] * 3
    assert json.loads(events[0]["fields"]) == [{"field": "price_minor", "before": 3100, "after": 2100}]


def test_a_row_that_was_spoilt_by_hand_is_put_right_though_the_parser_is_the_same(here: Place) -> None:
    run(here, "reparse")
    with closing(sqlite3.connect(here.database)) as connection:
        connection.execute("UPDATE listings SET price_minor = 1 WHERE name = 'Mug 2'")
        connection.commit()
    done = run(here, "reparse")
    assert done.fields.items() >= {("changed", "1"), ("unchanged", "2"), ("rows", "1")}
    assert prices(here) == [2100, 2200, 2300]


def test_pages_that_were_fetched_before_a_time_are_left_alone(here: Place) -> None:
    done = run(here, "reparse", "--since", "2999-01-01")
    assert done.exit_code == ExitCode.PARTIAL
    assert "there is no record that was read from a page that was fetched since then" in done.line
    assert prices(here) == [3100, 3200, 3300]
    assert run(here, "reparse", "--since", "2001-01-01T08:00").fields["changed"] == "3"
    assert run(here, "reparse", "--since", "yesterday").exit_code == ExitCode.USAGE


def test_a_parser_that_tries_the_network_gets_an_error_and_the_row_stays(here: Place) -> None:
    code = (
        "import urllib.request\n\nfrom storebot.stores.parsers import Page, Product, Select\n\n"
        'SELECTORS = {"price": ".now::text"}\n\n\n'
        "def product(page: Page, select: Select) -> Product:\n"
        "    urllib.request.urlopen(page.url)\n"
        '    return Product(price=select("price"))\n'
    )
    assert here.stores is not None
    (here.stores / "shop" / "product.py").write_text(code, encoding="utf-8")
    done = run(here, "reparse")
    assert done.exit_code == ExitCode.PARTIAL
    assert done.fields.items() >= {("invalid", "3"), ("status", "partial")}
    assert "product.py: line 9: NetworkForbidden: socket." in done.stdout
    assert prices(here) == [3100, 3200, 3300]


def test_store_code_that_opens_a_socket_when_it_is_imported_is_refused(here: Place) -> None:
    code = "import socket\n\nsocket.create_connection(('127.0.0.1', 9))\n"
    assert here.stores is not None
    (here.stores / "shop" / "product.py").write_text(code, encoding="utf-8")
    done = run(here, "reparse")
    assert done.exit_code == ExitCode.USAGE
    assert "NetworkForbidden" in done.stderr


def test_a_page_that_is_not_in_the_archive_is_told_and_left_to_the_next_refresh(here: Place) -> None:
    with closing(sqlite3.connect(archive_path(here.database.parent / "pages", "shop"))) as connection:
        connection.execute("DELETE FROM generations WHERE page_id = (SELECT id FROM pages WHERE url_key LIKE '%/p/2')")
        connection.commit()
    done = run(here, "reparse")
    assert done.exit_code == ExitCode.PARTIAL
    assert "1 of which the page that the record was read from isn't in the archive" in done.line
    assert prices(here) == [2100, 3200, 2300]


def test_without_an_archive_or_a_database_it_is_exit_8(here: Place) -> None:
    archive = archive_path(here.database.parent / "pages", "shop")
    archive.rename(archive.with_suffix(".away"))
    done = run(here, "reparse")
    assert (done.exit_code, done.stdout) == (ExitCode.DATABASE, "")
    assert "there is no page archive" in done.stderr
    archive.with_suffix(".away").rename(archive)
    here.database.unlink()
    done = run(here, "reparse")
    assert done.exit_code == ExitCode.DATABASE
    assert "no such file" in done.stderr


def test_a_store_that_another_run_has_is_exit_7(here: Place) -> None:
    with closing(sqlite3.connect(here.database)) as connection:
        connection.execute(
            "UPDATE stores SET lease_token = 'x', lease_expires_at = 4000000000000, lease_holder = 'elsewhere'"
        )
        connection.commit()
    done = run(here, "reparse")
    assert done.exit_code == ExitCode.BUSY
    assert prices(here) == [3100, 3200, 3300]
    assert run(here, "reparse", "--dry-run").exit_code == ExitCode.COMPLETE  # it writes nothing, and needs no lease
