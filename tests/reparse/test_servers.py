"""On a database server: the process that saves reaches it, those that parse reach nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from storebot.db.database import Database
from storebot.db.schema import listings, offers
from storebot.exceptions import ExitCode
from tests.inside import Place, store_folder
from tests.reparse.running import run
from tests.reparse.test_reparse import LIST, MENDED, RULES, page
from tests.scripted import ScriptedShop, listing

CODE = """
import contextlib
import socket

from storebot.stores.parsers import Page, Product, Select

SELECTORS = {"price": ".now::text"}


def product(page: Page, select: Select) -> Product:
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", 9))
    return Product(price=select("price"))
"""


@pytest.mark.parametrize("backend", ["mariadb", "postgresql"], indirect=True)
def test_only_the_process_that_saves_reaches_the_server(empty_url: str, tmp_path: Path) -> None:
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1", "/p/2")).says("/p/1", page(1)).says("/p/2", page(2))
        here = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, LIST + RULES))
        here.crawl("backfill", STOREBOT_DATABASE_URL=empty_url)
    store_folder(tmp_path, LIST + MENDED)
    told = run(here, "reparse", "--dry-run", url=empty_url)
    assert (told.exit_code, told.fields["changed"]) == (ExitCode.COMPLETE, "2")
    done = run(here, "reparse", url=empty_url)
    assert (done.exit_code, done.fields["changed"]) == (ExitCode.COMPLETE, "2")
    database = Database.open(empty_url)
    with database.read() as conn:
        assert sorted(conn.execute(select(listings.c.price_minor)).scalars()) == [2100, 2200]
        assert sorted(conn.execute(select(offers.c.cause)).scalars()) == ["corrected", "corrected", "seen", "seen"]
    database.dispose()
    assert here.stores is not None
    (here.stores / "shop" / "product.py").write_text(CODE, encoding="utf-8")
    refused = run(here, "reparse", url=empty_url)
    assert (refused.exit_code, refused.fields["invalid"]) == (ExitCode.PARTIAL, "2")
    assert "NetworkForbidden" in refused.stdout
