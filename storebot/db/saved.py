"""What became of the records of a batch, and what a write gate counts of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

from storebot.core.gate_facts import Facts
from storebot.db.gating import Gate
from storebot.items import Outcome, Record, Visit


class Saved(NamedTuple):
    """What became of one record: for a visit its outcome, for a page of a walk how many pages it brought."""

    record: Record | None  # None where a visit that was told of before is published now
    outcome: Outcome | None = None  # None for a page of a walk
    rows_written: int = 0  # listing rows, inserted or rewritten
    changes: int = 0  # change events
    reason: str = ""
    new_pages: int = 0
    facts: Facts | None = None  # of a visit that differs from what is published, for the run's tally
    cards_same: int = 0  # of a page of a walk: cards whose price is believed, and is the one that is published
    instead_of: Outcome | None = None  # as which the visit was told of before
    replaced: Facts | None = None  # of an earlier look at the page, which the run's tally has: this one counts instead


def observed(saved: Sequence[Saved]) -> Iterator[tuple[Outcome | None, Facts | None]]:
    """Yield outcome and facts of the visits of product pages, and of cards that were compared: what a gate counts."""
    for one in saved:
        if isinstance(one.record, Visit) and one.record.target.page_id:
            yield one.outcome, one.facts
        yield from repeat((Outcome.UNCHANGED, None), one.cards_same)


def count(gate: Gate, saved: Sequence[Saved]) -> None:
    """Have a run's gate count a batch that is committed."""
    gate.count(observed(saved))
    for one in saved:
        if one.replaced is not None:
            gate.tally.take_back(one.replaced)
        if isinstance(one.record, Visit) and (one.outcome is Outcome.HELD or (gate.open_pages and settles(one))):
            gate.note(one.record.target.page_id, held=one.outcome is Outcome.HELD)


def settles(one: Saved) -> bool:
    """Whether a visit says what is true of its page now, so that nothing older is to be decided."""
    moved = one.outcome is Outcome.MOVED and one.facts is not None
    return one.outcome is not None and (one.outcome.seen or one.outcome is Outcome.MISSING or moved)
