"""Block pages: added up, drawn, listed, and led to the page where one is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import insert
from starlette.testclient import TestClient

from storebot.core.page import Page
from storebot.dashboard.app import create_app
from storebot.dashboard.site import Site
from storebot.db.database import Database, now_ms
from storebot.db.schema import blocks
from storebot.failed_pages import FailedPages
from storebot.items import RunStatus
from tests.dashboard.conftest import HERE
from tests.dashboard.hostile import NASTY
from tests.dashboard.pages.states import HOUR, MINUTE, blocked, opened, ran


@pytest.fixture
def blocks_of(local_database: Database, site: Site, tmp_path: Path) -> Iterator[TestClient]:
    """A dashboard over two shops that block."""
    with local_database.write() as conn:
        now = now_ms(conn)
        this_hour = now - now % HOUR
        run = ran(conn, "acme", this_hour - 2 * HOUR, RunStatus.BLOCKED, counts={"blocked": 9}, lasted_ms=HOUR)
        blocked(conn, "acme", run, this_hour - 2 * HOUR, 9)
        other = ran(conn, "other", this_hour - HOUR, RunStatus.BLOCKED, counts={"blocked": 1})
        blocked(conn, "other", other, this_hour - HOUR, 1, vendor="akamai")
        opened(conn, "acme", now)
    page = Page(url="https://acme.example/p/3", body=b"<html>no</html>", status=403, headers={})
    FailedPages(tmp_path / "failed", "acme", 10).keep(page, "blocked", this_hour - 2 * HOUR + 3 * MINUTE)
    with TestClient(create_app(replace(site, failed_pages=tmp_path / "failed")), base_url=HERE) as client:
        yield client


def test_signs_are_added_up_by_store_vendor_tier_and_hour(blocks_of: TestClient) -> None:
    facts = blocks_of.get("/blocks.json").json()
    assert facts["signs"] == 10
    assert facts["by"]["store"] == [{"name": "acme", "signs": 9}, {"name": "other", "signs": 1}]
    assert facts["by"]["vendor"] == [{"name": "cloudflare", "signs": 9}, {"name": "akamai", "signs": 1}]
    assert facts["by"]["tier"] == [{"name": "http", "signs": 10}]
    heat = {row["store"]: [(cell["signs"], cell["heat"]) for cell in row["cells"][-3:]] for row in facts["heat"]}
    assert heat == {
        "acme": [(9, "many"), (0, "none"), (0, "none")],
        "other": [(0, "none"), (1, "few"), (0, "none")],
    }


def test_each_number_leads_to_its_rows(blocks_of: TestClient) -> None:
    page = blocks_of.get("/blocks").text
    row = next(row for row in blocks_of.get("/blocks.json").json()["heat"] if row["store"] == "acme")
    cell = next(cell for cell in row["cells"] if cell["signs"])
    assert f'href="/blocks?store=acme&amp;hour={cell["hour"]}"' in page
    found = blocks_of.get(f"/blocks.json?store=acme&hour={cell['hour']}").json()["list"]["rows"]
    assert len(found) == cell["signs"]
    assert {row["store"] for row in found} == {"acme"}


def test_an_hour_is_read_as_it_is_written(blocks_of: TestClient) -> None:
    assert blocks_of.get("/blocks.json?hour=2026-13-01T00").status_code == 400
    text = f"{datetime(2020, 1, 1, 5, tzinfo=UTC):%Y-%m-%dT%H}"
    assert blocks_of.get(f"/blocks.json?hour={text}").json()["list"]["rows"] == []


def test_the_list_is_filtered_and_goes_on(blocks_of: TestClient) -> None:
    assert [row["vendor"] for row in blocks_of.get("/blocks.json?store=other").json()["list"]["rows"]] == ["akamai"]
    assert blocks_of.get("/blocks.json?tier=browser").json()["list"]["rows"] == []
    first = blocks_of.get("/blocks.json?limit=4").json()["list"]
    rest = blocks_of.get(f"/blocks.json?limit=50&after={first['next']}").json()["list"]
    ids = [row["id"] for row in (*first["rows"], *rest["rows"])]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == 10
    assert rest["next"] is None


def test_the_page_that_is_kept_is_led_to(blocks_of: TestClient) -> None:
    rows = blocks_of.get("/blocks.json?store=acme").json()["list"]["rows"]
    kept = {row["url"]: row["kept"] for row in rows}
    assert {url for url, name in kept.items() if name} == {"https://acme.example/p/3"}
    name = kept["https://acme.example/p/3"]
    address = f"/runs/{rows[0]['run_id']}/kept/{name}"
    assert f'href="{address}"' in blocks_of.get("/blocks?store=acme").text
    assert blocks_of.get(address).status_code == 200


def test_breakers_that_are_not_closed_are_on_top(blocks_of: TestClient) -> None:
    (shut,) = blocks_of.get("/blocks.json").json()["breakers"]
    assert (shut["store"], shut["state"], shut["trips"]) == ("acme", "open", 2)


def test_the_chart_names_each_vendor(blocks_of: TestClient) -> None:
    text = blocks_of.get("/blocks/hours.svg").text
    assert "cloudflare" in text
    assert "akamai" in text
    assert "akamai" not in blocks_of.get("/blocks/hours.svg?store=acme").text


def test_without_blocks_the_page_says_so(client: TestClient) -> None:
    page = client.get("/blocks").text
    assert "No breaker is open" in page
    assert "No block page was ever met" in page
    assert client.get("/blocks/hours.svg").status_code == 200


def test_what_a_shop_says_is_only_text(client: TestClient, local_database: Database) -> None:
    with local_database.write() as conn:
        row = {"run_id": 1, "page_id": 0, "tier": "http", "kind": "marker", "at": now_ms(conn) - MINUTE}
        rows = [
            {**row, "store": f"shop{number}", "url": nasty, "value": nasty, "vendor": nasty[:60]}
            for number, nasty in enumerate(NASTY)
        ]
        conn.execute(insert(blocks), rows)
    page = client.get("/blocks").text
    for bad in (
        "<script>window",
        "<img src=x",
        "<svg onload",
        "<iframe",
        "<style>",
        'href="javascript:',
        'href="data:',
    ):
        assert bad not in page
    assert len(page) < 300_000
    picture = client.get("/blocks/hours.svg")
    assert picture.status_code == 200
    assert "<script>window" not in picture.text
