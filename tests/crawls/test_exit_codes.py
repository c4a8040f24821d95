"""How a crawl ends, and with which exit code: complete, partial, blocked, busy, without a database, interrupted."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from storebot.db.database import Database
from storebot.demo.running import DemoStore
from tests.crawls import scrapy_process
from tests.crawls.scrapy_process import Crawl
from tests.crawls.watched import Watched, store_file, wait_until
from tests.db.backends import Scratch

PRODUCTS = 40
CLOSED_PORT = "mysql://root@127.0.0.1:1/none"


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, page_size=10, sitemap_size=20) as shop:
        yield shop


@pytest.fixture(scope="module")
def backfilled(shop: DemoStore, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched.backfilled(shop, tmp_path_factory.mktemp("backfilled") / "store.db")


@pytest.fixture
def known(backfilled: Watched, tmp_path: Path) -> Iterator[Watched]:
    with backfilled.lent(tmp_path / "copy.db") as known:
        yield known


@pytest.fixture
def fresh(shop: DemoStore, tmp_path: Path) -> Iterator[Watched]:
    """The store and an empty database."""
    yield Watched(shop, tmp_path / "store.db")
    shop.honest()


# --- 0, 2 ---------------------------------------------------------------------------------------------------------


def test_complete_run_says_so_in_its_row_and_its_last_line(backfilled: Watched) -> None:
    run = backfilled.last_run()
    assert (run["status"], run["reason"], run["kind"]) == ("complete", "", "backfill")
    assert run["finished_at"] >= run["started_at"]
    assert backfilled.count("SELECT count(*) FROM pages WHERE status = 'parsed'") == PRODUCTS


def test_unknown_store_is_one_line_on_stderr_and_exit_2(shop: DemoStore, tmp_path: Path) -> None:
    shop.reset_counts()
    done = scrapy_process.crawl("backfill", "dmo", database=tmp_path / "store.db", base_url=shop.url)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "no store is named 'dmo' (did you mean 'demo'?)" in done.stderr
    assert shop.requests().total == 0
    assert not (tmp_path / "store.db").exists()


def test_broken_store_file_is_one_line_with_its_key_and_exit_2(shop: DemoStore, tmp_path: Path) -> None:
    stores = store_file(tmp_path, changed={"delay_s = 0.0": "delay_ss = 0.0"})
    done = Watched(shop, tmp_path / "store.db", stores).crawl("refresh")
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "politeness.delay_ss" in done.stderr
    assert "delay_s" in done.stderr.partition("delay_ss")[2]
    assert shop.requests().total == 0


def test_crawl_without_a_store_is_a_usage_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scrapy", "crawl", "backfill"]
    done = subprocess.run(command, cwd=scrapy_process.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "-a store=NAME" in done.stdout + done.stderr


# --- 3 ------------------------------------------------------------------------------------------------------------


def test_page_that_answers_500_for_ever_leaves_the_run_partial(fresh: Watched) -> None:
    path = _some_path(fresh)
    fresh.shop.lie("error", f"^{path}$")
    done = fresh.forked("backfill")
    assert (done.exit_code, done.fields["status"]) == (3, "partial"), done.stderr
    assert (done.count("new"), done.count("error")) == (PRODUCTS - 1, 1)
    assert fresh.shop.requests().count(path, 500) == 3  # RETRY_TIMES is 2
    assert fresh.outcomes()[path] == ("error", "HTTP 500")
    assert fresh.last_run()["reason"] == "1 error"


def test_broken_child_of_a_sitemap_leaves_the_run_partial_and_is_read_again_by_the_next(fresh: Watched) -> None:
    """Case M04: the children that were read plus those that weren't are those that the index lists."""
    fresh.shop.lie("error", "products-2.xml.gz", status=404)
    done = fresh.forked("backfill")
    assert (done.exit_code, done.fields["status"]) == (3, "partial"), done.stderr
    assert done.count("new") == PRODUCTS  # the catalogue names them, too
    assert "products-2.xml.gz: HTTP 404" in fresh.last_run()["reason"]
    fresh.shop.honest()
    again = fresh.forked("backfill")
    assert (again.exit_code, again.fields["status"]) == (0, "complete"), again.stderr
    assert fresh.shop.requests().paths("/sitemaps/") == {"/sitemaps/products-2.xml.gz": 1}
    assert fresh.shop.requests().paths("/p/") == {}


