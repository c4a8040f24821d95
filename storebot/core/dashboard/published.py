"""What is published of a store now, and whether it can be relied on."""

from __future__ import annotations

from typing import NamedTuple

from storebot.core.dashboard.store_now import Stand, StoreNow
from storebot.items import RunStatus

_PUBLISHES = (RunStatus.COMPLETE, RunStatus.PARTIAL)
_OLD = (Stand.FAILED, Stand.BROKEN, Stand.STALE, Stand.BLOCKED, Stand.BUDGET, Stand.PAUSED, Stand.GONE)


class Published(NamedTuple):
    """What readers of the database see. Times are milliseconds; 0 is never."""

    as_of: int
    run_id: int
    listings: int
    text: str


def published(store: StoreNow, stand: Stand) -> Published:
    """Say what is published. Only what passed the write gate ever is: a failed run leaves what was there."""
    run = next((one for one in store.runs if one.status in _PUBLISHES and one.saw), None) or store.good
    if run is None:
        return Published(0, 0, 0, "Nothing is published yet.")
    if store.held:
        pages = "1 page shows" if store.held == 1 else f"{store.held:,} pages show"
        text = f"Safe: {pages} what was accepted before; the held changes aren't published."
    elif stand in (Stand.FINE, Stand.RUNNING):
        text = "Safe, and current."
    elif stand in _OLD:
        text = "Safe, but not newer than that: nothing unproven is published."
    else:
        text = "Safe as far as it was read: pages that weren't seen keep their last state."
    return Published(run.finished_at or run.started_at, run.id, run.listings, text)
