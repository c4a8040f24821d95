"""What a refresh is to fetch, as data. It's made by `storebot.db.planning`, which needs numpy; this doesn't."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge

from storebot.core.planner.lanes import Lane

_RESERVED = (Lane.DUE, Lane.SWEEP, Lane.AUDIT)  # no new page, however many there are, takes their requests


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """The pages of a run by lane, and the catalogue pages to look at: ids of `pages`, and of `catalogue_views`."""

    budget: int  # requests that it was made for; 0: whatever it takes
    seed: int  # of what is chosen at random: the same seed, pages and time give the same plan
    pages: int = 0  # live pages with a record
    lanes: Mapping[Lane, Sequence[int]] = field(default_factory=dict)
    views: Sequence[int] = ()
    differ: float = 0.0  # pages that are expected to differ from their record now
    finds: float = 0.0  # of these, those that it is expected to see
    threshold: float = 0.0  # index at which a page is due from now on
    due_anew: Sequence[tuple[int, int]] = ()  # candidates that weren't chosen, each with its new date
    sweep_after: int = 0  # the page at which the sweep stands then, in a store that is too large to be weighed whole

    @property
    def requests(self) -> int:
        """How many requests it takes, where none is tried again."""
        return len(self.views) + sum(len(ids) for ids in self.lanes.values())

    @property
    def reserved(self) -> int:
        """How many of them new pages can't have."""
        return len(self.views) + sum(len(self.lanes.get(lane, ())) for lane in _RESERVED)

    def in_order(self) -> Iterator[tuple[int, Lane]]:
        """Yield the pages that have a record, each with its lane: what is known first, then the floor, then the rest.

        So a run that is cut short, or that finds new pages, loses what is least certain. Sweep and audit are mixed.
        """
        for lane in (Lane.DUE, Lane.SIGNAL):
            yield from ((page_id, lane) for page_id in self.lanes.get(lane, ()))
        for _, lane, page_id in merge(self._spread(Lane.SWEEP), self._spread(Lane.AUDIT)):
            yield page_id, lane
        yield from ((page_id, Lane.HAZARD) for page_id in self.lanes.get(Lane.HAZARD, ()))

    def _spread(self, lane: Lane) -> Iterator[tuple[float, Lane, int]]:
        ids = self.lanes.get(lane, ())
        return (((place + 0.5) / len(ids), lane, page_id) for place, page_id in enumerate(ids))


def ids_of(values: bytes) -> Sequence[int]:
    """Return numbers of 64 bits, as numpy has them in memory, as a sequence that needs no more room."""
    found = array("q")
    found.frombytes(values)
    return found
