"""SIGKILL and SIGTERM during a re-parse: nothing is lost, nothing is doubled, and the next one goes on."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from storebot.exceptions import ExitCode
from tests.crawls.scrapy_process import pairs, rows
from tests.crawls.watched import wait_until
from tests.inside import Place, store_folder
from tests.reparse.running import run, start
from tests.reparse.test_reparse import LIST, MENDED, RULES, page
from tests.scripted import ScriptedShop, listing

PAGES = 180
# It takes the price to pay, and its time, and so does each row that is saved: that there is something to be killed in.
SLOW = """
import time

from storebot.stores.parsers import Page, Product, Select

SELECTORS = {"price": ".now::text"}


def product(page: Page, select: Select) -> Product:
    time.sleep(0.03)
    return Product(price=select("price"))
"""

SLOW_TO_SAVE = "CREATE TRIGGER slow AFTER INSERT ON visits BEGIN SELECT length(hex(randomblob(2000000))); END"


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


@pytest.fixture
def here(crawled: Place, tmp_path: Path) -> Place:
    shutil.copytree(crawled.database.parent, tmp_path, dirs_exist_ok=True)
    stores = store_folder(tmp_path, LIST + MENDED)
    (stores / "shop" / "product.py").write_text(SLOW, encoding="utf-8")
    return Place(crawled.url, tmp_path / "store.db", "shop", stores)


def done_pages(here: Place) -> int:
    """Count the pages that were corrected so far."""
    return len(rows(here.database, "SELECT id FROM offers WHERE cause = 'corrected'"))


def begun(here: Place, count: int) -> subprocess.Popen[str]:
    """Start a re-parse, and return it when it has corrected so many pages."""
    with closing(sqlite3.connect(here.database)) as connection:
        connection.execute("DROP TRIGGER IF EXISTS slow")
        connection.execute(SLOW_TO_SAVE)
    process = start(here, "reparse", "--workers", "2")
    wait_until(lambda: done_pages(here) >= count or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


def reading(here: Place) -> subprocess.Popen[str]:
    """Start a re-parse, and return it when it has begun to read, and has seconds to go."""
    process = start(here, "reparse", "--workers", "2")
    query = "SELECT id FROM runs WHERE kind = 'reparse' AND status = 'running'"
    wait_until(lambda: bool(rows(here.database, query)) or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


def assert_untouched(here: Place) -> None:
    assert (
        rows(here.database, "SELECT id FROM visits WHERE run_id IN (SELECT id FROM runs WHERE kind = 'reparse')") == []
    )
    assert (done_pages(here), rows(here.database, "SELECT * FROM changes")) == (0, [])
    listings = rows(here.database, "SELECT name, price_minor FROM listings")
    assert {row["name"]: row["price_minor"] for row in listings} == {
        f"Mug {number}": 100 * (number + 30) for number in range(PAGES)
    }


def children(pid: int) -> list[int]:
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def none_lives(pids: list[int]) -> bool:
    return not any(map(is_alive, pids))


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def assert_corrected_once(here: Place) -> None:
    listings = rows(here.database, "SELECT name, price_minor FROM listings")
    assert {row["name"]: row["price_minor"] for row in listings} == {
        f"Mug {number}": 100 * (number + 20) for number in range(PAGES)
    }
    assert done_pages(here) == PAGES
    assert rows(here.database, "SELECT * FROM changes") == []
    versions = rows(here.database, "SELECT DISTINCT parser_version FROM pages WHERE content_hash IS NOT NULL")
    assert len(versions) == 1
    assert rows(here.database, "SELECT lease_token FROM stores") == [{"lease_token": ""}]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_a_re_parse_that_is_killed_again_and_again_ends_as_if_it_had_not_been(here: Place) -> None:
    for count in (1, 26):
        process = begun(here, count)
        workers = children(process.pid)
        assert len(workers) == 2
        process.kill()
        process.communicate()
        wait_until(partial(none_lives, workers))  # they don't outlive their parent
    before = done_pages(here)
    assert 26 <= before < PAGES
    done = run(here, "reparse")
    assert done.fields.items() >= {("status", "complete"), ("changed", str(PAGES - before)), ("unchanged", str(before))}
    assert_corrected_once(here)
    statuses = [row["status"] for row in rows(here.database, "SELECT status FROM runs WHERE kind = 'reparse'")]
    assert statuses == ["interrupted", "interrupted", "complete"]


def test_sigterm_ends_it_resumably(here: Place) -> None:
    process = begun(here, 1)
    os.kill(process.pid, signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == ExitCode.SIGTERM, stderr
    fields = pairs(stdout.rstrip("\n").rpartition("\n")[2])
    assert fields["status"] == "interrupted"
    assert 0 < int(fields["changed"]) < PAGES
    assert run(here, "reparse").exit_code == ExitCode.COMPLETE
    assert_corrected_once(here)


def test_killed_while_it_reads_it_has_written_nothing_and_the_next_one_ends_as_if_it_had_not_been(here: Place) -> None:
    process = reading(here)
    process.kill()
    process.communicate()
    assert_untouched(here)
    assert run(here, "reparse").fields.items() >= {("status", "complete"), ("changed", str(PAGES))}
    assert_corrected_once(here)


def test_sigterm_while_it_reads_ends_it_with_nothing_written(here: Place) -> None:
    process = reading(here)
    os.kill(process.pid, signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == ExitCode.SIGTERM, stderr
    assert "nothing was written yet" in stdout
    assert pairs(stdout.rstrip("\n").rpartition("\n")[2]).items() >= {("status", "interrupted"), ("rows", "0")}
    assert_untouched(here)
    assert rows(here.database, "SELECT lease_token FROM stores") == [{"lease_token": ""}]


def test_a_worker_that_dies_ends_it_with_a_sentence_and_nothing_written(here: Place) -> None:
    process = reading(here)
    os.kill(children(process.pid)[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERNAL_ERROR
    assert "a process that read kept pages died" in stderr
    assert_untouched(here)
    (row,) = rows(here.database, "SELECT status, reason FROM runs WHERE kind = 'reparse'")
    assert (row["status"], "died" in row["reason"]) == ("failed", True)
    assert run(here, "reparse").exit_code == ExitCode.COMPLETE
    assert_corrected_once(here)
