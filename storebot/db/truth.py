"""What is true of a store's copies: from audit visits alone, which are picked at random, and from what was learned."""

from __future__ import annotations

from sqlalchemy import Connection, case, func, select

from storebot.core.planner.lanes import Lane
from storebot.core.planner.truth import Stale, Truth, Validators, trust
from storebot.db import knowledge
from storebot.db.schema import runs, visits
from storebot.items import Outcome, PageType

LATELY_MS = 30 * 86_400_000
# An audit that brought another record, or found the page gone. What wasn't observed says nothing. What is gone has no
# copy to be stale only once it is known to be gone, and then it isn't audited.
_STALE = (Outcome.CHANGED.value, Outcome.HELD.value, Outcome.MISSING.value)
_LOOKED = (*_STALE, Outcome.UNCHANGED.value, Outcome.NOT_MODIFIED.value)


def truth(conn: Connection, store: str, now_ms: int) -> Truth:
    """Return what is known of a store by now: for reports, metrics and plans.

    Visits that were forgotten (``STOREBOT_VISITS_KEEP_DAYS``) aren't in it.
    """
    memory = knowledge.load(conn, store, now_ms)
    validators = Validators(memory.validators_asked, memory.validators_lies, memory.validators_lie)
    return Truth(
        store=store,
        lately=stale(conn, store, now_ms - LATELY_MS),
        ever=stale(conn, store),
        trust=trust(memory.knowledge, validators, memory.learned_since),
    )


def stale(conn: Connection, store: str, since_ms: int = 0) -> Stale:
    """Count the store's audits since a time, and those that found another page than was saved."""
    of_store = select(runs.c.id).where(runs.c.store == store, runs.c.kind == "refresh", runs.c.plan.is_not(None))
    if since_ms:
        of_store = of_store.where((runs.c.finished_at.is_(None)) | (runs.c.finished_at >= since_ms))
    is_stale = func.sum(case((visits.c.outcome.in_(_STALE), 1), else_=0))
    query = select(func.count(), func.coalesce(is_stale, 0), func.coalesce(func.min(visits.c.at), 0)).where(
        visits.c.run_id.in_(of_store),
        visits.c.lane == Lane.AUDIT.value,
        visits.c.page_type == PageType.PRODUCT.value,
        visits.c.outcome.in_(_LOOKED),
        visits.c.at >= since_ms,
    )
    looks, hits, first = conn.execute(query).one()
    return Stale(int(looks), int(hits), int(first))


def stores(conn: Connection) -> list[str]:
    """Return the stores that were ever refreshed by a plan."""
    query = select(runs.c.store).where(runs.c.plan.is_not(None)).distinct().order_by(runs.c.store)
    return list(conn.execute(query).scalars())
