"""What crawls keep: every accepted page and no other, before its record is committed, and never fetched in vain."""

from __future__ import annotations

import gzip
import logging
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from storebot.archive import Archive, archive_path
from storebot.archive.rereading import page_of, read_again
from storebot.exceptions import ExitCode
from storebot.items import KeptPage, Outcome, Target
from storebot.stores import load_store
from tests.crawls.scrapy_process import Crawl, crawl
from tests.inside import Crawled, Place, store_folder
from tests.scripted import FILLER, Answer, ScriptedShop, challenge, listing, product

STORE = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\nconcurrency = 4\n'


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        yield shop


def place(shop: ScriptedShop, folder: Path, text: str = "") -> Place:
    return Place(shop.url, folder / "store.db", "shop", store_folder(folder, STORE + text))


def kept(here: Place) -> dict[str, list[KeptPage]]:
    """Return what the archive has, by path."""
    archive = Archive.read(archive_path(here.database.parent / "pages", here.store))
    found: dict[str, list[KeptPage]] = {}
    for page in archive.every():
        found.setdefault("/" + page.url.split("/", 3)[3], []).append(page)
    archive.close()
    return found


def test_every_accepted_page_is_kept_with_its_headers_and_no_other(shop: ScriptedShop, tmp_path: Path) -> None:
    """Case K02."""
    paths = [f"/p/{name}" for name in ("good", "blocked", "missing", "empty", "broken", "moved", "invalid")]
    shop.says("/all", listing(*paths))
    shop.says("/p/good", product(ETag='"1"', Set_Cookie="session=secret", X_Powered_By="PHP"))
    shop.says("/p/blocked", challenge())
    shop.says("/p/empty", Answer(f"<html><body>{FILLER}</body></html>".encode()))
    shop.says("/p/broken", Answer(product().body, 500))
    shop.says("/p/moved", Answer(status=301, headers={"Location": "/about"}))
    shop.says("/about", Answer(f"<html><body>{FILLER}</body></html>".encode()))
    shop.says("/p/invalid", product(price="soon"))
    here = place(shop, tmp_path)
    crawled = here.crawl("backfill")
    assert crawled.visits()["/p/invalid"]["outcome"] == "invalid"
    pages = kept(here)
    assert pages.keys() == {"/all", "/p/good"}
    (good,) = pages["/p/good"]
    assert good.body == product().body
    assert good.headers.items() >= {("content-type", "text/html"), ("etag", '"1"')}
    assert not good.headers.keys() & {"set-cookie", "x-powered-by", "content-length"}
    (row,) = crawled.rows("SELECT * FROM pages WHERE content_hash IS NOT NULL")
    assert (good.url_key, good.fetched_at_ms, good.content_hash) == (
        row["url_key"],
        row["fetched_at"],
        row["content_hash"],
    )
    (catalogue,) = pages["/all"]
    assert (catalogue.page_type, catalogue.body) == ("catalogue", listing(*paths).body)


