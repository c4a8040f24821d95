"""What a run counts, as its records are saved: outcomes, and what else it is judged by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from storebot.core.urls import same_site
from storebot.db.session import Saved
from storebot.items import Outcome, Visit, WalkEnd
from storebot.stores.model import Store


@dataclass(frozen=True, slots=True)
class News:
    """What one commit brought."""

    outcomes: Counter[Outcome]
    new_pages: int
    visited: int  # of the pages that the feed gave away
    ends: Sequence[WalkEnd]


class Tally:
    """The counts of a run; all are of what is saved, but ``forbidden`` and ``internal_errors``."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.outcomes: Counter[Outcome] = Counter()
        self.moved_off: Counter[str] = Counter()  # visits that were redirected off the site, by host
        self.forbidden: Counter[str] = Counter()  # requests that robots.txt forbade: core.ending
        self.incomplete_walks: list[str] = []  # the reason of each
        self.walks_blocked = self.internal_errors = 0

    def add(self, saved: Sequence[Saved]) -> News:
        """Count the records of one commit."""
        outcomes: Counter[Outcome] = Counter()
        ends: list[WalkEnd] = []
        new_pages = visited = 0
        for one in saved:
            new_pages += one.new_pages
            if one.outcome is not None and not _is_read_discovery(one):
                outcomes[one.outcome] += 1
                if one.outcome is Outcome.MOVED and isinstance(one.record, Visit):
                    self._note_move(one.record.final_url)
            if one.instead_of is not None:
                outcomes[one.instead_of] -= 1
            visited += isinstance(one.record, Visit) and bool(one.record.target.page_id) and not one.record.source
            if isinstance(one.record, WalkEnd):
                ends.append(one.record)
            elif isinstance(one.record, Visit) and not one.record.target.page_id:
                self.walks_blocked += one.outcome is Outcome.BLOCKED
        self.outcomes.update(outcomes)
        return News(outcomes, new_pages, visited, ends)

    def _note_move(self, url: str) -> None:
        if url and not same_site(url, self._store.base_url, self._store.keys.aliases):
            self.moved_off[urlsplit(url).netloc] += 1


def _is_read_discovery(saved: Saved) -> bool:
    """Whether it's a page of a catalogue or a sitemap that was read: it is in the ledger for its escalation alone."""
    page = saved.record
    return isinstance(page, Visit) and not page.target.page_id and saved.outcome is not Outcome.BLOCKED