def test_run_that_was_closed_early_is_not_complete(fresh: Watched) -> None:
    """Case M07: what a limit of Scrapy's closed is an interrupted run, and nothing treats it as a full one."""
    done = fresh.forked("backfill", CLOSESPIDER_ITEMCOUNT=5)
    run = fresh.last_run()
    assert (done.exit_code, run["status"]) == (3, "interrupted")
    assert "closespider_itemcount" in run["reason"]
    assert {walk["state"] for walk in fresh.walks().values()} <= {"walking", "ended"}  # none is closed
    again = fresh.forked("backfill")
    assert (again.exit_code, fresh.last_run()["status"]) == (0, "complete")
    assert done.count("new") + again.count("new") == PRODUCTS


def test_run_that_ran_out_of_time_is_not_complete(known: Watched) -> None:
    """Case M07."""
    known.shop.lie("slow", "/p/", delay_s=0.4)
    done = known.forked("refresh", CLOSESPIDER_TIMEOUT=3, CONCURRENT_REQUESTS=2)
    run = known.last_run()
    assert (done.exit_code, run["status"]) == (3, "interrupted")
    assert "closespider_timeout" in run["reason"]
    assert 0 < done.count("not_modified") < PRODUCTS


# --- 4 ------------------------------------------------------------------------------------------------------------


def test_refresh_of_a_store_that_forbids_everything_ends_as_blocked(known: Watched) -> None:
    before = known.records(), known.page_rows()
    known.shop.lie("forbidden")
    done = known.forked("refresh")
    run = known.last_run()
    assert (done.exit_code, run["status"]) == (4, "blocked"), done.stderr
    assert done.count("blocked") >= 10
    assert (known.records(), _without_errors(known.page_rows())) == (before[0], _without_errors(before[1]))
    assert known.count("SELECT count(*) FROM changes") == 0


def test_breaker_bounds_the_requests_to_a_store_that_says_no(shop: DemoStore, tmp_path: Path) -> None:
    """Ten blocked visits open the breaker: what was in flight then ends, and nothing more is sent."""
    with DemoStore(products=300, page_size=100, sitemap_size=300) as large:
        watched = Watched(large, tmp_path / "store.db", settings={"CONCURRENT_REQUESTS_PER_DOMAIN": 4})
        large.lie("forbidden", "/p/")
        done = watched.forked("backfill", STOREBOT_COMMIT_S=0.05, DOWNLOAD_DELAY=0.02)
        assert (done.exit_code, watched.last_run()["status"]) == (4, "blocked"), done.stderr
        sent = large.requests().paths("/p/")
        assert max(sent.values()) == 2  # the page, and its one retry
        assert sum(sent.values()) < 200  # ten pages twice, and what was sent until their commit
        assert watched.count("SELECT count(*) FROM pages WHERE status = 'pending'") == 300


# --- 7 ------------------------------------------------------------------------------------------------------------


def test_second_run_of_a_store_ends_at_once_and_the_first_is_undisturbed(known: Watched) -> None:
    known.shop.lie("slow", "/p/", delay_s=6.0)
    first = known.start("refresh", CONCURRENT_REQUESTS_PER_DOMAIN=2)
    wait_until(lambda: known.count("SELECT count(*) FROM runs") == 2)
    with DemoStore(products=PRODUCTS) as elsewhere:  # the same store by name, at an address that counts for itself
        second = Watched(elsewhere, known.database).crawl("refresh")
        assert second.exit_code == 7
        assert elsewhere.requests().total == 0
    assert first.poll() is None
    known.shop.honest()
    assert f"process {first.pid}" in second.stderr
    done = scrapy_process.finish(first)
    assert (done.exit_code, done.count("not_modified")) == (0, PRODUCTS), done.stderr
    assert known.count("SELECT count(*) FROM runs") == 2  # the second run never began


def test_run_whose_lease_was_taken_stops_and_saves_nothing_more(known: Watched) -> None:
    known.shop.lie("times_100", "/p/")  # every page would be a change
    known.shop.lie("slow", "/p/", delay_s=0.3)
    process = known.fork("refresh", CONCURRENT_REQUESTS_PER_DOMAIN=2, STOREBOT_COMMIT_ROWS=1)
    wait_until(lambda: known.count("SELECT count(*) FROM visits WHERE run_id = 2") > 0)
    known.execute("UPDATE stores SET lease_token = 'another run', lease_run_id = 99")
    saved = known.count("SELECT count(*) FROM visits")
    process.join()
    assert process.exitcode == 7, known.log()
    assert "was lost to another run" in known.log()
    assert known.count("SELECT count(*) FROM visits") == saved < 2 * PRODUCTS
    assert known.rows("SELECT lease_token FROM stores") == [{"lease_token": "another run"}]


