"""What a run learns for the planner, with the visits that it saves: in their rows, and of the store as a whole."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, RootTransaction

from storebot.core.planner.hazard import LISTED_FOR_H, Flag, hours_to_due
from storebot.core.planner.knowledge import Category, Past, observe, observe_card
from storebot.core.planner.lanes import Lane
from storebot.core.planner.value import ValueRule, value_of
from storebot.db import knowledge as saved_knowledge
from storebot.db.knowledge import HOUR_MS, Memory, add_categories, category_name
from storebot.db.lastmods import Lastmods
from storebot.db.validators import entity_tag, http_date
from storebot.items import CARD, Visit

if TYPE_CHECKING:
    from storebot.db.compare import Known

logger = logging.getLogger(__name__)

SAVE_EVERY_S = 10.0  # what a killed run forgets of the store; what it learned of pages is in their rows
MEANS_EVERY_MS = 24 * HOUR_MS
AGAIN_AFTER_MS = 30 * 24 * HOUR_MS  # after which validators that lied are tried again, where audits watch them


class Lesson(NamedTuple):
    """One look at a page, and the row that it writes."""

    page: Known
    visit: Visit
    row: dict[str, Any]  # the parameters of its UPDATE
    changed: bool | None  # None: it says nothing of how often the page changes
    visible: bool = False  # the change is in a field that cards show


@dataclass(slots=True)
class _Before:
    """The state to go back to if a transaction fails."""

    memory: Memory
    categories: dict[int, Category | None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    unsaved: set[int] = field(default_factory=set)
    saved_s: float = 0.0


class Learner:
    """The planner's memory of the store of one run; used by the thread that saves, alone.

    It learns within the transaction that writes what it learned from. `committed` is to be called after it; if it
    isn't, the next `attempt` forgets what the last one learned: a batch that is tried again counts once.
    """

    def __init__(
        self,
        store: str,
        memory: Memory,
        *,
        planned: bool = False,
        rules: Sequence[ValueRule] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``planned``: pages are due by what is expected of them, not after the store's interval.

        ``rules`` give a page that is read its value.
        """
        self.store, self.memory, self.planned, self.rules = store, memory, planned, rules
        self.lastmods = Lastmods(store, memory)
        self.flagged: list[int] = []  # pages that a signal named, in the order in which it did
        self._clock, self._saved_s = clock, clock()
        self._unsaved: set[int] = set()  # categories
        self._before: _Before | None = None
        self._transaction: RootTransaction | None = None

    # --- transactions -----------------------------------------------------------------------------------------------

    @contextmanager
    def attempt(self, conn: Connection) -> Iterator[None]:
        """Learn within a transaction, or a savepoint of one: what is raised makes it forget."""
        root = conn.get_transaction()
        if self._before is not None and self._transaction is not root:
            self._forget(self._before)
        outer = self._before
        self._transaction, self._before = root, self._now()
        try:
            yield
        except BaseException:
            self._forget(self._before)
            self._before = outer
            raise
        if outer is not None:
            for number, category in self._before.categories.items():
                outer.categories.setdefault(number, category)
            outer.names |= self._before.names
            self._before = outer

    def committed(self) -> None:
        """Keep what was learned since."""
        self._before = self._transaction = None

    def _now(self) -> _Before:
        memory = copy(self.memory)
        memory.knowledge = copy(self.memory.knowledge)  # both share the categories, which are kept as they're touched
        return _Before(memory, unsaved=set(self._unsaved), saved_s=self._saved_s)

    def _forget(self, before: _Before) -> None:
        memory, categories = self.memory, self.memory.knowledge.categories
        for name in saved_knowledge.OF_MEMORY:
            setattr(memory, name, getattr(before.memory, name))
        for name in saved_knowledge.OF_KNOWLEDGE:
            setattr(memory.knowledge, name, getattr(before.memory.knowledge, name))
        for number, category in before.categories.items():
            if category is None:
                categories.pop(number, None)
            else:
                categories[number] = category
        for name in before.names:
            memory.names.pop(name, None)
        self._unsaved, self._saved_s, self._before = before.unsaved, before.saved_s, None

    def touch(self, number: int) -> None:
        """Say that a category is about to change."""
        self._unsaved.add(number)
        if self._before is not None and number not in self._before.categories:
            known = self.memory.knowledge.categories.get(number)
            self._before.categories[number] = copy(known) if known else None

    # --- lessons ----------------------------------------------------------------------------------------------------

    def learn(self, conn: Connection, lessons: Sequence[Lesson]) -> None:
        """Take in looks at pages, in their order, and complete their rows: rate, signal, category, when they're due."""
        names = {id(one): category_name(one.visit.listings[0].category_path) for one in lessons if one.visit.listings}
        if new := add_categories(conn, self.store, self.memory, [*names.values()]):
            if self._before is not None:
                self._before.names.update(new)
            for name in new:
                self.touch(self.memory.names[name])
                self.memory.knowledge.category(self.memory.names[name])
        for one in lessons:
            self._learn(one, self.memory.names.get(names[id(one)], 0) if id(one) in names else one.page.category_id)

    def save(self, conn: Connection, *, now: bool = False) -> None:
        """Save what is known of the store if it's time, or ``now``."""
        if now or self._clock() - self._saved_s >= SAVE_EVERY_S:
            saved_knowledge.save(conn, self.store, self.memory, self._unsaved)
            self._unsaved, self._saved_s = set(), self._clock()

    def learn_means(self, conn: Connection, now_ms: int) -> None:
        """Take the categories' means anew from all pages, once a day."""
        if now_ms - self.memory.means_at >= MEANS_EVERY_MS:
            knowledge, found = self.memory.knowledge, saved_knowledge.sums(conn, self.store)
            for number in found:
                self.touch(number)
            knowledge.learn_means(found)
            self.memory.means_at = now_ms

    def _learn(self, one: Lesson, category: int) -> None:
        page, visit, row, knowledge = one.page, one.visit, one.row, self.memory.knowledge
        now_h = visit.at_ms / HOUR_MS
        past = Past(
            (page.checked_at or 0) / HOUR_MS,
            page.change_credit,
            page.exposure_h,
            page.listed_at / HOUR_MS,
            Flag(page.signal),
            page.category_id,
        )
        if visit.source == CARD:
            self.touch(page.category_id)
            if past.flag is Flag.DIFFERS:  # the gate held what the card told, and publishes it now: that's answered
                past.flag = Flag.NONE
            observe_card(past, knowledge, now_h, differs=True)
            row["to_change_credit"], row["to_exposure_h"] = past.credit, past.exposure_h
            row["to_signal"] = past.flag.value
            return
        if one.changed is not None and self._believes(one):
            self.touch(page.category_id)
            audit = visit.target.lane == Lane.AUDIT
            observe(past, knowledge, now_h, changed=one.changed, visible=one.visible, audit=audit)
            row["to_change_credit"], row["to_exposure_h"] = past.credit, past.exposure_h
            row["to_listed_at"] = visit.at_ms if past.listed_h else 0
            if audit and _is_same_version(page, visit):
                self.memory.validators_asked += 1
                if one.changed:
                    self.memory.validators_lies += 1
                    proof = f"{visit.target.url}: another record under the validators that were known"
                    self.distrust(proof, visit.at_ms)
            self.memory.learned_since = self.memory.learned_since or visit.at_ms
        row["to_category_id"] = category
        if self.rules and visit.listings:
            row["to_value"] = value_of(self.rules, visit.listings)
        if self.planned:
            listed = now_h - past.listed_h <= LISTED_FOR_H
            worth = row["to_value"]
            hazard = knowledge.hazard(past.credit, past.exposure_h, category, now_h, listed=listed, value=worth)
            row["to_next_due_at"] = visit.at_ms + round(hours_to_due(hazard, knowledge.threshold) * HOUR_MS)

    def _believes(self, one: Lesson) -> bool:
        """Whether a look is an observation: a 304 only while nothing has shown that it may hide a change."""
        return one.visit.status != 304 or not self.memory.validators_lie

    # --- validators -------------------------------------------------------------------------------------------------

    def saw_false_304(self, visit: Visit) -> None:
        """Take in that a server said 304 to what was known, right after it had sent another page."""
        self.memory.validators_asked += 1
        self.memory.validators_lies += 1
        self.distrust(f"{visit.target.url}: 304 to what was known, right after another page was sent", visit.at_ms)

    def distrust(self, proof: str, at_ms: int) -> None:
        """Send no conditional request to this store any more: a 304 of it may hide a change (case C05)."""
        if not self.memory.validators_lie:
            logger.warning(
                "%s: its 304 is not to be believed: %s; pages are fetched in full from now on", self.store, proof
            )
        self.memory.validators_lie, self.memory.validators_lie_at = proof, at_ms

    def may_ask_conditionally(self, now_ms: int) -> bool:
        """Whether a request may say what is known, and be answered with 304."""
        since = now_ms - self.memory.validators_lie_at
        return not self.memory.validators_lie or (self.planned and since >= AGAIN_AFTER_MS)


def _is_same_version(page: Known, visit: Visit) -> bool:
    """Whether the server says that a page is as it was when its record was read: a 304 would have hidden the change.

    By the entity tag where it gives one: it decides alone then (RFC 9110 §13.2.2).
    """
    if visit.tier not in _CONDITIONAL_TIERS:
        return False
    if page.etag and (tag := entity_tag(visit.etag)):
        return page.etag.removeprefix("W/") == tag.removeprefix("W/")
    return bool(page.last_modified) and not page.etag and page.last_modified == http_date(visit.last_modified)


_CONDITIONAL_TIERS = ("http", "http2")  # validators of the others are never sent
