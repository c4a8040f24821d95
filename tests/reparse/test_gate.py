"""The write gate of a re-parse: rules that break what is published write nothing, unless somebody answers for it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from storebot.exceptions import ExitCode
from tests.crawls.scrapy_process import rows
from tests.inside import Place, store_folder
from tests.reparse.running import run
from tests.reparse.test_reparse import LIST, everything, prices
from tests.scripted import FILLER, Answer, ScriptedShop, listing

PAGES = 40
RULES = (
    '[product]\nname = ["h1::text"]\nprice = [".old::attr(data-price)"]\ncurrency = "EUR"\n'
    'availability = [".stock::text"]\n'
)
WITHOUT_PRICE = RULES.replace(".old", ".gone")
HUNDREDFOLD = (
    "from storebot.stores.parsers import Page, Product, Select\n\n"
    'SELECTORS = {"price": ".old::attr(data-price)"}\n\n\n'
    "def product(page: Page, select: Select) -> Product:\n"
    '    return Product(price=(select("price") or "").replace(".00", "00.00"))\n'
)


def page(number: int) -> Answer:
    """A page whose prices stand in attributes alone: where a rule misses them, nobody else finds one."""
    text = (
        f'<html><body><h1>Mug {number}</h1><s class="old" data-price="{number + 30}.00"></s>'
        f'<b class="now" data-price="{number + 20}.00"></b><span class="stock">In stock</span>{FILLER}</body></html>'
    )
    return Answer(text.encode(), headers={"Content-Type": "text/html; charset=utf-8", "ETag": f'"{number}"'})


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("crawled")
    paths = [f"/p/{number}" for number in range(PAGES)]
    with ScriptedShop() as shop:
        shop.says("/all", listing(*paths))
        for number, path in enumerate(paths):
            shop.says(path, page(number))
        place = Place(shop.url, folder / "store.db", "shop", store_folder(folder, LIST + RULES))
        place.crawl("backfill")
    return place


def with_rules(crawled: Place, folder: Path, rules: str, code: str = "") -> Place:
    shutil.copytree(crawled.database.parent, folder, dirs_exist_ok=True)
    stores = store_folder(folder, LIST + rules)
    if code:
        (stores / "shop" / "product.py").write_text(code, encoding="utf-8")
    return Place(crawled.url, folder / "store.db", "shop", stores)


def records(here: Place) -> dict[str, object]:
    found = everything(here)
    return {name: found[name] for name in ("pages", "listings", "offers", "changes", "visits")}


def test_rules_that_lose_all_prices_write_nothing(crawled: Place, tmp_path: Path) -> None:
    here = with_rules(crawled, tmp_path, WITHOUT_PRICE)
    before = records(here)
    done = run(here, "reparse")
    assert done.exit_code == ExitCode.HELD, done.stdout + done.stderr
    assert records(here) == before
    assert done.fields.items() >= {("status", "held"), ("held", "40"), ("rows", "0")}
    assert "nothing was written: 40 of 40 known pages lost their price (100%); the limit is 10%" in done.line
    table = [text.split() for text in done.stdout.splitlines()]
    assert ["lost", "40", "of", "40", "100%", "10%"] in table
    assert 'scrapy reparse --store shop --accept "WHO: WHY"' in done.stdout
    (row,) = rows(here.database, "SELECT status, reason, counts, gate FROM runs WHERE kind = 'reparse'")
    assert (row["status"], json.loads(row["counts"])) == ("held", {})
    assert "lost their price" in row["reason"]
    assert {one["gate"]: one["state"] for one in json.loads(row["gate"])["gates"]}["lost"] == "tripped"
    assert rows(here.database, "SELECT lease_token FROM stores") == [{"lease_token": ""}]


def test_rules_that_read_prices_a_hundredfold_write_nothing(crawled: Place, tmp_path: Path) -> None:
    here = with_rules(crawled, tmp_path, RULES, HUNDREDFOLD)
    before = records(here)
    done = run(here, "reparse")
    assert done.exit_code == ExitCode.HELD, done.stdout + done.stderr
    assert "the prices of 40 pages moved to 100 times what they were (median); the limit is a factor of 3" in done.line
    assert records(here) == before


def test_what_rows_have_wrong_on_three_pages_is_corrected(crawled: Place, tmp_path: Path) -> None:
    here = with_rules(crawled, tmp_path, RULES)
    with closing(sqlite3.connect(here.database)) as connection:
        spoilt = "UPDATE listings SET price_minor = price_minor * 100 WHERE name IN ('Mug 1', 'Mug 2', 'Mug 3')"
        connection.execute(spoilt)
        connection.commit()
    done = run(here, "reparse")
    assert done.exit_code == ExitCode.COMPLETE
    assert done.fields.items() >= {("changed", "3"), ("unchanged", "37"), ("status", "complete")}
    assert prices(here) == prices(crawled)


def test_dry_run_says_what_the_gate_would_say(crawled: Place, tmp_path: Path) -> None:
    here = with_rules(crawled, tmp_path, WITHOUT_PRICE)
    before = everything(here)
    done = run(here, "reparse", "--dry-run")
    assert done.exit_code == ExitCode.HELD
    assert "the write gate would hold it" in done.stdout
    (told, last) = run(here, "reparse", "--dry-run", "--json").json
    assert [(one["gate"], one["pages"], one["limit"]) for one in told["gate"]["tripped"]] == [("lost", 40, 0.1)]
    assert last["exit_code"] == ExitCode.HELD
    mended = with_rules(crawled, tmp_path, RULES.replace(".old", ".now"))
    done = run(mended, "reparse", "--dry-run")
    assert (done.exit_code, everything(here)) == (ExitCode.COMPLETE, before)
    assert "the write gate would let it through" in done.stdout


def test_who_accepts_what_is_held_stands_in_the_run(crawled: Place, tmp_path: Path) -> None:
    here = with_rules(crawled, tmp_path, RULES, HUNDREDFOLD)
    for wrong in ("yes", ":", "Ann:"):
        assert run(here, "reparse", "--accept", wrong).exit_code == ExitCode.USAGE
    done = run(here, "reparse", "--accept", "Ann: the shop shows cents")
    assert done.exit_code == ExitCode.COMPLETE, done.stdout + done.stderr
    assert sorted(prices(here)) == sorted(100 * price for price in prices(crawled))
    assert "accepted by Ann: the shop shows cents" in done.line
    (row,) = rows(here.database, "SELECT status, reason, overrides FROM runs WHERE kind = 'reparse'")
    assert (row["status"], "accepted by Ann" in row["reason"]) == ("complete", True)
    (override,) = json.loads(row["overrides"])
    assert (override["who"], override["why"]) == ("Ann", "the shop shows cents")
