"""Visits that gave nothing to parse: not modified, missing, or not observed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from storebot.core.delist import dead_link_ms, next_look_ms
from storebot.core.gate_facts import Facts, Kind
from storebot.db.accepting import bring_back, look, relist_page
from storebot.db.batch import Batch, renamed
from storebot.db.canonicals import fall_back
from storebot.db.compare import Compared, Known
from storebot.db.known_pages import is_rebased
from storebot.db.ledger import LONGEST_REASON
from storebot.db.work import Work, put_apart
from storebot.items import NOT_OBSERVED, Outcome, PageStatus, Visit

_STRUCK = frozenset({Outcome.ERROR, Outcome.INVALID, Outcome.MOVED})  # a page never parsed is then `error`


def save_unparsed(work: Work, page: Known, visit: Visit) -> tuple[Outcome, str, Compared]:
    """Save what a visit without listings says of its page; ``held`` is as in `save_parsed`."""
    outcome, reason = visit.outcome or Outcome.ERROR, visit.reason
    gone = outcome is Outcome.MISSING
    back = fall_back(work.conn, work.run.store, page.id, page.url_key, visit.at_ms) if gone else ""
    if back:
        outcome, reason = Outcome.MOVED, f"{reason}; it is looked for at {back}, which was another name of it"
    if outcome is Outcome.NOT_MODIFIED:
        if page.content_hash is not None and not is_rebased(work.run, page, visit):
            bring_back(work, page)
            times = {"checked_at": visit.at_ms, "next_due_at": visit.at_ms + work.run.revisit_after_ms}
            look(work, "page_not_modified", page, visit, times, changed=False)
            return outcome, reason, relist_page(work, page, visit)
        outcome, reason = (
            Outcome.ERROR,
            "304 though no record of this parser stands behind it: fetched in full next time",
        )
        work.rows.add("page_distrusted", {"of_page": page.id})
    if outcome.seen:
        raise ValueError(f"{visit.target.url_key}: only the database can say that a page is {outcome}")
    never_parsed = PageStatus.ERROR if outcome in _STRUCK or outcome is Outcome.MISSING else PageStatus.PENDING
    values: dict[str, Any] = {
        "status": (PageStatus.PARSED if page.content_hash else never_parsed).value,
        "next_due_at": max(visit.at_ms + (0 if back else work.run.error_backoff_ms), visit.retry_at_ms),
        "last_error": reason[:LONGEST_REASON] or outcome.value,
        "last_failure": outcome.value if outcome in NOT_OBSERVED else "",
    }
    if outcome is Outcome.MISSING:
        return _missing(work, page, visit, reason, values)
    values["stray_hash"] = visit.stray_hash or None
    work.rows.add("page_failed", {"of_page": page.id, **renamed(values)})
    return outcome, reason, Compared()


def _missing(
    work: Work, page: Known, visit: Visit, reason: str, values: dict[str, Any]
) -> tuple[Outcome, str, Compared]:
    """Have a page be missing; if it has a record, and wasn't missing before, the gate is asked first."""
    apart = replace(work, rows=Batch())
    if page.content_hash:
        apart.rows.add("page_missing_listings", {"of_page": page.id})
    else:
        values["next_due_at"] = dead_link_ms(visit.at_ms, page.misses + 1, work.run.error_backoff_ms)
    if page.delisted_at:
        values["next_due_at"] = next_look_ms(visit.at_ms, page.delisted_at)
    evidence = {"missed_by": visit.evidence or None, "stray_hash": visit.stray_hash or None}
    missed = renamed({**values, **evidence, "checked_at": visit.at_ms})
    apart.rows.add("page_missing", {"of_page": page.id, **missed})
    found = (Outcome.MISSING, reason, Compared())
    if work.run.gate is not None and page.content_hash and not page.misses:
        return put_apart(work, apart, page, visit, found, Facts(Kind.MISSING), {})
    work.rows.take(apart.rows)
    return found
