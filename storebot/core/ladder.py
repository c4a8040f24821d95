"""By which tier a page is fetched: the cheapest that works, and what is tried where that one doesn't.

Pure: the time is an argument, and what was learned goes in and out as `Rung` values. Why these rules:
docs/decisions/0026-ladder.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from storebot.core.rung import FIRST_WAIT_MS, MINUTE_MS, Rung, failed, worked
from storebot.items import PageType, Tier

PROBE_MS = 10 * MINUTE_MS
"""So long a probe may take: one that brought nothing by then (its connection broke, robots.txt forbade it) is over."""

ALL = frozenset(Tier)


class Ladder:
    """The tiers that a store lists, with what is known of each for each type of page.

    A tier is *in use* or *left*. One that is left is probed, by one request at a time, when its back-off is over; all
    others go on with the tier that works. No tier is ever returned that isn't listed.
    """

    def __init__(self, tiers: Sequence[Tier], memory: Iterable[Rung] = ()) -> None:
        """Take the tiers in any order; what ``memory`` holds of others is ignored."""
        if not tiers:
            raise ValueError("a ladder needs a tier")
        self.tiers = tuple(tier for tier in Tier if tier in tiers)
        self._rungs = {(rung.page_type, rung.tier): rung for rung in memory if rung.tier in self.tiers}
        self._probes: dict[tuple[PageType, Tier], int] = {}  # since when one is under way
        self._closed: set[Tier] = set()

    def begin(self, page_type: PageType, now_ms: int, *, among: Collection[Tier] = ALL) -> Tier:
        """Return the tier for a page that is asked for anew: the cheapest in use, or a cheaper one that is due a probe.

        Where all were left: the one that worked last, for as long as that is younger than the first back-off, else the
        cheapest. A few bad pages must not end a run, and a store that says no to everything isn't worth money.
        ``among`` are those that are to be used while money is short. Where none of them is in use, it's any: the page
        would only be refused by a cheaper one, and what may be spent at all is not decided here.
        """
        open_tiers = [tier for tier in self.tiers if tier not in self._closed]
        cheap = [tier for tier in open_tiers if tier in among]
        found = self._usable(cheap, page_type, now_ms) or self._usable(open_tiers, page_type, now_ms)
        return found or self._last_hope(open_tiers, page_type, now_ms) or (open_tiers or self.tiers)[0]

    def after(self, tier: Tier, page_type: PageType, now_ms: int, *, among: Collection[Tier] = ALL) -> Tier | None:
        """Return the next tier up for a page that ``tier`` didn't get, of those ``among``; None where there is none."""
        above = [one for one in self.tiers if _COST[one] > _COST[tier] and one in among and one not in self._closed]
        return self._usable(above, page_type, now_ms) or self._last_hope(above, page_type, now_ms)

    def has_next(self, tier: Tier, page_type: PageType, now_ms: int, *, among: Collection[Tier] = ALL) -> bool:
        """Whether there is a tier up, of those ``among``, that a page may go on to; nothing is begun by asking."""
        above = (one for one in self.tiers if _COST[one] > _COST[tier] and one in among and one not in self._closed)
        rungs = [self.of(page_type, one) for one in above]
        return any(
            not rung.is_left or rung.is_due(now_ms) or rung.worked_since(now_ms - FIRST_WAIT_MS) for rung in rungs
        )

    def record(
        self, page_type: PageType, tier: Tier, *, works: bool, now_ms: int, reason: str = "", filled: bool = False
    ) -> bool:
        """Note what a tier did, and say whether it was left or taken into use by that.

        ``filled`` says that it had the fields that a cheaper tier got this very page without.
        """
        key = (page_type, tier)
        before = self._rungs.get(key) or Rung(page_type=page_type, tier=tier)
        probe = self._probes.pop(key, None) is not None
        after = worked(before, now_ms, filled=filled) if works else failed(before, now_ms, reason, probe=probe)
        self._rungs[key] = after
        return before.is_left != after.is_left

    def close(self, tier: Tier) -> None:
        """Use a tier no more: it can't fetch anything now. That isn't remembered."""
        self._closed.add(tier)

    def fills(self, page_type: PageType, tier: Tier, now_ms: int) -> bool:
        """Whether a tier above ``tier`` that is in use has lately had the fields which a cheaper one's pages lacked."""
        return any(
            rung.fills(now_ms) and not rung.is_left and one not in self._closed
            for one in self.tiers
            if _COST[one] > _COST[tier] and (rung := self._rungs.get((page_type, one))) is not None
        )

    def rungs(self) -> tuple[Rung, ...]:
        """Return what is known, to be remembered."""
        return tuple(self._rungs.values())

    def of(self, page_type: PageType, tier: Tier) -> Rung:
        """Return what is known of one tier for one type of page."""
        return self._rungs.get((page_type, tier)) or Rung(page_type=page_type, tier=tier)

    def _usable(self, tiers: Iterable[Tier], page_type: PageType, now_ms: int) -> Tier | None:
        """Return the first that is in use, or is to be probed; the probe is under way then."""
        for tier in tiers:
            rung = self._rungs.get((page_type, tier))
            if rung is None or not rung.is_left:
                return tier
            if rung.is_due(now_ms) and self._open_probe(page_type, tier, now_ms):
                return tier
        return None

    def _open_probe(self, page_type: PageType, tier: Tier, now_ms: int) -> bool:
        since = self._probes.get((page_type, tier))
        if since is not None and now_ms - since < PROBE_MS:
            return False
        self._probes[page_type, tier] = now_ms
        return True

    def _last_hope(self, tiers: Sequence[Tier], page_type: PageType, now_ms: int) -> Tier | None:
        """Return the one of these that worked last, if that wasn't long ago."""
        lately = [rung for rung in self._of(tiers, page_type) if rung.worked_since(now_ms - FIRST_WAIT_MS)]
        return max(lately, key=lambda rung: rung.worked_at).tier if lately else None

    def _of(self, tiers: Iterable[Tier], page_type: PageType) -> Iterator[Rung]:
        return (rung for tier in tiers if (rung := self._rungs.get((page_type, tier))) is not None)


_COST = {tier: place for place, tier in enumerate(Tier)}
