"""Which proxies a store has blocked, kept from run to run."""

from __future__ import annotations

from storebot.core.proxy_pool import Rest
from storebot.db import proxies
from storebot.db.database import Database
from tests.db.shop import NOW, STORE

BANNED, BACK = Rest("http://a.example:80", NOW, 3), Rest("socks5://b.example:1080 0f1e2d3c 2", 0, 1)


def test_what_was_kept_is_there_and_replaced_as_a_whole(database: Database) -> None:
    with database.write() as conn:
        assert proxies.load(conn, STORE) == ()
        proxies.save(conn, STORE, [BANNED, BACK])
        proxies.save(conn, "other", [BACK])
    with database.write() as conn:
        assert proxies.load(conn, STORE) == (BANNED, BACK)
        proxies.save(conn, STORE, [BANNED._replace(blocks=4)])
        assert proxies.load(conn, STORE) == (BANNED._replace(blocks=4),), "the other one has served since"
        proxies.save(conn, STORE, [])
        assert proxies.load(conn, STORE) == ()
        assert proxies.load(conn, "other") == (BACK,)
