"""What is, or was of late, wrong: as it's remembered from one look to the next."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import orjson
from sqlalchemy import Connection, delete, select

from storebot.core.alerts.alerting import Alert
from storebot.core.alerts.finding import Kind
from storebot.db.dialects import upsert
from storebot.db.schema import alerts
from storebot.db.types import ALERT_LENGTH, AnyRow, bounded


def load(conn: Connection) -> dict[str, Alert]:
    """Return all alerts, by key."""
    rows = conn.execute(select(alerts).order_by(alerts.c.key))
    return {row.key: _alert(row) for row in rows}


def save(conn: Connection, before: Mapping[str, Alert], after: Mapping[str, Alert]) -> None:
    """Save what differs; ``before`` is what `load` gave in this transaction."""
    changed = [_row(alert) for key, alert in after.items() if before.get(key) != alert]
    upsert(conn, alerts, changed)
    _forget(conn, before.keys() - after.keys())


def _forget(conn: Connection, keys: Collection[str]) -> None:
    if keys:
        conn.execute(delete(alerts).where(alerts.c.key.in_(sorted(keys))))


def _row(alert: Alert) -> dict[str, object]:
    return {
        "key": bounded(alert.key, ALERT_LENGTH),
        "kind": alert.kind.value,
        "store": alert.store,
        "text": alert.text,
        "advice": alert.advice,
        "since": alert.since,
        "gone_at": alert.gone_at,
        "told_at": alert.told_at,
        "open": int(alert.open),
        "flapping": int(alert.flapping),
        "starts": orjson.dumps(alert.starts).decode(),
    }


def _alert(row: AnyRow) -> Alert:
    return Alert(
        key=row.key,
        kind=Kind(row.kind),
        store=row.store,
        text=row.text,
        advice=row.advice,
        since=row.since,
        gone_at=row.gone_at,
        told_at=row.told_at,
        open=bool(row.open),
        flapping=bool(row.flapping),
        starts=tuple(orjson.loads(row.starts)),
    )
