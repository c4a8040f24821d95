"""SIGKILL while changes wait in the write gate, and while they are published: nothing is lost, nothing is doubled."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Callable
from pathlib import Path

from storebot.db import promotion
from storebot.db.database import Database
from storebot.demo.running import DemoProcess
from tests.crawls.watched import Watched, path_of, store_file, wait_until
from tests.db.gated import GatedWorker, known_store
from tests.db.test_promotion import changed

PRODUCTS, CHANGES = 160, 60
KILLS = 6
_FORK = multiprocessing.get_context("forkserver")


def test_a_refresh_that_is_killed_while_its_changes_wait_announces_each_exactly_once(tmp_path: Path) -> None:
    """Its run is young until 120 pages are compared, so that nearly every kill finds some waiting."""
    stores = store_file(tmp_path, "[refresh]\ninterval = '1h'\nhead_pages = 0\nsitemaps = false\n[gate]\nsample = 120")
    rng = random.Random(4)
    with DemoProcess(products=PRODUCTS, page_size=40) as shop:
        watched = Watched(shop, tmp_path / "killed.db", stores)
        assert watched.forked("backfill").exit_code == 0
        watched.execute("UPDATE pages SET next_due_at = 0")
        whole = watched.copied_to(tmp_path / "whole.db")
        truth = shop.advance(changed=CHANGES)
        assert whole.forked("refresh").exit_code == 0
        waited = [_killed(watched, rng) for _ in range(KILLS)]
        assert max(waited) > 0, "no kill found anything waiting"
        done = watched.forked("refresh")
        assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr
    assert watched.rows("SELECT * FROM holds WHERE status IN ('waiting', 'held')") == []
    events = "SELECT type, url_key, variant_id, fields FROM changes ORDER BY url_key, variant_id"
    assert watched.rows(events) == whole.rows(events)
    assert len(watched.rows(events)) == len(truth) == CHANGES
    assert sorted(path_of(change.url) for change in truth) == sorted(
        path_of(row["url_key"]) for row in watched.rows(events)
    )
    assert (watched.records(), watched.offers(), watched.page_rows()) == (
        whole.records(),
        whole.offers(),
        whole.page_rows(),
    )
    changes_of_runs = "SELECT sum(change_events) FROM runs"  # each is some run's
    assert watched.count(changes_of_runs) == CHANGES


def _killed(watched: Watched, rng: random.Random) -> int:
    """Kill a refresh after some visits; return how many changes waited in what it left."""
    before = _visits(watched)
    process = watched.fork("refresh", DOWNLOAD_DELAY=0.008, STOREBOT_COMMIT_ROWS=3, STOREBOT_COMMIT_S=0.01)
    wanted = before + rng.randint(4, 24)
    wait_until(lambda: _visits(watched) >= wanted or process.exitcode is not None)
    assert process.exitcode is None, watched.log()
    process.kill()
    process.join()
    return watched.count("SELECT count(*) FROM holds WHERE status = 'waiting'")


def _visits(watched: Watched) -> int:
    return watched.count("SELECT count(*) FROM visits")


def test_a_process_that_is_killed_while_it_publishes_what_waited_publishes_each_exactly_once(tmp_path: Path) -> None:
    names = [str(number) for number in range(1, 61)]
    url = f"sqlite:///{tmp_path / 'store.db'}"
    database = Database.open(url)
    known_store(database, names)
    shop = GatedWorker(database, sample=1000)
    shop.save(*changed(shop, 1, 40))
    rng = random.Random(8)
    for _ in range(KILLS):
        process = _FORK.Process(target=_publish, args=(url,))
        wanted = _published(database) + rng.randint(1, 5)
        process.start()
        wait_until(_reached(database, wanted, process))
        process.kill()
        process.join()
        assert _published(database) + _waiting(database) == 40
    assert _waiting(database) > 0, "all was published before the last kill"
    process = _FORK.Process(target=_publish, args=(url,))
    process.start()
    process.join(60)
    assert (process.exitcode, _waiting(database), _published(database)) == (0, 0, 40)
    rows = _rows(database, "SELECT id, url_key FROM changes")
    assert len({row[0] for row in rows}) == len({row[1] for row in rows}) == 40
    assert len(_rows(database, "SELECT id FROM offers")) == len(names) + 40
    database.dispose()


def _reached(database: Database, wanted: int, process: multiprocessing.context.ForkServerProcess) -> Callable[[], bool]:
    return lambda: _published(database) >= wanted or process.exitcode is not None


def _publish(url: str) -> None:
    """Publish what waits, one visit a transaction; runs in a process of its own."""
    promotion._CHUNK = 1
    database = Database.open(url)
    GatedWorker(database, sample=1000).promote()


def _published(database: Database) -> int:
    return len(_rows(database, "SELECT id FROM changes"))


def _waiting(database: Database) -> int:
    return len(_rows(database, "SELECT id FROM holds WHERE status = 'waiting'"))


def _rows(database: Database, query: str) -> list[tuple[object, ...]]:
    with database.read() as conn:
        return [tuple(row) for row in conn.exec_driver_sql(query)]
