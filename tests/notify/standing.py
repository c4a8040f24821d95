"""A shop that was run, in few words, and recipients that note what they get."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, insert

from storebot.core.alerts.message import Channel, Message
from storebot.db.database import Database
from storebot.db.schema import changes, runs
from storebot.items import RunStatus
from storebot.notify.alerts_file import AlertsFile
from storebot.notify.recipients import Recipient
from storebot.notify.tending import Tended, Tending, tend
from tests.core.alerts.timeline import at
from tests.stores.writing import LEAST, written

STORE = "acme"
ANN = Recipient("json://ann.example/SECRETPATH", "ann", "json")
BOB = Recipient("json://bob.example/SECRETPATH", "bob", "json")


def ran(conn: Connection, start: int, status: RunStatus = RunStatus.COMPLETE, **values: Any) -> int:
    """Note a run of five minutes."""
    row = {
        "store": STORE,
        "kind": "refresh",
        "status": status.value,
        "started_at": start,
        "finished_at": start + 300_000,
    }
    (run_id,) = conn.execute(insert(runs).values(**row, **values)).inserted_primary_key or (0,)
    return int(run_id)


def changed(
    conn: Connection, seq_at: int, field: str, before: object, after: object, key: str = "k", **row: Any
) -> None:
    """Note a change that is published."""
    fields = orjson.dumps([{"field": field, "before": before, "after": after}]).decode()
    values = {"type": "changed", "store": STORE, "url_key": key, "variant_id": "", "fields": fields, "at": seq_at}
    conn.execute(insert(changes).values(**{**values, "id": f"{seq_at}{key}{field}{after}", **row}))


class Desk:
    """Who tends alerts by a fake clock, and what recipients got: local time, who, title."""

    def __init__(self, database: Database, folder: Path, text: str = LEAST, **file: Any) -> None:
        written(folder, text, STORE)
        self.database, self.got, self.down = database, list[tuple[str, str, str]](), set[str]()
        self.bodies: list[str] = []
        self.file = AlertsFile.model_validate({"time_zone": "Europe/Berlin", **file})
        self.recipients: dict[Channel, tuple[Recipient, ...]] = {Channel.OPERATOR: (ANN,), Channel.BUSINESS: (BOB,)}
        self.folders = (str(folder),)
        self.now = 0
        self.on_send: Callable[[], None] = lambda: None

    def look(self, now: int | str) -> Tended:
        """Tend once, at a local time or a number of milliseconds."""
        self.now = at(now) if isinstance(now, str) else now
        tending = Tending(file=self.file, recipients=self.recipients, folders=self.folders)
        return tend(self.database, tending, at_ms=self.now, send=self._send)

    def _send(self, recipient: Recipient, message: Message) -> str:
        self.on_send()
        if recipient.id in self.down:
            return "HTTP 503"
        clock = datetime.fromtimestamp(self.now / 1000, self.file.zone).strftime("%d %H:%M")
        self.got.append((clock, recipient.id, message.title))
        self.bodies.append(message.body)
        return ""
