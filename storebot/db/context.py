"""The run that a batch of visits is saved for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What every visit of a run shares. Times are milliseconds."""

    run_id: int
    store: str
    lease_token: str
    kind: str  # backfill | refresh
    announce_new: bool  # whether a new page's listings are change events: a refresh's are, a first backfill's aren't
    revisit_after_ms: int  # from a visit that saw the page to the next
    error_backoff_ms: int  # from one that didn't
    parser_version: str
    hash_version: int
    parser: str = ""  # "" is the store's own
