"""Alerts by a fake clock: what is wrong from when to when, looked at each minute, and what is said when."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from storebot.core.alerts.alerting import Alert, Rules, tend
from storebot.core.alerts.finding import Finding, Kind

BERLIN = ZoneInfo("Europe/Berlin")
MINUTE = 60_000


def at(text: str, zone: tzinfo = BERLIN) -> int:
    """Return a local time such as ``2026-10-25 02:30``, in milliseconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp() * 1000)


def finding(kind: Kind = Kind.BREAKER, store: str = "acme", text: str = "it says no", of: str = "") -> Finding:
    return Finding(kind, text, "wait", store, of)


def told(
    start: int,
    end: int,
    wrong: Callable[[int], Iterable[Finding]],
    rules: Rules,
    undelivered: Callable[[int], Iterable[str]] = lambda now: (),
    step: int = MINUTE,
) -> list[tuple[str, str]]:
    """Return what is said, each with the local time, of looks from ``start`` to ``end``."""
    alerts: dict[str, Alert] = {}
    said: list[tuple[str, str]] = []
    for now in range(start, end, step):
        alerts, messages = tend(alerts, wrong(now), now, rules, set(undelivered(now)))
        clock = datetime.fromtimestamp(now / 1000, rules.zone).strftime("%d %H:%M")
        said += [(clock, message.title) for message in messages]
    return said
