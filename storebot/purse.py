"""What a run spends, and whether it may spend more: the price of each try, its budget, and when to be thrifty."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, MutableMapping
from typing import Any

from storebot.core.budget import Budget, Use, Verdict
from storebot.core.costs import Ledger, PriceTable, Sum
from storebot.core.month import Month
from storebot.core.thrift import Experience, Thrift, cheap_tiers, thrift
from storebot.exceptions import BudgetReached
from storebot.items import Expense, Outlay, PageType, Spent, Tier, Visit
from storebot.stores.model import Store

logger = logging.getLogger(__name__)

ROBOTS = "robots"  # what has no page type of its own
_DISCOVERY = (PageType.CATALOGUE, PageType.SITEMAP)  # a feed carries products
_RESERVED = "reserved"  # in a request's meta: what it is expected to take, while it's under way


class Purse:
    """One for each run. `tried` is told of every try, whatever came of it; `admit` lets a request through, or doesn't.

    Requests of a product page are told to the database with its visit, all others as an `Outlay` of their own. What is
    under way is known on the event loop alone, so nothing here is locked.
    """

    def __init__(self, store: Store, *, requests: int | None = None) -> None:
        """``requests`` are the most of this run, whatever the store file says."""
        run = store.budget.run.limits
        self.limits = (run._replace(requests=requests) if requests else run, store.budget.month.limits)
        self.table = store.costs.table if store.costs else PriceTable()
        self.tiers = store.fetch.tiers
        self.thrift = Thrift()
        self._store = store.name
        self._ledger = Ledger(self.table)
        self._experience = Experience()
        self._untold: dict[Tier, Sum] = {tier: Sum() for tier in Tier}
        self._freed = asyncio.Event()
        self._budget = self._of(Expense(), "the month")
        self._month = Month(0, 0)

    def open(
        self,
        spent_in_month: Expense,
        *,
        now_ms: Callable[[], int],
        submit: Callable[[Outlay], None],
        on_stop: Callable[[str, bool], None],
        on_thrift: Callable[[Thrift], None],
    ) -> None:
        """Begin with what other runs spent in this month.

        ``on_stop`` is told why a request wasn't sent, and whether it was one of discovery; ``on_thrift`` of the first
        limit that comes near.
        """
        self._now_ms, self._submit, self._on_stop, self._on_thrift = now_ms, submit, on_stop, on_thrift
        self._month = Month.at(now_ms())
        self._budget = self._of(spent_in_month, self._month.name)
        self._look()

    def _of(self, spent_in_month: Expense, month: str) -> Budget:
        run, of_month = self.limits
        currency = self.table.currency
        return Budget(Use(run, "this run", currency), Use(of_month, month, currency, spent_in_month))

    @property
    def has_limits(self) -> bool:
        """Whether anything may be refused at all."""
        return any(limits.any for limits in self.limits)

    @property
    def used_up(self) -> str:
        """Say which limit is used up already, "" where none is."""
        return self._budget.used_up

    @property
    def total(self) -> Expense:
        """What the run has spent."""
        return self._ledger.total

    @property
    def currency(self) -> str:
        """The currency of the prices, "" where nothing is priced."""
        return self.table.currency if self.table.tiers else ""

    @property
    def allowed(self) -> frozenset[Tier]:
        """The tiers that a page may be escalated to: all, or the cheap ones while it's time to be thrifty."""
        if not self.thrift.scarce:
            return frozenset(self.tiers)
        return cheap_tiers(self.tiers, {tier: self._expect(tier) for tier in self.tiers}, self.thrift.scarce)

    # --- what was spent ---------------------------------------------------------------------------------------------

    def tried(self, meta: MutableMapping[str, Any], tier: Tier, spent: Spent) -> None:
        """Put a price to one try of a request, whose meta it is; ``spent`` has what it took by now."""
        took = self._ledger.charge(tier, spent)
        page_type = meta.get("page_type")
        if page_type is PageType.PRODUCT:
            self._untold[tier].add(took)
        else:
            self._submit(self._outlay(tier, page_type, took))
        if self.has_limits:
            self._spend(meta, tier, took, page_type)

    def told(self, visit: Visit) -> None:
        """Note that a visit tells the database what its page took."""
        if visit.target.page_type is PageType.PRODUCT:
            for tier, expense in visit.by_tier.items():
                self._untold[tier].take(expense)

    def tell_rest(self) -> None:
        """Tell what was spent on product pages that brought no visit: of a run that was stopped, or a lost page."""
        for tier, untold in self._untold.items():
            if any(expense := untold.value):
                self._submit(self._outlay(tier, PageType.PRODUCT, expense))
                untold.take(expense)

    def _outlay(self, tier: Tier, page_type: PageType | None, expense: Expense) -> Outlay:
        name = page_type.value if page_type else ROBOTS
        return Outlay(store=self._store, at_ms=self._now_ms(), tier=tier, page_type=name, expense=expense)

    # --- what may be spent ------------------------------------------------------------------------------------------

    async def admit(self, meta: MutableMapping[str, Any]) -> None:
        """Return when a request may be sent. Raises `BudgetReached` where it may not: then nothing was sent.

        Where there may be room when others are done, it waits for them.
        """
        spent: Spent | None = meta.get("spent")
        discovery = meta.get("page_type") in _DISCOVERY
        started = spent is not None and bool(spent.tries)
        while True:
            expected = self._expect_all_of(meta.get("tier") or (self.tiers[0] if "page_type" in meta else Tier.HTTP))
            judged = self._budget.judge(expected, started=started, discovery=discovery)
            if judged.verdict is Verdict.GO:
                break
            if judged.verdict is Verdict.STOP:
                self._on_stop(judged.why, discovery)
                raise BudgetReached("not asked for, because the budget is reached")
            await self._freed.wait()
        meta[_RESERVED] = expected
        self._budget.begin(expected, discovery=discovery)

    def release(self, meta: MutableMapping[str, Any]) -> None:
        """Note that a request isn't under way any more. Harmless twice."""
        expected: Expense | None = meta.pop(_RESERVED, None)
        if expected is not None:
            self._budget.end(expected, discovery=meta.get("page_type") in _DISCOVERY)
            self._freed.set()
            self._freed = asyncio.Event()

    def _spend(self, meta: MutableMapping[str, Any], tier: Tier, took: Expense, page_type: PageType | None) -> None:
        if self._now_ms() >= self._month.end_ms:
            self._month = Month.at(self._now_ms())
            self._budget.next_month(self._month.name)
        self._experience.add(tier, took)
        self._budget.spend(took, discovery=page_type in _DISCOVERY)
        self._look()
        self.release(meta)

    def _look(self) -> None:
        """See once whether it's time to be thrifty: from then on, for the whole run."""
        if self.thrift.scarce:
            return
        run, month = self._budget.run, self._budget.month
        shares = (run.limits.shares(run.spent), month.limits.shares(month.spent))
        self.thrift = thrift(*shares, self._month.passed(self._now_ms()))
        if self.thrift.scarce:
            self._on_thrift(self.thrift)

    def _expect(self, tier: Tier) -> Expense:
        expected = self._experience.expect(tier)
        return expected._replace(cost_micro=self.table.estimate(tier, expected))

    def _expect_all_of(self, tier: Tier) -> Expense:
        """Return what a request by a tier takes, with the price of the dearest tier that its page may come to."""
        dearest = max(self._expect(one).cost_micro for one in {tier, *self.allowed})
        return self._expect(tier)._replace(cost_micro=dearest)
