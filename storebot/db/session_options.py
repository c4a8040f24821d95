"""What a session is told when it is opened: whose run it is, and its pace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from storebot.core.delist import Rules
from storebot.core.expect import Expected
from storebot.core.gate_limits import Declared
from storebot.core.overrides import Override
from storebot.core.planner.terms import Orders
from storebot.items import Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What a session is for, and its pace."""

    store: str
    kind: str  # backfill | refresh
    parser_version: str
    hash_version: int
    lease_s: int  # how long lease and claims outlive a silent process
    claim_batch: int
    commit_rows: int
    commit_s: float
    revisit_after_ms: int
    error_backoff_ms: int
    gate: Declared = field(default_factory=Declared)  # what the store file says of its write gate
    delist: Rules = field(default_factory=Rules)
    expect: Expected = field(default_factory=Expected)  # what the run's row is marked for, if it misses it
    keep_visits_ms: int = 0  # 0: for ever
    currency: str = ""  # of the store's prices
    currencies: Mapping[Tier, str] = field(default_factory=dict)  # the same for each tier that is priced
    overrides: tuple[Override, ...] = ()  # for the run's row
    force: str = ""  # "who: why", to ask a store whose breaker is open
    orders: Orders = field(default_factory=Orders)  # of a refresh: by which budget it chooses
    heads: int = 0  # how many catalogue pages each refresh reads
