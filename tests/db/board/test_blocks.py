"""Signs of block pages, added up and listed, on each backend."""

from __future__ import annotations

import pytest

from storebot.db.board import blocks as board
from storebot.db.database import Database
from tests.dashboard.pages.states import HOUR, MINUTE, blocked

NOW = 500_000 * HOUR


def test_signs_are_added_up_by_store_tier_vendor_and_hour(database: Database) -> None:
    with database.write() as conn:
        blocked(conn, "acme", 1, NOW - 3 * MINUTE, 5)
        blocked(conn, "other", 2, NOW, 2, vendor="akamai")
        blocked(conn, "other", 2, NOW - 30 * HOUR, 9)
        found = board.added_up(conn, NOW - HOUR)
        assert sorted(found.counts) == [
            ("acme", "http", "cloudflare", NOW // HOUR - 1, 3),
            ("acme", "http", "cloudflare", NOW // HOUR, 2),
            ("other", "http", "akamai", NOW // HOUR, 2),
        ]
        assert found.since_ms == 0
        assert {one.store for one in board.added_up(conn, NOW - HOUR, "other").counts} == {"other"}


def test_where_there_are_more_than_are_added_up_that_is_said(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write() as conn:
        blocked(conn, "acme", 1, NOW, 5)
        monkeypatch.setattr(board, "MOST", 3)
        found = board.added_up(conn, NOW)
        assert sum(one.signs for one in found.counts) == 3
        assert found.since_ms == NOW + 2 * MINUTE


def test_the_list_is_filtered_and_goes_on(database: Database) -> None:
    with database.write() as conn:
        blocked(conn, "acme", 1, NOW - 2 * MINUTE, 4)
        blocked(conn, "other", 2, NOW, 2)
        found = board.listed(conn, {"store": "acme"}, None, None, descending=True, limit=2)
        assert [row.store for row in found.rows] == ["acme"] * 3
        assert found.reached is None
        rest = board.listed(conn, {"store": "acme"}, None, found.rows[1].id, descending=True, limit=2)
        assert len(rest.rows) == 2
        this_hour = board.listed(conn, {"store": "acme"}, NOW // HOUR, None, descending=False, limit=9)
        assert [row.at for row in this_hour.rows] == [NOW, NOW + MINUTE]
        assert board.listed(conn, {"vendor": "akamai"}, None, None, descending=True, limit=9).rows == []
