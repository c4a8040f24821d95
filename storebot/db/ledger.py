"""The ledger: one row for each visit, and one for each block signal that it met."""

from __future__ import annotations

from typing import Any

from storebot.core.planner.lanes import Lane
from storebot.db.compare import Compared
from storebot.db.context import RunContext
from storebot.db.work import Work
from storebot.items import Outcome, Visit

LONGEST_REASON = 1000


def enter(work: Work, visit: Visit, outcome: Outcome, reason: str, compared: Compared) -> None:
    """Enter a visit, and the signals of block pages that it met; they're written with the batch."""
    work.rows.add("visit", ledger_row(work, visit, outcome, reason, compared))
    note_blocks(work, visit)


def ledger_row(work: Work, visit: Visit, outcome: Outcome, reason: str, compared: Compared) -> dict[str, Any]:
    return {
        **_who_and_when(work.run, visit),
        "page_type": visit.target.page_type.value,
        "outcome": outcome.value,
        "http_status": visit.status,
        "reason": reason[:LONGEST_REASON],
        "requests": visit.requests,
        "bytes": visit.size_bytes,
        "elapsed_ms": visit.elapsed_ms,
        "browser_ms": visit.browser_ms,
        "billed": visit.billed,
        "cost_micro": visit.cost_micro,
        "steps": "\n".join(visit.steps)[:LONGEST_REASON] or None,
        "rows_written": compared.rows_written,
        "changes": compared.changes,
        "lane": visit.target.lane or (Lane.LISTING.value if visit.source else ""),
    }


def note_blocks(work: Work, visit: Visit) -> None:
    for signal in visit.blocks:
        found = {"kind": signal.kind, "value": signal.value[:LONGEST_REASON], "vendor": signal.vendor[:64]}
        found["tier"] = signal.tier or visit.tier
        row = {**_who_and_when(work.run, visit), **found, "url": visit.final_url or visit.target.url}
        work.rows.add("block", row)


def _who_and_when(run: RunContext, visit: Visit) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "store": run.store,
        "page_id": visit.target.page_id,
        "tier": visit.tier,
        "at": visit.at_ms,
    }
