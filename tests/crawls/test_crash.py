"""SIGKILL at any instant: what was committed is kept, nothing is half done, and the next run goes on from there."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from storebot.demo.client import Changed, DemoClient
from storebot.demo.running import DemoProcess
from tests.crawls.watched import Watched, differences, path_of, store_file, wait_until

PRODUCTS, CARDS, ENTRIES = 240, 5, 30  # 48 pages of the catalogue, 8 sitemaps
BACKFILL_KILLS, REFRESH_KILLS = 25, 10
CATALOGUE = "catalogue /catalogue/page-{page}.html"
PACE_S = 0.008  # between two requests: slow enough to be killed 25 times


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoProcess]:
    with DemoProcess(products=PRODUCTS, page_size=CARDS, sitemap_size=ENTRIES) as shop:
        yield shop


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store file by which a page that was looked at isn't due again within the test."""
    return store_file(tmp_path_factory.mktemp("crash"), '[refresh]\ninterval = "1h"\nhead_pages = 60')


@pytest.fixture(scope="module")
def uninterrupted(shop: DemoProcess, stores: Path, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    watched = Watched(shop, tmp_path_factory.mktemp("whole") / "store.db", stores)
    _run_to_the_end(watched, "backfill")
    assert max(shop.requests().paths("/p/").values()) == 1  # no page is claimed twice
    return watched


def test_backfill_killed_25_times_ends_as_if_it_had_not_been(
    shop: DemoProcess, stores: Path, uninterrupted: Watched, tmp_path: Path
) -> None:
    """Cases M02, M04."""
    watched = Watched(shop, tmp_path / "store.db", stores)
    rng = random.Random(20261130)
    for kill in range(BACKFILL_KILLS):
        _killed(watched, "backfill", rng, lambda: _done(watched), f"kill {kill}")
        _assert_whole(watched)
    known = _Known.of(watched)
    assert len(known.paths) < PRODUCTS, "it was complete before the last kill: make the store larger"
    _run_to_the_end(watched, "backfill")
    known.assert_not_asked_again(shop)
    assert differences(watched.page_rows(), uninterrupted.page_rows()) == {}
    assert watched.records() == uninterrupted.records()
    assert watched.offers() == uninterrupted.offers()
    assert watched.count("SELECT count(*) FROM changes") == 0
    assert {row["state"] for row in watched.walks().values()} == {"closed"}
    _assert_dead_runs_are_interrupted(watched)


def test_refresh_killed_10_times_announces_each_change_exactly_once(
    shop: DemoProcess, uninterrupted: Watched, tmp_path: Path
) -> None:
    whole = uninterrupted.copied_to(tmp_path / "whole.db")
    whole.execute("UPDATE pages SET next_due_at = 0")  # an hour passes
    watched = whole.copied_to(tmp_path / "killed.db")
    truth = shop.advance(changed=90, vanished=6, appeared=7)
    _run_to_the_end(whole, "refresh")
    rng = random.Random(1130)
    for kill in range(REFRESH_KILLS):
        _killed(watched, "refresh", rng, lambda: _visited(watched), f"kill {kill}")
    _run_to_the_end(watched, "refresh")
    listings = {path_of(row["url"]): max(1, len(row["variants"])) for row in shop.iter_truth()}
    assert _events(watched) == _expected(truth, listings)
    events = "SELECT type, url_key, variant_id, fields FROM changes ORDER BY url_key, variant_id"
    assert watched.rows(events) == whole.rows(events)
    assert differences(watched.page_rows(), whole.page_rows()) == {}
    assert watched.records() == whole.records()
    assert watched.offers() == whole.offers()
    _assert_dead_runs_are_interrupted(watched)


# --- killing ------------------------------------------------------------------------------------------------------


def _killed(watched: Watched, phase: str, rng: random.Random, progress: Callable[[], int], name: str) -> None:
    """Start a crawl and kill it: some milliseconds after its start, or after it is seen to have got somewhere."""
    known = _Known.of(watched, phase)
    watched.shop.reset_counts()
    before, runs = progress(), watched.count("SELECT count(*) FROM runs")
    process = _start(watched, phase, rng)
    kind = rng.choice(("time", "opened", "progress", "progress", "progress"))
    if kind == "time":
        time.sleep(rng.uniform(0.0, 0.6))
    elif kind == "opened":
        _wait(process, lambda: watched.count("SELECT count(*) FROM runs") > runs)
        time.sleep(rng.uniform(0.0, 0.15))
    else:
        wanted = before + rng.randint(1, 9)
        _wait(process, lambda: progress() >= wanted)
        time.sleep(rng.uniform(0.0, 0.03))
    assert process.exitcode is None, f"{name}: it ended by itself:\n{watched.log()}"
    process.kill()
    process.join()
    process.close()
    known.assert_not_asked_again(watched.shop)


def _start(watched: Watched, phase: str, rng: random.Random) -> ForkServerProcess:
    return watched.fork(
        phase,
        DOWNLOAD_DELAY=PACE_S,
        STOREBOT_COMMIT_ROWS=rng.choice((1, 4, 100)),
        STOREBOT_COMMIT_S=rng.choice((0.01, 0.05)),
        STOREBOT_CLAIM_BATCH=rng.choice((10, 40, 200)),
    )


def _wait(process: ForkServerProcess, fact: Callable[[], bool]) -> None:
    wait_until(lambda: fact() or process.exitcode is not None)


def _run_to_the_end(watched: Watched, phase: str) -> None:
    done = watched.forked(phase)
    assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr


# --- what must hold -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Known:
    """What is committed, and so must not be fetched again."""

    paths: frozenset[str]  # product pages
    checkpoint: int  # of the catalogue
    children: frozenset[str]  # sitemaps that were read whole

    @classmethod
    def of(cls, watched: Watched, phase: str = "backfill") -> _Known:
        query = "SELECT url FROM pages WHERE content_hash IS NOT NULL AND (next_due_at > 0 OR status = 'gone')"
        paths = frozenset(path_of(row["url"]) for row in watched.rows(query))
        walks = watched.walks() if phase == "backfill" else {}  # a refresh looks at the sitemaps anew
        ended = {walk for walk, row in walks.items() if row["state"] == "ended"} - {CATALOGUE}
        children = frozenset(path_of(walk.removeprefix("sitemap ")) for walk in ended)
        return cls(paths, walks[CATALOGUE]["page"] if CATALOGUE in walks else 0, children)

    def assert_not_asked_again(self, shop: DemoClient) -> None:
        asked = shop.requests().paths("/")
        assert not self.paths & asked.keys()
        assert not self.children & asked.keys()
        numbers = [int(path[16:-5]) for path in asked if path.startswith("/catalogue/page-")]
        assert not [number for number in numbers if number < self.checkpoint]


def _done(watched: Watched) -> int:
    """Count what a backfill has committed: product pages, and pages of its catalogue."""
    parsed = watched.count("SELECT count(*) FROM pages WHERE status = 'parsed'")
    return parsed + watched.count("SELECT count(*) FROM catalogue_pages")


def _visited(watched: Watched) -> int:
    return watched.count("SELECT count(*) FROM visits")


def _assert_whole(watched: Watched) -> None:
    """Nothing is half done: a parsed page has its listings, each its one offer; a walk's pages have their rows."""
    parsed = {row["id"] for row in watched.rows("SELECT id FROM pages WHERE status = 'parsed'")}
    assert {row["page_id"] for row in watched.rows("SELECT page_id FROM listings")} == parsed
    assert watched.count("SELECT count(*) FROM listings") == watched.count("SELECT count(*) FROM offers")
    assert sorted(row["page_id"] for row in watched.rows("SELECT page_id FROM visits")) == sorted(parsed)
    _assert_kept(watched)
    known = {int(row["url"].rpartition("-")[2]) for row in watched.rows("SELECT url FROM pages")}
    for walk, row in watched.walks().items():
        if walk == CATALOGUE:
            numbers = [row["number"] for row in watched.rows("SELECT number FROM catalogue_pages ORDER BY number")]
            assert numbers == list(range(1, row["page"] + 1))
            assert known >= set(range(1, row["page"] * CARDS + 1))
        elif row["state"] == "ended":
            child = int(walk.rpartition("-")[2].partition(".")[0])
            assert known >= set(range((child - 1) * ENTRIES + 1, child * ENTRIES + 1))


def _assert_kept(watched: Watched) -> None:
    """Each record has the page that it was read from, byte for byte, and no product page is kept twice."""
    records = watched.rows("SELECT url_key, fetched_at FROM pages WHERE content_hash IS NOT NULL")
    if not records:
        return
    with watched.archive() as archive:
        assert not [row for row in records if archive.at([row["url_key"]], row["fetched_at"]) is None]
        assert not any(archive.verify())
        doubled = "SELECT page_id FROM generations JOIN pages ON id = page_id WHERE page_type = 'product' GROUP BY 1"
        assert archive.connection.execute(f"{doubled} HAVING count(*) > 1").fetchall() == []


def _assert_dead_runs_are_interrupted(watched: Watched) -> None:
    runs = watched.rows("SELECT status, kind FROM runs ORDER BY id")
    killed = [row["status"] for row in runs if row["kind"] == runs[-1]["kind"]][:-1]
    assert len(killed) > 5  # some were killed before they began
    assert set(killed) == {"interrupted"}
    assert watched.count("SELECT count(*) FROM pages WHERE claim_token <> ''") == 0


def _events(watched: Watched) -> list[tuple[str, str, str, object, object]]:
    """Return (type, path, field, before, after) of the change events, a new listing's without its fields."""
    found = []
    for row in watched.rows("SELECT * FROM changes"):
        fields = [] if row["type"] == "new" else json.loads(row["fields"])
        for field in fields or [{"field": "", "before": None, "after": None}]:
            found.append((row["type"], path_of(row["url_key"]), field["field"], field["before"], field["after"]))
    return sorted(found, key=repr)


def _expected(truth: list[Changed], listings: Mapping[str, int]) -> list[tuple[str, str, str, object, object]]:
    """Return the same by what the shop's clock did; a page that vanished is no change event yet."""
    expected: list[tuple[str, str, str, object, object]] = []
    for change in truth:
        path = path_of(change.url)
        if change.kind == "price":
            before, after = (round(float(text) * 100) for text in (change.before, change.after))
            expected.append(("changed", path, "price_minor", before, after))
        elif change.kind in ("stock", "title"):
            expected.append(("changed", path, change.field, change.before, change.after))
        elif change.kind == "appeared":
            expected += [("new", path, "", None, None)] * listings[path]
    return sorted(expected, key=repr)
