"""A month by a fake clock: a failing store, a dead channel, flapping, quiet hours, clocks changed.

The timeline of messages is exactly the one that stands here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from storebot.core.breaker import Breaker, State
from storebot.db import breakers
from storebot.db.database import Database
from storebot.items import RunStatus
from tests.core.alerts.timeline import BERLIN, at
from tests.notify.standing import STORE, Desk, changed, ran

HOUR = 3_600_000
FILE: dict[str, Any] = {
    "operator": {"quiet": "22:00-07:00", "urgent": ["silent"]},
    "business": {"quiet": "20:00-08:00", "every": "6h"},
    "watch": [{"name": "drops", "events": ["price_drop"], "percent": 10}],
}
FAILED = {"05", "06", "07", "08"}
BLOCKED = {"13", "25"}
NO_RUN = {"27", "28", "29", "30", "31"}
HOURS = (4, 7, 8, 12, 13, 14, 21)
FLAPS, STEADY = at("2026-10-20 09:00"), at("2026-10-20 11:00")
SHUT = "acme: left alone (circuit breaker open)"
TIMELINE = [
    # Runs fail at 03:00 from the 5th to the 8th. The third is seen in quiet hours, told after them and a day later.
    ("07 07:00", "ann", "acme: fails again and again"),
    ("08 07:00", "ann", "acme: fails again and again (for 27h)"),
    ("09 07:00", "ann", "acme: fails again and again (over)"),
    # A price falls in the evening of the 9th.
    ("10 08:00", "bob", "drops: 1 change at acme"),
    # Ann can't be reached from the 12th to the 14th at noon; the shop blocks on the 13th. She gets all, in its order.
    ("14 12:00", "ann", "acme: the shop blocks"),
    ("14 12:00", "ann", "storebot: messages can't be delivered"),
    ("14 12:00", "ann", "acme: the shop blocks (over)"),
    ("14 14:00", "ann", "storebot: messages can't be delivered (over)"),
    # The breaker opens each twenty minutes from 09:00 to 10:40: the fifth time it flaps, and an hour later it's over.
    ("20 09:00", "ann", SHUT),
    ("20 10:20", "ann", f"{SHUT} (comes and goes)"),
    ("20 11:50", "ann", f"{SHUT} (over)"),
    # The night to the 25th is an hour longer. Quiet hours end at 07:00 of the new time.
    ("25 07:00", "ann", "acme: the shop blocks"),
    ("26 07:00", "ann", "acme: the shop blocks (over)"),
    # From the 27th on nothing runs. Two days after the last run that is told, quiet hours or not.
    ("28 04:00", "ann", "acme: nothing has run"),
    ("29 04:00", "ann", "acme: nothing has run (for 24h)"),
    ("30 04:00", "ann", "acme: nothing has run (for 48h)"),
    ("31 04:00", "ann", "acme: nothing has run (for 72h)"),
]


def looks() -> Iterator[int]:
    """Yield the times of looks: at the hours at which something may happen, and for a morning each ten minutes."""
    for now in range(at("2026-10-01 00:00"), at("2026-11-01 00:00"), HOUR // 6):
        local = datetime.fromtimestamp(now / 1000, BERLIN)
        if FLAPS <= now < STEADY + 2 * HOUR or (local.minute == 0 and local.hour in HOURS):
            yield now


def happens(desk: Desk, now: int) -> None:
    """Have happen what the world does in the hour before a look."""
    local = datetime.fromtimestamp(now / 1000, BERLIN)
    day, hour = local.strftime("%d"), local.hour
    with desk.database.write() as conn:
        if hour == 4 and day not in NO_RUN:
            status = RunStatus.FAILED if day in FAILED else RunStatus.BLOCKED if day in BLOCKED else RunStatus.COMPLETE
            ran(conn, now - HOUR, status, reason="no" if status is not RunStatus.COMPLETE else "")
        if (day, hour) == ("09", 21):
            changed(conn, now, "price_minor", 1000, 800)
        if FLAPS <= now <= STEADY:
            shut = now < STEADY and local.minute % 20 == 0
            breakers.record(conn, STORE, Breaker(State.OPEN, now, now + HOUR, 1, "503") if shut else Breaker())
    desk.down = {"ann"} if "12" <= day < "14" or (day == "14" and hour < 12) else set()


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_messages_of_a_month_are_these(database: Database, tmp_path: Path) -> None:
    desk = Desk(database, tmp_path, **FILE)
    for now in looks():
        happens(desk, now)
        desk.look(now)
    assert desk.got == TIMELINE
