"""The visits of a run, one by one: what a number of its page stands for."""

from __future__ import annotations

from storebot.dashboard import listing
from storebot.dashboard.pages.run import found
from storebot.dashboard.view import Ask, Choice, Facts, Listed, Sort, View, moment
from storebot.db.board import run as board
from storebot.db.types import AnyRow
from storebot.items import Outcome, PageType, Tier

LISTED = Listed(
    sorts=(Sort("id", "when", (int,)),),
    choices=(
        Choice("outcome", "Outcome", tuple((one.value, one.value.replace("_", " ")) for one in Outcome)),
        Choice("tier", "Tier", tuple((one.value, one.value) for one in Tier)),
        Choice("page_type", "Kind of page", tuple((one.value, one.value) for one in PageType)),
    ),
)


def read(ask: Ask) -> Facts:
    """Return the visits that fit."""
    run, what = found(ask), listing.asked(LISTED, ask.query)
    scanned = board.visits_of(ask.conn, run.id, what.choices, what.after, descending=what.descending, limit=what.limit)
    urls = board.addresses(ask.conn, [row.page_id for row in scanned.rows if row.page_id])

    def show(row: AnyRow) -> Facts:
        told = {**row._mapping, "at": moment(row.at), "url": urls.get(row.page_id, "")}
        return {**told, "steps": (row.steps or "").splitlines()}

    reached = (scanned.reached,) if scanned.reached is not None else None
    rows = listing.shown(LISTED, what, scanned.rows, lambda row: (row.id,), show, reached=reached)
    return {"run": {"id": run.id, "store": run.store, "kind": run.kind}, "list": rows}


VIEWS = (View("/runs/{run:int}/visits", "run visits", "run_visits.html", read, LISTED),)
