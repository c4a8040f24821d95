"""The walk over a catalogue as a spider carries it out: what is saved, in which order, and what is asked for next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus
from tests.inside import Crawled, Place, store_folder
from tests.scripted import Answer, ScriptedShop, challenge, listing, product

ONLY = "[discover]\nsitemaps = false\n[politeness]\ndelay_s = 0\nconcurrency = 4\n"
COUNTED = '[catalogue]\nurl = "/all?page={page}"\n'
WALK = "catalogue /all?page={page}"


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    """A shop of three catalogue pages with two products each; what lies past the end has none."""
    with ScriptedShop() as shop:
        for number in range(1, 7):
            shop.says(f"/p/{number}", product(f"Mug {number}"))
        for page in range(1, 4):
            shop.says(f"/all?page={page}", listing(f"/p/{2 * page - 1}", f"/p/{2 * page}"))
        for page in range(4, 14):
            shop.says(f"/all?page={page}", listing())
        yield shop


def place(shop: ScriptedShop, tmp_path: Path, text: str = COUNTED) -> Place:
    return Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, ONLY + text))


def saved(done: Crawled) -> list[tuple[int, int]]:
    """Return the pages of the walk that were saved below its checkpoint, with the number of products on each."""
    rows = done.rows("SELECT number, entries FROM catalogue_pages ORDER BY number")
    return [(row["number"], row["entries"]) for row in rows]


def test_page_that_comes_after_later_ones_is_saved_before_them(shop: ScriptedShop, tmp_path: Path) -> None:
    """A checkpoint out of its order is refused by the database, and would end the run as failed."""
    shop.says("/all?page=1", challenge(), listing("/p/1", "/p/2"))
    done = place(shop, tmp_path).crawl("backfill")
    asked = [path for path in shop.paths("/all") if path in ("/all?page=1", "/all?page=2", "/all?page=3")]
    assert asked[-1] == "/all?page=1"
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 6})
    assert saved(done) == [(1, 2), (2, 2), (3, 2)]
    assert done.walks() == {WALK: "closed"}


def test_page_that_fails_holds_the_checkpoint_and_the_rows_beyond_it_are_saved(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    shop.says("/all?page=2", Answer(status=0), Answer(status=0), listing("/p/3", "/p/4"))
    here = place(shop, tmp_path)
    first = here.crawl("backfill")
    assert (first.summary.status, first.summary.exit_code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert first.rows("SELECT page, state FROM checkpoints") == [{"page": 1, "state": "incomplete"}]
    assert set(first.visits()) == {"/p/1", "/p/2", "/p/5", "/p/6"}
    shop.asked.clear()
    shop.says("/all?page=2", listing("/p/3", "/p/4"))
    second = here.crawl("backfill")
    assert (second.summary.status, second.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 2})
    assert second.walks() == {WALK: "closed"}


def test_page_that_is_blocked_twice_ends_nothing_and_is_told(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all?page=3", challenge())
    done = place(shop, tmp_path).crawl("backfill")
    assert done.summary.status is RunStatus.PARTIAL
    assert "page 3" in done.summary.reason
    assert done.rows("SELECT page FROM checkpoints") == [{"page": 2}]
    assert shop.paths("/all?page=3").count("/all?page=3") >= 2


def test_resume_steps_back_one_page_and_asks_for_none_below_it(shop: ScriptedShop, tmp_path: Path) -> None:
    here = place(shop, tmp_path)
    shop.says("/all?page=3", Answer(status=500))
    assert here.crawl("backfill").rows("SELECT page FROM checkpoints") == [{"page": 2}]
    shop.says("/all?page=3", listing("/p/5", "/p/6"))
    shop.asked.clear()
    assert here.crawl("backfill").summary.status is RunStatus.COMPLETE
    assert shop.paths("/all?page=1") == []
    assert shop.paths("/all?page=2") == ["/all?page=2"]


def test_walk_that_ended_in_a_run_that_was_not_complete_is_not_walked_again(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/p/6", Answer(b"<title>Oops</title>" * 99, status=500), product("Mug 6"))
    here = place(shop, tmp_path)
    assert here.crawl("backfill").walks() == {WALK: "ended"}
    shop.asked.clear()
    here.crawl("backfill", STOREBOT_ERROR_BACKOFF_S=0)
    assert shop.paths("/all") == []


def test_refresh_looks_at_the_head_alone_and_leaves_the_checkpoint(shop: ScriptedShop, tmp_path: Path) -> None:
    here = place(shop, tmp_path, COUNTED + "[refresh]\nhead_pages = 2\n")
    here.crawl("backfill")
    shop.asked.clear()
    shop.says("/all?page=1", listing("/p/7", "/p/1")).says("/p/7", product("Mug 7"))
    done = here.crawl("refresh")
    assert sorted(shop.paths("/all")) == ["/all?page=1", "/all?page=2"]
    assert done.summary.outcomes == {Outcome.NEW: 1, Outcome.UNCHANGED: 6}
    assert done.summary.status is RunStatus.COMPLETE
    assert done.walks() == {WALK: "closed"}
    assert saved(done) == [(1, 2), (2, 2), (3, 2)]


def test_head_that_cannot_be_seen_leaves_the_refresh_partial(shop: ScriptedShop, tmp_path: Path) -> None:
    here = place(shop, tmp_path)
    here.crawl("backfill")
    shop.says("/all?page=1", Answer(status=500))
    done = here.crawl("refresh")
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.PARTIAL, {Outcome.UNCHANGED: 6})
    assert done.walks() == {WALK: "closed"}


def test_refresh_without_a_head_asks_for_no_catalogue_page(shop: ScriptedShop, tmp_path: Path) -> None:
    here = place(shop, tmp_path, COUNTED + "[refresh]\nhead_pages = 0\n")
    here.crawl("backfill")
    shop.asked.clear()
    assert here.crawl("refresh").summary.status is RunStatus.COMPLETE
    assert shop.paths("/all") == []


def test_walk_by_next_links_goes_from_page_to_page(shop: ScriptedShop, tmp_path: Path) -> None:
    for page, following in ((1, "/list/b"), (2, "/list/c")):
        answer = listing(f"/p/{2 * page - 1}", f"/p/{2 * page}")
        link = f'<a class="next" href="{following}">more</a>'.encode()
        shop.says(("/list", "/list/b")[page - 1], Answer(answer.body.replace(b"</body>", link + b"</body>")))
    shop.says("/list/c", listing("/p/5", "/p/6"))
    done = place(shop, tmp_path, '[catalogue]\nurl = "/list"\nnext = "a.next::attr(href)"\n').crawl("backfill")
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 6})


def test_two_catalogues_are_two_walks(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/sale", listing("/p/1", "/p/6"))
    done = place(shop, tmp_path, '[catalogue]\nurl = ["/all?page={page}", "/sale"]\n').crawl("backfill")
    assert done.walks() == {WALK: "closed", "catalogue /sale": "closed"}
    assert done.summary.outcomes == {Outcome.NEW: 6}


def test_walk_longer_than_the_store_file_allows_is_incomplete(shop: ScriptedShop, tmp_path: Path) -> None:
    done = place(shop, tmp_path, COUNTED + "max_pages = 2\n").crawl("backfill")
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.PARTIAL, {Outcome.NEW: 4})
    assert "max_pages" in done.summary.reason
