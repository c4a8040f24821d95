"""Trying failed pages again: what `scrapy requeue` does."""

from __future__ import annotations

from storebot.dashboard.view import Deed, Order, Told
from storebot.db.requeueing import FAILURES, requeue
from storebot.exceptions import ConfigurationError
from storebot.stores.loading import check_name


def tell(order: Order) -> Told:
    """Say which pages of which store are to be tried again."""
    store = order.path["store"]
    try:
        check_name(store)
    except ConfigurationError as error:
        raise ValueError(str(error)) from error
    return Told(store, f"pages whose last visit was {_failure(order)}", order.one("why"))


def do(order: Order) -> str:
    """Have them be due."""
    count = requeue(order.site.database, order.path["store"], [FAILURES[_failure(order)]])
    pages = "1 page is" if count == 1 else f"{count:,} pages are"
    return f"{pages} due now: the next run tries them" if count else "no such page waits: each is due, or being tried"


def _failure(order: Order) -> str:
    failure = order.one("failure")
    if failure not in FAILURES:
        raise ValueError(f"failure: expected one of {', '.join(FAILURES)}")
    return failure


DEEDS = (Deed("/stores/{store}/requeue", "requeue_pages", tell, do),)
