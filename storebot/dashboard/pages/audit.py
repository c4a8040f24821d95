"""Audit: who did what, the newest first."""

from __future__ import annotations

from storebot.dashboard import listing
from storebot.dashboard.view import Ask, Choice, Facts, Listed, Sort, View, moment
from storebot.db import audit

LISTED = Listed(
    sorts=(Sort("at", "when", (int,), descending=True),),
    choices=(
        Choice("who", "Who"),
        Choice("store", "Store"),
        Choice("result", "Result", tuple((one.value, one.value) for one in audit.Result)),
    ),
)


def read(ask: Ask) -> Facts:
    """Return what people did."""
    what = listing.asked(LISTED, ask.query)
    rows = audit.listed(ask.conn, what.choices, what.after, descending=what.descending, limit=what.limit)
    return {"list": listing.shown(LISTED, what, rows, lambda row: (row.id,), _row)}


def _row(deed: audit.Deed) -> Facts:
    return {**deed._asdict(), "at": moment(deed.at), "ended_at": moment(deed.ended_at)}


VIEWS = (View("/audit", "audit", "audit.html", read, LISTED),)
