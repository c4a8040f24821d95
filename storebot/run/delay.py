"""Says what the delay between two requests means for a store's refresh interval."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from storebot.db.session import Session
from storebot.manners import kept_delay_s, late_by, warnings
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__package__)  # the run's: its parts log by one name


class Delay:
    """The seconds between two requests, as far as was said what they mean."""

    def __init__(self, store: Store, settings: BaseSettings) -> None:
        self._store, self._settings = store, settings
        self._said_s = 0.0

    def begin(self, session: Session) -> None:
        """Say what the run overrides, and whether there is time enough at the delay that it begins with."""
        for override in session.overrides:
            logger.warning("%s: overridden: %s", self._store.name, override.sentence())
        self._said_s = kept_delay_s(self._store, self._settings, session.robots, session.pace)
        known = {"pages": session.pages_read, "latency_ms": session.latency_ms}
        for said in warnings(self._store, self._settings, **known, delay_s=self._said_s):
            logger.warning("%s: %s", self._store.name, said)

    def slowed(self, session: Session, delay_s: float) -> None:
        """Say what it means that the store itself asks for such a delay, if it's news."""
        delay_s = session.pace.delay_s(delay_s)
        if delay_s <= self._said_s:
            return
        self._said_s = delay_s
        late = late_by(self._store, self._settings, delay_s, pages=session.pages_read, latency_ms=session.latency_ms)
        if late:
            logger.warning("%s: %s", self._store.name, late)