def test_an_unchanged_page_is_a_generation_and_a_304_is_none(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/1", "/p/2"))
    shop.says("/p/1", product())
    shop.says("/p/2", product(ETag='"2"'), Answer(status=304, headers={"ETag": '"2"'}))
    here = place(shop, tmp_path)
    here.crawl("backfill")
    refresh = here.crawl("refresh")
    assert {path: row["outcome"] for path, row in refresh.visits().items()} == {
        "/p/1": "unchanged",
        "/p/2": "not_modified",
    }
    pages = kept(here)
    assert (len(pages["/p/1"]), len(pages["/p/2"])) == (2, 1)
    assert len({page.content_hash for page in pages["/p/1"]}) == 1


def test_a_page_that_moved_is_kept_under_the_key_that_it_goes_by(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/old"))
    shop.says("/p/old", Answer(status=301, headers={"Location": "/p/new"}))
    shop.says("/p/new", product())
    here = place(shop, tmp_path)
    crawled = here.crawl("backfill")
    (page,) = next(pages for path, pages in kept(here).items() if path != "/all")
    (row,) = crawled.rows("SELECT url_key FROM pages WHERE content_hash IS NOT NULL")
    assert page.url_key == row["url_key"]
    assert page.final_url == f"{shop.url}/p/new"


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-8", "utf-16"])
def test_a_page_read_again_gives_the_same_record_byte_for_byte(
    shop: ScriptedShop, tmp_path: Path, encoding: str
) -> None:
    """Case K04: it came compressed, in an encoding that only its header names."""
    text = product("Käsemesser „Ö“" if encoding != "iso-8859-1" else "Käsemesser Ö").body.decode("unicode_escape")
    text = text.replace("</body>", "<p>naïve café, 5 °C</p></body>")
    headers = {"Content-Type": f"text/html; charset={encoding}", "Content-Encoding": "gzip"}
    shop.says("/all", listing("/p/1"))
    shop.says("/p/1", Answer(gzip.compress(text.encode(encoding, "replace")), headers=headers))
    here = place(shop, tmp_path)
    crawled = here.crawl("backfill")
    (row,) = crawled.rows("SELECT l.*, p.source_hash, p.url_key FROM listings l JOIN pages p ON p.id = page_id")
    (page,) = kept(here)["/p/1"]
    store = load_store("shop", [here.stores or Path()], base_url=shop.url)
    visit = read_again(store, page_of(page), Target(store="shop", url=page.url, url_key=page.url_key))
    (again,) = visit.listings
    assert again.name == row["name"]
    assert "Käsemesser" in (again.name or "")
    assert (again.record_hash, again.details_hash) == (row["record_hash"], row["details_hash"])
    assert (visit.source_hash or None, visit.page_sha256) == (row["source_hash"], row["page_sha256"])


def test_a_second_backfill_fetches_nothing_that_is_had(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/1", "/p/2")).says("/p/1", product()).says("/p/2", product("Cup"))
    here = place(shop, tmp_path)
    here.crawl("backfill")
    here.crawl("backfill")
    assert sorted(shop.paths("/p/")) == ["/p/1", "/p/2"]


# --- a database that was restored from a backup ---------------------------------------------------------------------


@pytest.fixture
def restored(shop: ScriptedShop, tmp_path: Path) -> Place:
    """A shop that was crawled twice, and its database as it was after the first crawl: it knows /p/1 alone."""
    shop.says("/all", listing("/p/1"), listing("/p/1", "/p/2", "/p/3"))
    for number in (1, 2, 3):
        shop.says(f"/p/{number}", product(f"Mug {number}", ETag=f'"{number}"'))
    here = place(shop, tmp_path)
    here.crawl("backfill")
    shutil.copy(here.database, tmp_path / "backup.db")
    here.crawl("backfill")
    shutil.copy(tmp_path / "backup.db", here.database)
    shop.asked.clear()
    return here


def test_pages_that_the_database_lost_are_read_from_the_archive(
    shop: ScriptedShop, restored: Place, caplog: pytest.LogCaptureFixture
) -> None:
    pages = kept(restored)
    with caplog.at_level(logging.INFO):
        crawled = restored.crawl("backfill")
    assert shop.paths("/p/") == []
    assert crawled.summary.outcomes == {Outcome.NEW: 2}
    assert crawled.summary.exit_code is ExitCode.COMPLETE
    assert "2 pages were read from the page archive, not fetched" in caplog.text
    rows = {row["url_key"]: row for row in crawled.rows("SELECT * FROM pages")}
    for path in ("/p/2", "/p/3"):
        page = pages[path][0]
        row = rows[page.url_key]
        assert (row["fetched_at"], row["checked_at"], row["etag"]) == (page.fetched_at_ms,) * 2 + (
            page.headers["etag"],
        )
    visits = crawled.visits()
    assert (visits["/p/2"]["requests"], visits["/p/2"]["outcome"]) == (0, "new")
    assert kept(restored).keys() == pages.keys()


def test_a_page_that_is_older_than_the_store_allows_is_fetched(shop: ScriptedShop, restored: Place) -> None:
    here = place(shop, restored.database.parent, '[archive]\nreuse_within = "0s"\n')
    crawled = here.crawl("backfill")
    assert sorted(shop.paths("/p/")) == ["/p/2", "/p/3"]
    assert crawled.summary.outcomes == {Outcome.NEW: 2}


def test_pages_that_were_fetched_for_another_database_are_not_had(shop: ScriptedShop, restored: Place) -> None:
    fresh = replace(restored, database=restored.database.with_name("fresh.db"))
    crawled = fresh.crawl("backfill")
    assert sorted(shop.paths("/p/")) == ["/p/1", "/p/2", "/p/3"]
    assert crawled.summary.outcomes == {Outcome.NEW: 3}


def test_a_page_that_is_damaged_is_fetched_again_and_written_anew(shop: ScriptedShop, restored: Place) -> None:
    """Case K01."""
    path = archive_path(restored.database.parent / "pages", "shop")
    archive = Archive.open(path)
    archive.connection.execute("UPDATE bodies SET packed = x'00'")
    archive.close()
    crawled = restored.crawl("backfill")
    assert sorted(shop.paths("/p/")) == ["/p/2", "/p/3"]
    assert crawled.summary.outcomes == {Outcome.NEW: 2}
    archive = Archive.read(path)
    assert archive.latest(kept(restored)["/p/2"][0].url_key) is not None
    archive.close()


# --- retention ------------------------------------------------------------------------------------------------------


def test_old_generations_go_as_new_ones_come(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/1", "/p/2"))
    shop.says("/p/1", *(product(price=f"{10 + number}.00") for number in range(6)))
    shop.says("/p/2", product())
    here = place(shop, tmp_path, "[archive]\nkeep_last = 2\nkeep_changed = false\n")
    here.crawl("backfill")
    for _ in range(5):
        here.crawl("refresh")
    pages = kept(here)
    assert (len(pages["/p/1"]), len(pages["/p/2"])) == (2, 2)
    assert b"15.00" in pages["/p/1"][-1].body


def test_generations_whose_record_differed_stay(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/1", "/p/2"))
    shop.says("/p/1", *(product(price=f"{10 + number}.00") for number in range(6)))
    shop.says("/p/2", product())
    here = place(shop, tmp_path, "[archive]\nkeep_last = 1\n")
    here.crawl("backfill")
    for _ in range(5):
        here.crawl("refresh")
    pages = kept(here)
    assert (len(pages["/p/1"]), len(pages["/p/2"])) == (6, 3)  # the first, the one before the newest, the newest


# --- switched off, and in the way ------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", ["", "off"])
def test_nothing_is_kept_where_it_is_switched_off(shop: ScriptedShop, tmp_path: Path, off: str) -> None:
    shop.says("/all", listing("/p/1")).says("/p/1", product())
    crawled = place(shop, tmp_path).crawl("backfill", STOREBOT_ARCHIVE=off)
    assert crawled.summary.exit_code is ExitCode.COMPLETE
    assert not (tmp_path / "pages").exists()
    assert crawled.rows("SELECT page_sha256 FROM listings")[0]["page_sha256"]


def test_an_archive_that_cannot_be_opened_is_exit_8_before_anything_is_fetched(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    path = archive_path(tmp_path, "shop")
    path.write_bytes(b"no archive at all" * 500)
    done = own_process(shop, tmp_path, STOREBOT_ARCHIVE=str(tmp_path))
    assert done.exit_code == ExitCode.DATABASE
    assert f"{path}: the page archive can't be opened: file is not a database" in done.line
    assert shop.asked == []


def test_a_relative_folder_is_refused_under_scrapyd(shop: ScriptedShop, tmp_path: Path) -> None:
    done = own_process(shop, tmp_path, STOREBOT_ARCHIVE="var/pages", SCRAPYD_JOB="1")
    assert done.exit_code == ExitCode.USAGE
    assert "STOREBOT_ARCHIVE: var/pages: give an absolute path" in done.line
    assert shop.asked == []


def own_process(shop: ScriptedShop, folder: Path, **env: str) -> Crawl:
    """Run a backfill as a user does: a run that can't be opened leaves a client that only its process's end closes."""
    stores = store_folder(folder, STORE)
    return crawl("backfill", "shop", database=folder / "store.db", stores=stores, base_url=shop.url, env=env)


def test_a_full_disk_ends_the_crawl_with_exit_8_and_both_files_sound(
    shop: ScriptedShop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No record stands without its page: the archive is written first, and what it refuses isn't committed."""
    paths = [f"/p/{number}" for number in range(60)]
    shop.says("/all", listing(*paths))
    for path in paths:
        noise = "".join(chr(33 + ord(sign) * 7 % 90) for sign in path * 10)
        shop.says(path, product(f"Mug {path}", noise=noise))
    opened = Archive.open

    def small(path: Path, *, create: bool = True) -> Archive:
        archive = opened(path, create=create)
        archive.connection.execute("PRAGMA max_page_count = 14")
        return archive

    monkeypatch.setattr(Archive, "open", small)
    crawled = place(shop, tmp_path).crawl("backfill", STOREBOT_COMMIT_ROWS=5)
    assert crawled.summary.exit_code is ExitCode.DATABASE
    assert "the page archive can't be written: database or disk is full" in crawled.summary.reason
    assert_no_record_without_its_page(crawled, tmp_path / "pages")


def assert_no_record_without_its_page(crawled: Crawled, folder: Path) -> None:
    archive = Archive.read(archive_path(folder, "shop"))
    assert not any(archive.verify())
    records = crawled.rows("SELECT url_key, fetched_at FROM pages WHERE content_hash IS NOT NULL")
    missing = [row for row in records if archive.at([row["url_key"]], row["fetched_at"]) is None]
    archive.close()
    assert missing == []
    assert crawled.rows("PRAGMA integrity_check")[0]["integrity_check"] == "ok"