# --- 8 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", [CLOSED_PORT, "sqlite:////proc/version/store.db"], ids=["closed port", "no folder"])
def test_database_that_cannot_be_reached_is_exit_8_before_any_request(
    shop: DemoStore, tmp_path: Path, url: str
) -> None:
    watched = Watched(shop, tmp_path / "unused.db", url=url)
    done = watched.crawl("backfill")
    assert done.exit_code == 8, done.stderr
    assert "can't be" in done.stderr
    assert shop.requests().total == 0
    assert "status=failed" in done.line


def test_database_that_was_cut_in_half_is_exit_8_and_is_left_as_it_is(known: Watched) -> None:
    """Case M03: after a power loss nothing starts silently from zero, and nothing is written over."""
    half = known.database.read_bytes()[: known.database.stat().st_size // 2]
    known.database.write_bytes(half)
    done = known.forked("backfill")
    assert done.exit_code == 8, done.stderr
    assert "malformed" in done.stderr
    assert known.shop.requests().total == 0
    assert known.database.read_bytes() == half


def test_schema_from_the_future_is_exit_8_before_any_request(known: Watched) -> None:
    known.execute("UPDATE alembic_version SET version_num = '9999'")
    done = known.forked("refresh")
    assert done.exit_code == 8
    assert "install the newer version" in done.stderr
    assert known.shop.requests().total == 0


@pytest.mark.parametrize(("full", "limit_bytes"), [("database", 500_000), ("page archive", 1_600_000)])
def test_disk_that_fills_up_stops_the_crawl_with_nothing_half_done(
    fresh: Watched, backfilled: Watched, full: str, limit_bytes: int
) -> None:
    """Cases T09, M02: the write-ahead log may not grow beyond a size, as on a full disk, in the middle of the crawl."""
    Database.open(f"sqlite:///{fresh.database}").dispose()
    archive = {"STOREBOT_ARCHIVE": "off"} if full == "database" else {}
    process = fresh.start("backfill", STOREBOT_COMMIT_ROWS=5, **archive)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
    done = scrapy_process.finish(process)
    assert done.exit_code == 8, done.stderr
    assert ("the page archive can't be written" in done.stderr) is (full == "page archive"), done.stderr
    saved = _assert_nothing_is_half_done(fresh)
    assert 0 < saved < PRODUCTS
    _assert_completed_by_the_next_run(fresh, backfilled, saved)


def test_commit_that_is_refused_stops_the_crawl_with_nothing_half_done(fresh: Watched, backfilled: Watched) -> None:
    """Cases T09, M02: the checkpoint's row can't be written, again and again; its page's rows go with it."""
    Database.open(f"sqlite:///{fresh.database}").dispose()
    fresh.execute(
        "CREATE TRIGGER full BEFORE INSERT ON catalogue_pages WHEN NEW.number = 3 "
        "BEGIN SELECT RAISE(ABORT, 'no third page'); END"
    )
    done = fresh.forked("backfill")
    assert done.exit_code == 8, done.stderr
    assert "no third page" in done.stderr
    assert fresh.walks()["catalogue /catalogue/page-{page}.html"]["page"] < 3
    saved = _assert_nothing_is_half_done(fresh)
    fresh.execute("DROP TRIGGER full")
    _assert_completed_by_the_next_run(fresh, backfilled, saved)


def test_server_whose_database_is_dropped_stops_the_crawl(fresh: Watched) -> None:
    """Case T09: of 40 pages some are saved, then the database is gone: the crawl doesn't go on to 'finished'."""
    process, scratch = _crawling_into(fresh, "mariadb")
    scratch.drop()
    done = scrapy_process.finish(process)
    assert (done.exit_code, done.fields["status"]) == (8, "failed"), done.stderr
    assert scratch.name in done.stderr


def test_server_that_drops_its_connections_costs_nothing(fresh: Watched) -> None:
    """Case T08: the saving goes on over a new connection."""
    process, scratch = _crawling_into(fresh, "postgresql")
    scratch.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{scratch.name}'")
    done = scrapy_process.finish(process)
    scratch.drop()
    assert (done.exit_code, done.fields["status"], done.count("new")) == (0, "complete", PRODUCTS), done.stderr


def _crawling_into(fresh: Watched, service: str) -> tuple[subprocess.Popen[str], Scratch]:
    """Start a backfill into a server's database, and return it when some pages are fetched."""
    scratch = Scratch(service)
    fresh.shop.lie("slow", "/p/", delay_s=0.1)
    fresh.shop.reset_counts()
    process = replace(fresh, url=scratch.url).start(
        "backfill", CONCURRENT_REQUESTS_PER_DOMAIN=2, STOREBOT_COMMIT_ROWS=2
    )
    wait_until(lambda: fresh.shop.requests().full["product"] >= 5)
    return process, scratch


# --- 130, 143, 1 --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
def test_signal_lets_what_is_in_flight_finish_and_the_next_run_resumes(
    fresh: Watched, number: signal.Signals, code: int
) -> None:
    """Case M07."""
    fresh.shop.lie("slow", "/p/", delay_s=0.3)
    fresh.shop.reset_counts()
    process = fresh.start("backfill", CONCURRENT_REQUESTS_PER_DOMAIN=4)
    wait_until(lambda: fresh.shop.requests().full["product"] >= 8)
    process.send_signal(number)
    done = scrapy_process.finish(process)
    run = fresh.last_run()
    assert (done.exit_code, run["status"]) == (code, "interrupted"), done.stderr
    fetched = fresh.shop.requests().paths("/p/", 200)
    saved = fresh.rows("SELECT url FROM pages WHERE status = 'parsed'")
    assert len(saved) == len(fetched) == done.count("new") < PRODUCTS  # all that was answered is saved
    assert fresh.count("SELECT count(*) FROM pages WHERE claim_token <> '' OR tries > 0") == 0
    assert fresh.count("SELECT count(*) FROM stores WHERE lease_token <> ''") == 0
    fresh.shop.honest()
    again = fresh.forked("backfill")
    assert (again.exit_code, again.count("new")) == (0, PRODUCTS - len(saved)), again.stderr


def test_second_signal_ends_the_process_at_once(fresh: Watched) -> None:
    fresh.shop.lie("slow", "/p/", delay_s=30.0)
    fresh.shop.reset_counts()
    process = fresh.start("backfill", LOG_LEVEL="INFO")
    wait_until(lambda: fresh.count("SELECT count(*) FROM pages WHERE status = 'in_progress'") > 0)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert any("Received SIGINT" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    assert scrapy_process.finish(process, 20).exit_code == 130
    fresh.shop.honest()
    assert fresh.forked("backfill").exit_code == 0


def test_setting_that_cannot_be_used_is_an_internal_error(fresh: Watched) -> None:
    done = fresh.forked("backfill", STOREBOT_LEASE_S="soon")
    assert done.exit_code == 1, done.stderr
    assert "soon" in done.stderr
    assert fresh.shop.requests().total == 0


# --- what several tests ask ---------------------------------------------------------------------------------------


def _some_path(watched: Watched) -> str:
    url: str = watched.shop.truth()[7]["url"]
    return url.removeprefix(watched.shop.url)


def _without_errors(pages: dict[str, scrapy_process.Row]) -> dict[str, scrapy_process.Row]:
    return {key: {**row, "last_error": "", "last_failure": ""} for key, row in pages.items()}


def _assert_nothing_is_half_done(watched: Watched) -> int:
    """Return how many pages are saved: each with its listings, their offers, and its one visit."""
    parsed = {row["id"] for row in watched.rows("SELECT id FROM pages WHERE status = 'parsed'")}
    for table in ("listings", "offers", "visits"):
        assert {row["page_id"] for row in watched.rows(f"SELECT DISTINCT page_id FROM {table}")} == parsed, table
    assert watched.count("SELECT count(*) FROM visits") == len(parsed)
    for walk in watched.walks().values():
        names = watched.rows("SELECT number FROM catalogue_pages WHERE walk = ? ORDER BY number", walk["walk"])
        assert [row["number"] for row in names] == list(range(1, walk["page"] + 1))
    return len(parsed)


def _assert_completed_by_the_next_run(watched: Watched, whole: Watched, saved: int) -> None:
    done: Crawl = watched.forked("backfill")
    assert (done.exit_code, done.count("new")) == (0, PRODUCTS - saved), done.stderr
    statuses = [row["status"] for row in watched.rows("SELECT status FROM runs ORDER BY id")]
    assert statuses[-1] == "complete"
    assert statuses[0] in ("failed", "interrupted")
    assert watched.records() == whole.records()
    assert watched.offers() == whole.offers()
