"""A receiver of webhooks on this machine, as bad as receivers are, and a shop that has something to tell."""

from __future__ import annotations

import base64
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson
import pytest
from sqlalchemy import Connection, func, insert, select
from standardwebhooks import Webhook

from storebot.core.webhooks.subscription import Subscription, Wanted
from storebot.db import subscriptions
from storebot.db.database import Database
from storebot.db.dialects import insert_missing, now_ms
from storebot.db.schema import changes, stores

NAME = "ACME_WEBHOOK_SECRET"
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER_SECRET = "whsec_" + base64.b64encode(bytes(range(32, 64))).decode()
ENVIRON = {NAME: SECRET}

Answering = Callable[[BaseHTTPRequestHandler], None]


def status(code: int, **headers: str) -> Answering:
    """Answer with a status and these headers; ``Retry_After`` is Retry-After."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """Close the connection without a word."""


class Receiver:
    """Answers with what is in ``script``, then with 204. What came is noted, whatever it answered."""

    def __init__(self) -> None:
        self.script: list[Answering] = []
        self.got: list[tuple[dict[str, str], bytes]] = []  # headers and body
        self.wake = threading.Event()  # ends a `silence`
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def silence(self, handler: BaseHTTPRequestHandler) -> None:
        """Take the request and answer nothing for as long as anybody waits."""
        self.wake.wait(30)

    def start(self) -> None:
        """Come (back) to life, at the same port."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = receiver.script.pop(0) if receiver.script else status(204)
                headers = {name.lower(): value for name, value in self.headers.items()}
                self.close_connection = True
                receiver.got.append((headers, body))
                answer(self)

            def do_GET(self) -> None:
                receiver.got.append(({}, b"followed"))

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def die(self) -> None:
        """Refuse connections."""
        assert self._server is not None
        assert self._thread is not None
        self.wake.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def messages(self) -> list[dict[str, Any]]:
        """Return what came, each verified by the official library."""
        hook = Webhook(SECRET)
        return [hook.verify(body, headers) for headers, body in self.got]

    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.got]

    def changes(self) -> list[dict[str, Any]]:
        """Return all changes that came, in the order in which they came first."""
        first: dict[str, dict[str, Any]] = {}
        for message in self.messages():
            for change in message["data"]["changes"]:
                first.setdefault(change["id"], change)
        return list(first.values())


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Give a receiver that is well."""
    made = Receiver()
    yield made
    made.die()


class Clock:
    """The database's clock, put forward."""

    def __init__(self) -> None:
        self.ahead_ms = 0

    def __call__(self, conn: Connection) -> int:
        return now_ms(conn) + self.ahead_ms


def tell(database: Database, count: int, store: str = "acme", **row: Any) -> list[str]:
    """Note price changes of three listings, by turns; return their ids."""
    with database.write() as conn:
        return tell_in(conn, count, store, **row)


def tell_in(conn: Connection, count: int, store: str = "acme", **row: Any) -> list[str]:
    """The same, in an open transaction."""
    insert_missing(conn, stores, [{"name": store}])
    start = conn.execute(select(func.max(changes.c.seq))).scalar() or 0
    made = []
    for number in range(start, start + count):
        fields = [{"field": "price_minor", "before": number, "after": number + 1}]
        values = {
            "id": f"{store}-{number}",
            "type": "changed",
            "store": store,
            "url_key": f"https://{store}.example/p/{number % 3}",
            "variant_id": "",
            "fields": orjson.dumps(fields).decode(),
            "run_id": 1,
            "at": 1_800_000_000_000 + number,
            **row,
        }
        conn.execute(insert(changes).values(values))
        made.append(str(values["id"]))
    return made


def subscribe(database: Database, url: str, **fields: Any) -> int:
    """Subscribe to all that comes from now on."""
    wanted = Wanted(**{name: fields.pop(name) for name in Wanted._fields if name in fields})
    new = Subscription(0, url, NAME, wanted, **{"allow_private": True, **fields})
    with database.write() as conn:
        return subscriptions.add(conn, new, by="test")


def by_listing(found: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Return the numbers of changes, in their order, by listing."""
    mine: dict[str, list[int]] = defaultdict(list)
    for one in found:
        mine[one["url_key"]].append(one["seq"])
    return mine


def closed_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
