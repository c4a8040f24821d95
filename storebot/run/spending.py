"""What a run does when a limit of its budget comes near, or is reached."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from scrapy.exceptions import CloseSpider

from storebot.core.thrift import Thrift, stretched_ms
from storebot.db.session import Session
from storebot.purse import Purse
from storebot.stores.model import Store

logger = logging.getLogger(__package__)  # the run's: its parts log by one name


class Spending:
    """Listens to the run's purse. ``stop`` ends the claiming of pages, ``note`` keeps a sentence for its reason."""

    def __init__(
        self, store: Store, kind: str, purse: Purse, *, stop: Callable[[], None], note: Callable[[str], None]
    ) -> None:
        self._store, self._kind, self._purse = store, kind, purse
        self._stop, self._note = stop, note
        self.reached = ""  # by which limit, "" for none
        self._pages_stopped = False  # by it, not its walks alone

    def open(self, session: Session) -> None:
        """Give the purse what this month's runs spent. Raises `CloseSpider` where nothing may be spent any more."""
        self._purse.open(
            session.spent_in_month,
            now_ms=session.now_ms,
            submit=session.submit,
            on_stop=self._stopped,
            on_thrift=partial(self._spare, session),
        )
        if used_up := self._purse.used_up:
            self._stopped(used_up, discovery=False)
            raise CloseSpider("budget")

    def _stopped(self, why: str, discovery: bool) -> None:
        """Claim no more pages: a limit is reached. Of discovery alone: only its walks end here."""
        if self.reached and (discovery or self._pages_stopped):
            return
        if why != self.reached:  # it's said already where the walks ended at the same limit
            logger.warning("%s: the budget is reached: %s; what is under way is finished", self._store.name, why)
        self.reached = why
        if not discovery:
            self._pages_stopped = True
            self._stop()

    def _spare(self, session: Session, thrift: Thrift) -> None:
        """Go on more cheaply, and say how, because a limit comes near."""
        how = []
        if self._kind == "refresh" and thrift.stretch > 1 and not session.is_planned:
            session.spared_ms = stretched_ms(self._store.revisit_after_ms, thrift.stretch)
            how.append(f"known pages are looked at {thrift.stretch:.1f} times less often")
        if len(allowed := self._purse.allowed) < len(self._purse.tiers):
            how.append(f"no page is tried by a dearer tier than {max(allowed, key=self._purse.tiers.index).value}")
        if how:
            self._note(f"{thrift.why}, so {' and '.join(how)}")
