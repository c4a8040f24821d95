"""Which pages a session claims next: what is due, or what its plan says."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection

from storebot.core.planner.planned import PlannedRun
from storebot.db import following, pages, views
from storebot.db.context import carried_version
from storebot.db.database import Database
from storebot.db.planned_claims import PlannedClaims
from storebot.db.saved import Saved
from storebot.db.session_options import SessionOptions
from storebot.db.session_state import SessionState
from storebot.items import Outcome, Target, Visit

logger = logging.getLogger(__name__)

Claim = Callable[[Connection], list[Target]]


class ClaimingSession(SessionState):
    """A session that hands out pages. It claims on the thread that saves."""

    def __init__(self, database: Database, options: SessionOptions) -> None:
        super().__init__(database, options)
        self.views: list[tuple[int, str]] = []  # catalogue pages that the plan wants to see: id and address
        self.left: Callable[[], int] = _without_end  # how many pages may still be asked for
        self._claims: PlannedClaims | None = None
        self._withheld: dict[str, str] = {}  # for claim_due, as long as a feed is the one to say what is due

    def withhold(self, source: str) -> None:
        """Let nobody claim the pages whose record a feed carried: it couldn't be read, and they wait for it."""
        self._withheld = {"withheld": carried_version(self.options.parser_version, source)}

    def claim_pending(self, conn: Connection) -> list[Target]:
        """Claim pages that were never read. A backfill takes those that failed in an earlier run whenever it's started:
        somebody asked for it again. A refresh, which a clock starts, leaves them their back-off."""
        again_ms = max(self.options.error_backoff_ms - 1, 0) if self.options.kind == "backfill" else 0
        return self._claim(pages.claim_pending, conn, self.options.claim_batch, due_before=self.started_ms + again_ms)

    def claim_due(self, conn: Connection) -> list[Target]:
        """Claim pages that were never read, and when there is none, pages that were due when the run began.

        With a plan: its pages, in its order.
        """
        if self._claims is not None:
            return self._claims.claim(conn)
        return self.claim_pending(conn) or self._claim(
            pages.claim_due, conn, self.options.claim_batch, due_before=self.started_ms - self.spared_ms
        )

    def _claim(self, verb: Callable[..., list[Target]], conn: Connection, what: object, **more: Any) -> list[Target]:
        options = self.options
        withheld = self._withheld if verb is not pages.claim_pending else {}
        return verb(
            conn,
            options.store,
            self.token,
            what,
            options.lease_s,
            parser_version=options.parser_version,
            hash_version=options.hash_version,
            validators=self.learner.may_ask_conditionally(self.now_ms()),
            **withheld,
            **more,
        )

    def draw_up(self, requests: int) -> PlannedRun:
        """Make the run's plan, with so many requests, from what is saved. It reads only, for some seconds."""
        from storebot.db.planning import make_plan  # and numpy, which a run without a plan need not wait for

        store, terms = self.options.store, self.terms
        with self.database.explaining(), self.database.read() as conn:
            seen = views.looked_since(conn, store, self.started_ms)
            make = partial(make_plan, conn, store, requests, now_ms=self.now_ms(), seed=self.run_id, seen=seen)
            return make(sweep=terms.sweep, every_h=terms.every_h) if terms else make(full=True)

    def follow(self, conn: Connection, plan: PlannedRun, discovery: int) -> None:
        """Claim by a plan from now on, and keep it with the run; ``discovery`` are the requests that were spent."""
        options, learner, terms = self.options, self.learner, self.terms
        learner.memory.knowledge.threshold, learner.memory.sweep_after = plan.threshold, plan.sweep_after
        following.date_anew(conn, plan.due_anew)
        if terms is not None:
            following.note(conn, self.run_id, plan, terms, options.orders, discovery)
        self.views = following.addresses(conn, plan.views)
        learner.flagged.clear()
        learner.save(conn, now=True)
        self._claims = PlannedClaims(
            plan,
            self._claim,
            flagged=learner.flagged,
            started_ms=self.started_ms,
            planned_ms=self.now_ms(),
            batch=options.claim_batch,
            left=lambda: self.left(),
        )
        lanes = ", ".join(f"{len(ids)} {lane.value}" for lane, ids in plan.lanes.items())
        logger.info("%s: the plan: %s, %d catalogue pages", options.store, lanes or "no page", len(self.views))

    def look_again(self, saved: Sequence[Saved]) -> None:
        """Have the plan's pages that were held be visited once more in this run, if they're due at once."""
        if self._claims is not None:
            for one in saved:
                if one.outcome is Outcome.HELD and isinstance(one.record, Visit):
                    self._claims.look_again(one.record.target.page_id)


def _without_end() -> int:
    """Return how many pages may be asked for where nothing limits them."""
    return sys.maxsize
