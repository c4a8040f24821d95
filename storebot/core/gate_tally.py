"""The tally of a run so far: what the write gate judges it by. Adding is order-free, and counts add up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from storebot.core.gate_facts import Facts, Kind
from storebot.items import Outcome

MOST_RECORDS = 1000  # distinct records that are counted exactly; of more, only the most frequent are

_NUMBERS = ("seen", "new", "changed", "price_only", "identity", "missing", "blocked")


@dataclass(slots=True)
class Tally:
    """What a run has compared so far. ``seen`` are known pages that answered: as they were, changed, or missing."""

    seen: int = 0
    new: int = 0
    changed: int = 0
    price_only: int = 0  # of these, in nothing but prices
    identity: int = 0
    missing: int = 0  # or moved to a page that was there before
    blocked: int = 0
    lost: Counter[str] = field(default_factory=Counter)  # field -> pages
    ratios: Counter[int] = field(default_factory=Counter)  # bucket -> pages whose price moved so far
    currencies: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)  # hash -> new or changed pages with this record

    def count(self, outcome: Outcome) -> None:
        """Count a visit that is settled, and of which no more is to be said than its outcome.

        One that is missing doesn't count by that alone: a page that was never read, or was missing before, is no news.
        """
        if outcome is Outcome.BLOCKED:
            self.blocked += 1
        elif outcome is Outcome.NEW:
            self.new += 1
        elif outcome.seen:
            self.seen += 1
            self.changed += outcome is Outcome.CHANGED

    def add_facts(self, facts: Facts) -> None:
        """Count a visit that differs from what is published, whether it was let through, waits or is held."""
        if facts.kind is Kind.NEW:
            self.new += 1
        else:
            self.seen += 1
        self.changed += facts.kind is Kind.CHANGED
        self.price_only += facts.kind is Kind.CHANGED and facts.price_only
        self.missing += facts.kind in (Kind.MISSING, Kind.MOVED)
        self.identity += facts.identity
        self.lost.update(facts.lost)
        if facts.ratio is not None:
            self.ratios[facts.ratio] += 1
        if facts.currency:
            self.currencies[facts.currency] += 1
        if facts.record:
            self._note(facts.record, 1)

    def take_back(self, facts: Facts) -> None:
        """Count a visit no more that `add_facts` counted: another look at its page says what it is, in its place."""
        mirror = Tally()
        mirror.add_facts(facts)
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) - getattr(mirror, name))
        self.lost.subtract(mirror.lost)
        self.ratios.subtract(mirror.ratios)
        self.currencies.subtract(mirror.currencies)
        self.records.subtract(mirror.records)

    def add(self, other: Tally) -> None:
        """Add another tally to this one."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.lost.update(other.lost)
        self.ratios.update(other.ratios)
        self.currencies.update(other.currencies)
        for record, pages in other.records.items():
            self._note(record, pages)

    def plus(self, other: Tally) -> Tally:
        """Return the sum of two tallies, and leave both as they are."""
        total = Tally()
        total.add(self)
        total.add(other)
        return total

    @property
    def moved(self) -> int:
        """Pages whose price moved in its currency."""
        return self.ratios.total()

    def median_bucket(self) -> int:
        """Return the middle bucket of the price moves; there must be one."""
        left = self.moved // 2
        for place, pages in sorted(self.ratios.items()):
            left -= pages
            if left < 0:
                return place
        raise ValueError("no price moved")

    def repeated(self) -> int:
        """Return how many pages show the record that most of them show."""
        return max(self.records.values(), default=0)

    def _note(self, record: str, pages: int) -> None:
        """Count a record; where too many are known, let go of the rarest (Misra and Gries): memory stays bounded."""
        if record not in self.records and len(self.records) >= MOST_RECORDS:
            self.records = Counter({known: count - 1 for known, count in self.records.items() if count > 1})
        self.records[record] += pages
