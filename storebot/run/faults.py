"""What is recorded where code of ours raised: an exception is an outcome, never silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from storebot.db.session import Session
from storebot.items import Outcome, Record, Spent, Target, Visit, WalkEnd, WalkState
from storebot.run.feed import Feed
from storebot.run.tally import Tally

if TYPE_CHECKING:
    from scrapy.http import Response
    from twisted.python.failure import Failure

_OF_SPENT = ("requests", "size_bytes", "elapsed_ms", "browser_ms", "billed", "cost_micro", "by_tier")


class Faults:
    """Counts what code of ours raised and submits the visit, or the end of the walk, that it would have made."""

    def __init__(
        self,
        store: str,
        tally: Tally,
        feed: Feed,
        *,
        session: Callable[[], Session],
        submit: Callable[[Record], None],
    ) -> None:
        self._store, self._tally, self._feed = store, tally, feed
        self._session, self._submit = session, submit

    def spider_error(self, failure: Failure, response: Response | Failure | None) -> None:
        """Record the visit or the walk whose parser raised."""
        self._tally.internal_errors += 1
        meta = getattr(getattr(response, "request", None), "meta", {})
        if isinstance(target := meta.get("target"), Target):
            self._give_up(target, failure, meta.get("spent") or Spent())
        elif walk := meta.get("walk"):
            if source := self._feed.carried_by(walk):
                self._session().withhold(source)
            reason = f"{walk}: raised {failure.value!r}"
            state, at_ms = WalkState.INCOMPLETE, self._session().now_ms()
            name = self._store
            self._submit(WalkEnd(store=name, walk=walk, at_ms=at_ms, state=state, reason=reason, checkpoint=False))

    def item_error(self, item: object, failure: Failure) -> None:
        """Record the visit that a pipeline could not take."""
        self._tally.internal_errors += 1
        if isinstance(item, Visit):
            self._give_up(item.target, failure, item)

    def _give_up(self, target: Target, failure: Failure, spent: Spent | Visit) -> None:
        reason = f"{target.url}: raised {failure.value!r}"
        took = {name: getattr(spent, name) for name in _OF_SPENT}
        at_ms = self._session().now_ms()
        self._submit(Visit(target=target, at_ms=at_ms, outcome=Outcome.ERROR, reason=reason, **took))
