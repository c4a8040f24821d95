"""Pages that couldn't be read are kept: a few of each run, with the reason, and never at the cost of a crawl."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest
from scrapy.settings import Settings

from storebot.core.page import Page
from storebot.failed_pages import FailedPages
from storebot.stores import saved_pages

AT_MS = 1_790_000_000_000


def page(number: int, body: bytes = b"<h1>A</h1>") -> Page:
    return Page(url=f"https://shop.example/p/{number}", body=body, headers={"content-type": "text/html"})


def names(folder: Path) -> list[str]:
    return sorted(path.name.partition("-")[0] for path in saved_pages.bodies(folder / "acme"))


def test_page_is_kept_with_the_reason_and_the_way_to_read_it_again(tmp_path: Path) -> None:
    said = FailedPages(tmp_path, "acme", 5).keep(page(1), "price: gone", AT_MS)
    (body,) = (tmp_path / "acme").glob("*.html")
    assert said == f"; the page is kept: scrapy inspect --store acme {body}"
    assert body.read_bytes() == b"<h1>A</h1>"
    assert orjson.loads(body.with_suffix(".json").read_bytes()) == {
        "url": "https://shop.example/p/1",
        "status": 200,
        "headers": {"content-type": "text/html"},
        "store": "acme",
        "fetched_at": "2026-09-21T14:13:20+00:00",
        "reason": "price: gone",
    }


def test_run_keeps_its_first_pages_and_a_page_that_fails_again_replaces_itself(tmp_path: Path) -> None:
    kept = FailedPages(tmp_path, "acme", 2)
    assert [bool(kept.keep(page(number), "", AT_MS)) for number in (1, 2, 3, 1)] == [True, True, False, True]
    assert names(tmp_path) == ["1", "2"]


def test_pages_of_earlier_runs_make_room_oldest_first(tmp_path: Path) -> None:
    earlier = FailedPages(tmp_path, "acme", 3)
    for number in (1, 2, 3):
        earlier.keep(page(number), "", AT_MS)
    for age, path in enumerate(sorted((tmp_path / "acme").glob("*.html"))):
        os.utime(path, (1000 + age, 1000 + age))
    FailedPages(tmp_path, "acme", 3).keep(page(4), "", AT_MS)
    assert names(tmp_path) == ["2", "3", "4"]
    assert len(list((tmp_path / "acme").iterdir())) == 6


def test_stores_do_not_share_their_room(tmp_path: Path) -> None:
    FailedPages(tmp_path, "acme", 1).keep(page(1), "", AT_MS)
    FailedPages(tmp_path, "other", 1).keep(page(1), "", AT_MS)
    assert names(tmp_path) == ["1"]


def test_folder_that_can_not_be_written_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "acme").write_text("a file where the folder should be")
    kept = FailedPages(tmp_path, "acme", 5)
    assert [kept.keep(page(number), "", AT_MS) for number in (1, 2)] == ["", ""]
    (record,) = caplog.records
    assert "acme: pages that fail can't be kept (STOREBOT_FAILED_PAGES): " in record.getMessage()


@pytest.mark.parametrize(
    "settings", [{"STOREBOT_FAILED_PAGES": "", "STOREBOT_FAILED_PAGES_MAX": 5}, {"STOREBOT_FAILED_PAGES_MAX": 0}]
)
def test_nothing_is_kept_where_nobody_wants_it(tmp_path: Path, settings: dict[str, object]) -> None:
    kept = FailedPages.from_settings(Settings({"STOREBOT_FAILED_PAGES": str(tmp_path), **settings}), "acme")
    assert kept.keep(page(1), "", AT_MS) == ""
    assert list(tmp_path.iterdir()) == []
