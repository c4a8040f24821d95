"""What a session knows of its store and its run, from the moment it has the lease."""

from __future__ import annotations

import secrets
import time

from storebot.core.breaker import Breaker
from storebot.core.overrides import Override
from storebot.core.pacing import Pace
from storebot.core.planner.terms import Terms
from storebot.core.proxy_pool import Rest
from storebot.core.rung import Rung
from storebot.db.context import RunContext
from storebot.db.database import Database
from storebot.db.learning import Learner
from storebot.db.session_options import SessionOptions
from storebot.items import Expense


class SessionState:
    """Filled by the opening of a session; what its claims, its saver and its closing go by."""

    def __init__(self, database: Database, options: SessionOptions) -> None:
        self.database, self.options = database, options
        self.token = secrets.token_hex(16)
        self.run_id = 0
        self.started_ms = 0  # by the database's clock
        self.origin = 0  # which database this is: the start of the store's first run in it
        self.due = 0  # pages that were due when the run began
        self.pages_read = 0  # that have a record
        self.latency_ms = 0  # of an answer to the last run; 0 where it isn't known
        self.breaker = Breaker()
        self.overrides: tuple[Override, ...] = ()
        self.probes = False  # whether one request has to work before any other is sent
        self.pace = Pace()  # how slowly the last run had to ask
        self.robots: dict[str, str] = {}  # as it was read last, by origin
        self.rungs: tuple[Rung, ...] = ()  # what earlier runs learned of the store's tiers
        self.rests: tuple[Rest, ...] = ()  # and which of its proxies the store had blocked
        self.strays: frozenset[str] = frozenset()  # for core.soft404
        self.spent_in_month = Expense()  # by all runs of the month in which this one began, before it
        self.spared_ms = 0  # so much longer a page isn't due: a budget is running out
        self.terms: Terms | None = None  # None: the run isn't limited, and visits what is due
        self._learner: Learner | None = None
        self.delisted = 0  # change events of listings that the closing delisted
        self.ahead_ms = 0  # of the database's clock against this machine's
        self._run: RunContext | None = None

    def now_ms(self) -> int:
        """Return the time as the database has it: a page's next time must not depend on this machine's clock."""
        return int(time.time() * 1000) + self.ahead_ms

    @property
    def is_planned(self) -> bool:
        """Whether the run goes by a plan, which is made when its discovery has ended."""
        return self.terms is not None or (self.options.kind == "refresh" and self.options.orders.full)

    @property
    def learner(self) -> Learner:
        """What the run learns of the store; it belongs to the saving thread."""
        if self._learner is None:
            raise RuntimeError("a session is used before open() made it ready")
        return self._learner

    @property
    def context(self) -> RunContext:
        """What the run's visits are saved for."""
        if self._run is None:
            raise RuntimeError("a session is used before open() made it ready")
        return self._run

    def get_ready(self, learner: Learner, context: RunContext) -> None:
        """Take what the saving thread works with."""
        self._learner, self._run = learner, context
