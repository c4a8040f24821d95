"""The robots.txt of a store's hosts, kept from run to run."""

from __future__ import annotations

from storebot.db import robots
from storebot.db.database import Database
from storebot.db.robots import KeptRobots
from tests.db.shop import STORE

ORIGIN = "https://shop.example"


def test_what_was_read_last_is_found_with_its_age(database: Database) -> None:
    long = "User-agent: *\nDisallow: /ä\n" * 40_000  # longer than MySQL's TEXT
    with database.write() as conn:
        assert robots.load(conn, STORE, ORIGIN) is None
        robots.record(conn, STORE, ORIGIN, KeptRobots(f"{ORIGIN}/robots.txt", 404, ""))
        robots.record(conn, STORE, ORIGIN, KeptRobots("https://www.shop.example/robots.txt", 200, long))
        robots.record(conn, STORE, "http://shop.example", KeptRobots("http://shop.example/robots.txt", 404, ""))
    with database.read() as conn:
        found = robots.load(conn, STORE, ORIGIN)
        assert found is not None
        assert found[:3] == ("https://www.shop.example/robots.txt", 200, long)
        assert 0 <= found.age_ms < 600_000
        assert robots.load(conn, "other", ORIGIN) is None
