"""What is known of a store as a whole: how often its pages change by category, and which signals tell the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

from storebot.core.planner.hazard import (
    MEMORY_H,
    PRIOR_WEIGHT,
    SURE,
    Flag,
    Hazard,
    at_least_one,
    change_rate,
    changes_behind_one,
    decay,
)

FIRST_RATE = 1 / (20 * 24.0)  # changes an hour, before anything is known of a store
BURST_HALF_LIFE_H = 6.0
_BURST_MOST = 30.0
_ENOUGH_CHANGES = 20.0  # after which a category's own mean counts
# A moved lastmod stands for a change in six of ten cases, until it is known better; in two, once a card was seen.
_LIFT_PRIOR = {Flag.LASTMOD: (12.0, 20.0), Flag.CHECKED: (4.0, 20.0)}
_RATE_DOUBT = 2.0  # by how much the store's rate may be underrated
_USELESS_LIFT = 0.1  # below which a moved lastmod says nothing
_VISIBLE_MOST = 0.95
CARDS_ENOUGH, CARDS_AGREE = 50, 0.98  # pairs of card and page, and the share of equal prices, that prove a card


@dataclass(slots=True)
class Category:
    """What the pages of one category have in common. ``seen`` and ``expected`` are changes, of late."""

    mean: float = FIRST_RATE  # changes an hour
    seen: float = 0.0
    expected: float = 0.0
    at_h: float = 0.0  # when the two were last decayed

    def burst(self, now_h: float) -> float:
        """Return by how much more the category changes now than it used to: a sale."""
        left = decay(max(now_h - self.at_h, 0.0), BURST_HALF_LIFE_H)
        return min(max((self.seen * left + 2) / (self.expected * left + 2), 1.0), _BURST_MOST)

    def observe(self, now_h: float, changed: float, expected: float) -> None:
        """Count a look: whether it found a change, and how probable that was."""
        left = decay(max(now_h - self.at_h, 0.0), BURST_HALF_LIFE_H)
        self.seen, self.expected = self.seen * left + changed, self.expected * left + expected
        self.at_h = max(now_h, self.at_h)


@dataclass(slots=True)
class Knowledge:
    """What the planner has learned of one store. Counters are sums over visits."""

    mean: float = FIRST_RATE
    threshold: float = 0.05  # index at which a page is due, by the budget
    categories: dict[int, Category] = field(default_factory=dict)
    # What catalogue pages show:
    changes: float = 2.0  # found at the pages themselves, and of these, in a field that cards show
    visible_changes: float = 1.2
    card_pairs: int = 0  # a card and its page, looked at within an hour
    card_equal: int = 0
    # What lastmod is worth:
    lastmod_hits: float = 0.0  # of visits with a moved lastmod: changes beyond what was expected anyway
    lastmod_looks: float = 0.0
    checked_hits: float = 0.0  # the same, where a card was looked at since
    checked_looks: float = 0.0
    bumps: float = 0.0  # entries that moved
    sitemap_page_hours: float = 0.0  # pages times hours over which entries were watched
    audit_changes: float = 0.0  # of audit visits to pages whose entry hadn't moved
    audit_hours: float = 0.0
    # Whether the rates are right:
    plain_hits: float = 1.0  # of visits without a signal: changes found, and expected
    plain_expected: float = 1.0
    reads_sitemaps: bool = False
    lastmod_is_junk: bool = False  # as its sitemap shows by itself: one timestamp for all, the time of generation

    @property
    def visible(self) -> float:
        """Share of the changes that a look at a card would find."""
        return _VISIBLE_MOST * self.visible_changes / max(self.changes, 1e-9)

    @property
    def cards_are_prices(self) -> bool:
        """Whether the price on a card has proved to be that of its page; else a card is a hint only."""
        return self.card_pairs >= CARDS_ENOUGH and self.card_equal >= CARDS_AGREE * self.card_pairs

    @property
    def lift(self) -> float:
        """Probability that a moved lastmod stands for a change."""
        return self._lift(Flag.LASTMOD, self.lastmod_hits, self.lastmod_looks)

    @property
    def lift_checked(self) -> float:
        """The same, where a card was looked at since: for what cards don't show."""
        return self._lift(Flag.CHECKED, self.checked_hits, self.checked_looks)

    def _lift(self, flag: Flag, hits: float, looks: float) -> float:
        if self.lastmod_is_junk:
            return 0.0
        before = _LIFT_PRIOR[flag]
        return min(max((before[0] + hits) / (before[1] + looks), 0.0), self._most_lift, SURE)

    @property
    def _most_lift(self) -> float:
        """What the lift can be at most: entries that move more often than pages change can't all tell of a change."""
        if not self.bumps:
            return 1.0
        return _RATE_DOUBT * self.mean * self.sitemap_page_hours / self.bumps

    @property
    def calibration(self) -> float:
        """How many changes are found for one that is expected."""
        return min(max(self.plain_hits / self.plain_expected, 0.2), 5.0)

    @property
    def recall(self) -> float:
        """Share of the changes that move a lastmod; 0 where sitemaps aren't read, or say nothing."""
        lift = self.lift
        if not self.reads_sitemaps or lift < _USELESS_LIFT or self.sitemap_page_hours <= 0:
            return 0.0
        told = lift * self.bumps / self.sitemap_page_hours
        # Before audits have seen enough the store's own mean stands for what isn't told.
        untold = (self.audit_changes + 1.0) / (self.audit_hours + 1.0 / self.mean)
        return told / (told + untold)

    def category(self, number: int) -> Category:
        """Return a category; one that nobody saw before changes as the store does."""
        known = self.categories.get(number)
        if known is None:
            known = self.categories[number] = Category(mean=self.mean)
        return known

    def signalled(self, flag: Flag, rate: float) -> float:
        """Return how probable a change is, by a page's flag: a lastmod of a page that often changes says more."""
        if flag is Flag.NONE or flag >= Flag.DIFFERS:
            return SURE if flag else 0.0
        lift = self.lift if flag is Flag.LASTMOD else self.lift_checked
        odds = lift / (1 - lift) * sqrt(rate / self.mean)
        return odds / (1 + odds)

    def unreported(self, rate: float, *, listed: bool) -> float:
        """Return the part of a rate that neither lastmod nor a card would tell of."""
        return rate * (1 - self.recall) * ((1 - self.visible) if listed else 1.0)

    def hazard(
        self,
        credit: float,
        exposure_h: float,
        category: int,
        now_h: float,
        *,
        flag: Flag = Flag.NONE,
        listed: bool = False,
        value: float = 1.0,
    ) -> Hazard:
        """Return what is expected of a page."""
        group = self.category(category)
        rate = change_rate(credit, exposure_h, group.mean)
        now = rate * group.burst(now_h)
        return Hazard(rate, self.unreported(now, listed=listed), self.signalled(flag, now), value)

    def learn_means(self, sums: dict[int, tuple[float, float]]) -> None:
        """Take the means anew from what all pages have seen: category -> (credit, hours). Once a day is enough."""
        credit = sum(pair[0] for pair in sums.values())
        hours = sum(pair[1] for pair in sums.values())
        self.mean = (credit + _ENOUGH_CHANGES) / (hours + _ENOUGH_CHANGES / FIRST_RATE)
        for number, (own_credit, own_hours) in sums.items():
            mean = (own_credit + _ENOUGH_CHANGES) / (own_hours + _ENOUGH_CHANGES / self.mean)
            self.category(number).mean = mean


