"""The first page: every state has its card, the worst is first, and the banner says whose fault it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update
from starlette.testclient import TestClient

from storebot.core.alerts.conditions import Limits
from storebot.dashboard.app import create_app
from storebot.dashboard.site import Site
from storebot.db.database import Database, now_ms
from storebot.db.schema import alerts, runs
from storebot.db.schema import jobs as jobs_table
from storebot.items import RunStatus
from tests.dashboard.conftest import HERE
from tests.dashboard.hostile import NASTY
from tests.dashboard.pages.states import HOUR, every_state, planned, ran
from tests.stores.writing import LEAST, written

WANTED = {
    "failed-ours": ("failed", "bad", "ours"),
    "failed-shop": ("failed", "bad", "shop"),
    "broken": ("store file broken", "bad", "ours"),
    "stale": ("stale", "bad", "ours"),
    "blocked": ("blocked", "bad", "shop"),
    "held": ("held", "warn", "decision"),
    "budget": ("budget used up", "warn", "decision"),
    "moved": ("partial", "warn", "nobody"),
    "partial": ("partial", "warn", "shop"),
    "paused": ("paused", "idle", "decision"),
    "fresh": ("never run", "idle", "decision"),
    "never": ("never run", "idle", "decision"),
    "gone": ("store file gone", "idle", "nobody"),
    "running": ("running", "good", "nobody"),
    "fine": ("fine", "good", "nobody"),
}


@pytest.fixture
def states(local_database: Database, tmp_path: Path) -> Iterator[TestClient]:
    """A dashboard over stores in every state."""
    folder = tmp_path / "stores"
    folder.mkdir()
    with local_database.write() as conn:
        every_state(conn, folder, now_ms(conn))
    site = Site(database=local_database, folders=(str(folder),), local_user="ann")
    with TestClient(create_app(site), base_url=HERE, follow_redirects=False) as client:
        yield client


def cards(client: TestClient, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/now.json{query}")
    assert answer.status_code == 200, answer.text
    return list(answer.json()["list"]["rows"])


def test_each_state_has_its_light_and_its_fault_the_worst_first(states: TestClient) -> None:
    found = {card["name"]: (card["stand"], card["light"], card["fault"]) for card in cards(states)}
    assert found == WANTED
    assert list(found) == list(WANTED)


def test_the_banner_begins_with_what_is_ours_and_leads_to_it(states: TestClient) -> None:
    banner = states.get("/now.json").json()["banner"]
    assert (banner["fault"], banner["store"]) == ("ours", "failed-ours")
    page = states.get("/")
    assert "Something of ours is broken" in page.text
    assert f'href="{banner["action"]["link"]}"' in page.text
    assert banner["action"]["link"].startswith("/runs/")


def test_a_card_says_what_changed_just_before(states: TestClient) -> None:
    by_name = {card["name"]: card for card in cards(states)}
    told = {name: " ".join(one["text"] for one in card["before"]) for name, card in by_name.items()}
    assert "the parser moved from 3-aaaa1111 to 3-bbbb2222" in told["failed-ours"]
    assert "its circuit breaker opened" in told["blocked"]
    assert "the write gate began to hold changes" in told["held"]
    assert "100% of the pages came by browser, before 0%" in told["moved"]
    assert by_name["fine"]["before"] == []


def test_a_card_says_what_is_published_and_when_the_next_run_is(states: TestClient) -> None:
    by_name = {card["name"]: card for card in cards(states)}
    assert by_name["fine"]["published"]["listings"] == 120
    assert by_name["fine"]["age_of_interval"] == pytest.approx(115 / 60 / 24, abs=0.01)
    assert by_name["fine"]["next"]["kind"] == "refresh"
    assert by_name["never"]["published"]["as_of"] is None
    assert by_name["held"]["held"] == 7
    assert by_name["stale"]["runs"] == []
    assert [run["status"] for run in by_name["failed-ours"]["runs"]][-3:] == ["failed"] * 3


def test_the_one_action_is_a_button_where_it_can_be_done_here(states: TestClient) -> None:
    text = states.get("/").text
    for action in ("/stores/stale/run", "/stores/paused/resume", "/stores/never/run"):
        assert f'action="{action}"' in text
    assert 'action="/stores/blocked/' not in text  # the safe thing is to wait


def test_a_run_that_is_due_and_does_not_begin_is_told(states: TestClient, local_database: Database) -> None:
    assert "no worker took it yet" not in states.get("/?name=fine").text
    with local_database.write() as conn:
        conn.execute(update(jobs_table).where(jobs_table.c.store == "fine").values(next_run_at=now_ms(conn) - 1000))
    assert "no worker took it yet" in states.get("/?name=fine").text


def test_the_strip_says_each_run_in_words(states: TestClient) -> None:
    run = next(card for card in cards(states) if card["name"] == "blocked")["runs"][-1]
    assert f"refresh {run['id']}: blocked, " in states.get("/").text


def test_lists_are_filtered_sorted_and_go_on(states: TestClient) -> None:
    assert {card["light"] for card in cards(states, "?light=bad")} == {"bad"}
    assert [card["name"] for card in cards(states, "?name=FAILED")] == ["failed-ours", "failed-shop"]
    assert {card["fault"] for card in cards(states, "?fault=shop")} == {"shop"}
    names = sorted(WANTED)
    assert [card["name"] for card in cards(states, "?sort=name")] == names
    assert [card["name"] for card in cards(states, "?sort=-name")] == names[::-1]
    for sort in ("worst", "-worst", "name", "-name"):
        found, after = [], ""
        while True:
            page = states.get(f"/now.json?sort={sort}&limit=4{after}").json()["list"]
            found += [card["name"] for card in page["rows"]]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        assert found == [card["name"] for card in cards(states, f"?sort={sort}")]
    assert "No store fits the filter" in states.get("/?name=nothing-of-that-name").text


def test_an_alert_says_whether_it_comes_again(states: TestClient, local_database: Database) -> None:
    with local_database.write() as conn:
        now = now_ms(conn)
        row = {"key": "held held", "kind": "held", "store": "held", "text": "7 pages", "advice": "decide"}
        conn.execute(
            insert(alerts).values({**row, "since": now - HOUR, "told_at": now - HOUR, "open": 1, "starts": "[]"})
        )
    by_name = {card["name"]: card for card in cards(states)}
    (said,) = by_name["held"]["telling"]
    assert said.startswith("changes are held: told ")
    assert "again at" in said
    assert not by_name["held"]["unnoticed"]
    assert by_name["blocked"]["unnoticed"]
    assert "nobody was told yet" in states.get("/?name=blocked").text


def test_what_is_wrong_of_no_store_is_on_top(states: TestClient, site: Site, tmp_path: Path) -> None:
    full = replace(site, disks={"database": tmp_path}, limits=Limits(disk_free_bytes=10**18))
    with TestClient(create_app(full), base_url=HERE) as client:
        found = client.get("/now.json").json()
        assert [one["kind"] for one in found["general"]] == ["disk"]
        assert "the disk is nearly full" in client.get("/").text


def test_without_any_store_it_says_how_to_begin(client: TestClient) -> None:
    page = client.get("/")
    assert "There is no store yet" in page.text
    assert "scrapy crawl backfill" in page.text
    assert client.get("/now.json").json()["list"]["rows"] == []


def test_a_file_that_is_mended_is_seen_at_once(local_database: Database, tmp_path: Path) -> None:
    with local_database.write() as conn:
        ran(conn, "acme", now_ms(conn) - HOUR)
    site = Site(database=local_database, folders=(str(tmp_path),), local_user="ann")
    with TestClient(create_app(site), base_url=HERE) as client:
        for text, stand in ((LEAST, "fine"), ("nonsense = [", "store file broken"), (LEAST + "# mended\n", "fine")):
            written(tmp_path, text)
            assert [card["stand"] for card in cards(client)] == [stand]
        (tmp_path / "acme" / "store.toml").unlink()
        assert [card["stand"] for card in cards(client)] == ["store file gone"]


def test_what_a_shop_says_is_only_text(local_database: Database, tmp_path: Path) -> None:
    with local_database.write() as conn:
        now = now_ms(conn)
        for number, nasty in enumerate(NASTY):
            written(tmp_path, LEAST, f"shop{number}")
            ran(conn, f"shop{number}", now - HOUR, RunStatus.FAILED, reason=nasty, parser=nasty[:60], counts={})
            planned(conn, f"shop{number}", now)
        conn.execute(
            insert(runs).values(store="<b>x</b>", kind="refresh", status="failed", started_at=now, finished_at=now)
        )
    site = Site(database=local_database, folders=(str(tmp_path),), local_user="ann")
    with TestClient(create_app(site), base_url=HERE) as client:
        text = client.get("/").text
        stores = "".join(client.get(f"/stores/shop{number}").text for number in range(len(NASTY)))
        assert client.get("/stores/%3Cb%3Ex%3C%2Fb%3E").status_code in (200, 404)  # a slash isn't of its path
    assert len(text) < 300_000
    for page in (text, stores):
        for bad in (
            "<script>window",
            "<img src=x",
            "<svg onload",
            "<iframe",
            "<style>",
            "<b>x</b>",
            'href="javascript:',
        ):
            assert bad not in page
