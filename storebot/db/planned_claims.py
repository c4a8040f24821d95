"""The claims of a refresh that goes by a plan: new pages, those that the run itself is told of, then the plan's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any, Protocol

from sqlalchemy import Connection

from storebot.core.planner.lanes import Lane
from storebot.core.planner.planned import PlannedRun
from storebot.db import claims
from storebot.items import Target

_SUSPECTS = 200  # ids a statement
_EXPLICIT = 0  # a due date that is no time: looked at at once


class Claim(Protocol):
    """Claims by one of the verbs of `storebot.db.claims`, for the run."""

    def __call__(
        self, verb: Callable[..., list[Target]], conn: Connection, what: object, **more: Any
    ) -> list[Target]: ...


class PlannedClaims:
    """Hands out pages while the run has requests left; used by the thread that saves, alone.

    Each claim takes half of what is left at most: a page may take more than one request. What the plan couldn't spend,
    because its pages were visited otherwise, goes to what is due next.
    """

    def __init__(
        self,
        plan: PlannedRun,
        claim: Claim,
        *,
        flagged: list[int],
        started_ms: int,
        planned_ms: int,
        batch: int,
        left: Callable[[], int],
    ) -> None:
        """``flagged`` gets the pages that signals name from now on; ``left`` is how many may still be asked for."""
        self._plan, self._claim, self._batch, self._left = plan, claim, batch, left
        self._started_ms, self._planned_ms = started_ms, planned_ms
        self._pages = plan.in_order()
        self._flagged, self._flags_seen = flagged, 0
        self._again: deque[int] = deque()
        self._suspects: dict[int, Lane] = {}
        self._new_left = max(plan.budget - plan.reserved, 0) if plan.budget else batch
        self._done = self._all_claimed = False

    def look_again(self, page_id: int) -> None:
        """Have a page be visited once more in this run, if it's due at once: its change is to be confirmed."""
        self._again.append(page_id)

    def claim(self, conn: Connection) -> list[Target]:
        """Claim what comes next; [] where nothing is left, or no request."""
        room = self._room()
        if room < 1:
            return []
        for claimed in (self._claim_again, self._claim_new, self._claim_flagged, self._claim_planned):
            if found := claimed(conn, room):
                return found
        self._new_left = max(self._new_left, room)  # nothing is reserved any more
        return self._claim_new(conn, room) or self._claim_suspect(conn) or self._claim_next(conn, room)

    def _room(self) -> int:
        left = self._left()
        return min(self._batch, (left + 1) // 2 if self._plan.budget else left)

    def _claim_new(self, conn: Connection, room: int) -> list[Target]:
        """Claim pages that were never read: they take the plan's requests, but not those of the floor."""
        most = min(room, self._new_left)
        found = self._claim(claims.claim_pending, conn, most, due_before=self._started_ms) if most > 0 else []
        self._new_left -= len(found) if self._plan.budget else 0
        return found

    def _claim_again(self, conn: Connection, room: int) -> list[Target]:
        wanted = {self._again.popleft(): Lane.SIGNAL for _ in range(min(room, len(self._again)))}
        return self._these(conn, wanted, due_before=_EXPLICIT)

    def _claim_flagged(self, conn: Connection, room: int) -> list[Target]:
        while self._flags_seen < len(self._flagged):
            some = self._flagged[self._flags_seen : self._flags_seen + room]
            self._flags_seen += len(some)
            if found := self._these(conn, dict.fromkeys(some, Lane.SIGNAL), seen_before=self._planned_ms):
                return found
        return []

    def _claim_planned(self, conn: Connection, room: int) -> list[Target]:
        while wanted := dict(islice(self._pages, room)):
            if found := self._planned(conn, wanted):
                taken = {target.page_id for target in found}
                self._suspects |= {page_id: lane for page_id, lane in wanted.items() if page_id not in taken}
                return found
            self._suspects |= wanted
        return []

    def _claim_suspect(self, conn: Connection) -> list[Target]:
        """Claim one of the pages that couldn't be claimed with others: suspected ones come last, and alone."""
        while some := dict(islice(self._suspects.items(), _SUSPECTS)):
            if found := self._planned(conn, some):
                for target in found:
                    del self._suspects[target.page_id]
                return found
            for page_id in some:
                del self._suspects[page_id]
        return []

    def _claim_next(self, conn: Connection, room: int) -> list[Target]:
        if self._all_claimed or not self._plan.budget:
            return []
        found = self._claim(claims.claim_next, conn, room, seen_before=self._planned_ms)
        self._all_claimed = not found
        return found

    def _planned(self, conn: Connection, wanted: dict[int, Lane]) -> list[Target]:
        """Claim pages of the plan, but for those that a signal put there and whose card told of the change since."""
        by_signal = [page_id for page_id, lane in wanted.items() if lane is Lane.SIGNAL]
        return self._these(conn, wanted, seen_before=self._planned_ms, by_signal=by_signal)

    def _these(self, conn: Connection, wanted: dict[int, Lane], **more: Any) -> list[Target]:
        return self._claim(claims.claim_these, conn, wanted, **more) if wanted else []