@dataclass(slots=True)
class Past:
    """What is known of one page: a row of the table of pages. ``looked_h`` is its last look."""

    looked_h: float
    credit: float = 0.0
    exposure_h: float = 0.0
    listed_h: float = 0.0  # when a card showed it last; 0: never
    flag: Flag = Flag.NONE
    category: int = 0
    carded_h: float = 0.0  # when a card told of a change that its page didn't confirm yet; 0: never


def observe(
    past: Past, knowledge: Knowledge, now_h: float, *, changed: bool, visible: bool = False, audit: bool = False
) -> None:
    """Take in a look at the page itself: a 200, or a 304 that is believed. An error is no observation.

    ``visible``: the change is in a field that its card shows. ``audit``: the page was picked at random.
    """
    gap_h = max(now_h - past.looked_h, 0.0)
    unseen_h = max(gap_h - knowledge.visible * max(past.listed_h - past.looked_h, 0.0), 0.0)  # cards saw the rest
    group = knowledge.category(past.category)
    expected = change_rate(past.credit, past.exposure_h, group.mean) * unseen_h
    left = decay(gap_h)
    past.credit = past.credit * left + (changes_behind_one(expected) if changed else 0.0)
    past.exposure_h = past.exposure_h * left + unseen_h
    group.observe(now_h, float(changed), at_least_one(expected))
    _learn(knowledge, past.flag, unseen_h, expected, changed=changed, visible=visible, audit=audit)
    past.flag, past.looked_h = Flag.NONE, now_h
    if past.listed_h:
        past.listed_h = now_h


