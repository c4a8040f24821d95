"""``scrapy coverage``: what a crawl recorded, as a table, as JSON and as lists."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from sqlalchemy import select

from storebot.commands.coverage import Command
from storebot.db import coverage
from storebot.db.database import Database
from storebot.db.schema import stores
from storebot.demo.running import DemoStore
from tests.inside import Place


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A backfill of a shop whose catalogue leaves two products out."""
    database = tmp_path_factory.mktemp("coverage") / "store.db"
    with DemoStore(products=30, page_size=10, sitemap_size=15, variant_share=0) as shop:
        hidden = [row["url"].rpartition("/")[2] for row in shop.iter_truth()][:2]
        shop.lie("unlisted", "^/catalogue", entries=f"({'|'.join(hidden)})$")
        Place(shop.url, database).crawl("backfill")
        yield database


def run(database: Path, *args: str) -> int:
    command = Command()
    command.settings = Settings({"STOREBOT_DATABASE_URL": f"sqlite:///{database}", "STOREBOT_STORES": ""})
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    command.exitcode = 0
    options = parser.parse_args(args)
    command.run([], options)
    return command.exitcode


def test_a_store_whose_sources_were_read_whole_is_complete(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(crawled, "--store", "demo") == 0
    text = capsys.readouterr().out
    assert "demo: complete" in text
    assert "on sale and named by every source: 28; by none: 0" in text
    assert run(crawled, "--store", "demo", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: (one["named"], one["lacks"]) for name, one in found["sources"].items()} == {
        "catalogue": (28, 2),
        "sitemap": (30, 0),
    }


def test_what_was_counted_is_kept_for_the_dashboard(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(crawled, "--store", "demo", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert run(crawled, "--store", "unknown") == 3
    database = Database.open(f"sqlite:///{crawled}")
    with database.read() as conn:
        kept = coverage.kept(conn, "demo")
        assert kept is not None
        assert kept.found == found
        assert coverage.kept(conn, "unknown") is None
        assert "unknown" not in conn.execute(select(stores.c.name)).scalars().all()
    database.dispose()


def test_the_pages_that_one_source_lacks(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(crawled, "--store", "demo", "--list", "catalogue", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["named"]["catalogue"] for row in rows] == [None, None]
    assert run(crawled, "--store", "demo", "--list", "catalogue", "--limit", "1") == 0
    text = capsys.readouterr().out
    assert (text.count("/p/"), "named by sitemap" in text) == (1, True)
    assert run(crawled, "--store", "demo", "--list", "extra") == 0
    assert capsys.readouterr().out == "no such page\n"


def test_one_page_has_its_history(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(crawled, "--store", "demo", "--list", "sitemap", "--json") == 0
    assert run(crawled, "--store", "demo", "--list", "catalogue", "--limit", "1", "--json") == 0
    url = json.loads(capsys.readouterr().out.splitlines()[-1])["url"]
    assert run(crawled, "--store", "demo", "--page", url) == 0
    text = capsys.readouterr().out
    assert "observed" in text
    assert "GBP" in text
    assert run(crawled, "--store", "demo", "--page", url, "--json") == 0
    (span,) = json.loads(capsys.readouterr().out)["history"]
    assert (span["kind"], span["looks"], span["offer"]["cause"]) == ("observed", 1, "seen")
    assert run(crawled, "--store", "demo", "--page", f"{url}0") == 0
    assert "no such page" in capsys.readouterr().out


def test_what_is_not_proven_is_exit_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "store.db"
    with DemoStore(products=30, page_size=10, sitemap_size=15) as shop:
        shop.lie("error", "/sitemaps/products-2", status=500)
        Place(shop.url, database).crawl("backfill")
    assert run(database, "--store", "demo") == 3
    text = capsys.readouterr().out
    assert "demo: partial\n  sitemap: sitemap " in text
    assert "products-2.xml.gz: HTTP 500" in text


def test_a_store_that_nobody_read_is_exit_3_and_no_database_exit_8(
    crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(crawled, "--store", "nobody") == 3
    assert "scrapy crawl backfill" in capsys.readouterr().out
    assert run(tmp_path / "none.db", "--store", "demo") == 8


@pytest.mark.parametrize("args", [(), ("--store", "demo", "--list", "all"), ("--store", "demo", "--limit", "0")])
def test_wrong_use_is_said(crawled: Path, args: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run(crawled, *args)