def _learn(
    knowledge: Knowledge, flag: Flag, unseen_h: float, expected: float, *, changed: bool, visible: bool, audit: bool
) -> None:
    if changed:
        knowledge.changes += 1
        knowledge.visible_changes += visible
    probable = at_least_one(expected * (1 - knowledge.recall))
    anyway = min(knowledge.calibration * probable, 0.95)
    if flag is Flag.LASTMOD:
        knowledge.lastmod_hits += changed - anyway
        knowledge.lastmod_looks += 1 - anyway
    elif flag is Flag.CHECKED:
        knowledge.checked_hits += changed - anyway
        knowledge.checked_looks += 1 - anyway
    elif flag is Flag.NONE:
        knowledge.plain_hits += changed
        knowledge.plain_expected += probable
        if audit:
            knowledge.audit_changes += changed
            knowledge.audit_hours += unseen_h


def observe_card(past: Past, knowledge: Knowledge, now_h: float, *, differs: bool) -> None:
    """Take in a look at a page's card; ``differs``: it showed another price than is known.

    Where that price is believed the change is known by it. Else it's a hint: the page is due at once.
    """
    since = max(past.listed_h, past.looked_h)
    gap_h, visible = max(now_h - since, 0.0), knowledge.visible
    group = knowledge.category(past.category)
    expected = change_rate(past.credit, past.exposure_h, group.mean) * visible * gap_h
    if past.flag >= Flag.DIFFERS:
        return  # it's known to differ since ``listed_h``
    past.listed_h = now_h
    if differs and not knowledge.cards_are_prices:
        past.flag = Flag.DIFFERS
        return
    past.exposure_h += visible * gap_h
    if differs:
        past.credit += changes_behind_one(expected)
    group.observe(now_h, float(differs), at_least_one(expected))
    if differs:
        knowledge.changes += 1
        knowledge.visible_changes += 1
    if past.flag is Flag.LASTMOD:
        past.flag = Flag.NONE if differs else Flag.CHECKED  # the change that moved it is known, or isn't on cards


def moved(past: Past, lastmod_h: float) -> bool:
    """Take in that a sitemap entry moved, to a time: it's no news where it is older than the last look.

    Nor is a page to be looked at for a change of which a card has told since. Return whether it counts as moved.
    """
    if lastmod_h <= past.looked_h or past.flag >= Flag.LASTMOD:
        return False
    if lastmod_h <= past.carded_h:
        return True
    past.flag = Flag.CHECKED if lastmod_h <= past.listed_h else Flag.LASTMOD
    return True


__all__ = ["MEMORY_H", "PRIOR_WEIGHT", "Category", "Knowledge", "Past", "moved", "observe", "observe_card"]
