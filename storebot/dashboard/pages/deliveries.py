"""Deliveries: webhooks by subscription, what waits and what was given up, and having it sent again."""

from __future__ import annotations

from storebot.core.secrets import shown_url
from storebot.dashboard import listing
from storebot.dashboard.view import Ask, Choice, Deed, Facts, Listed, Order, Sort, Told, View, moment
from storebot.db import deliveries, outbox, subscriptions
from storebot.db.board import deliveries as board
from storebot.db.deliveries import Delivery, Standing, Status
from storebot.db.dialects import now_ms
from storebot.db.retry import retrying
from storebot.db.types import Connection

LISTED = Listed(
    sorts=(Sort("id", "message", (int,), descending=True),),
    choices=(
        Choice("subscription", "Subscription"),
        Choice("store", "Store"),
        Choice("status", "Status", tuple((one.value, one.value) for one in Status)),
    ),
)
_LARGEST = 2**63 - 1


def read(ask: Ask) -> Facts:
    """Return the subscriptions with how far they are, and the messages that fit."""
    what = listing.asked(LISTED, ask.query)
    if (number := what.choices.get("subscription", "0")) and not (number.isascii() and number.isdecimal()):
        raise ValueError("subscription: expected its number")
    rows = board.listed(ask.conn, what.choices, what.after, descending=what.descending, limit=what.limit)
    standings, places = deliveries.standings(ask.conn), board.places(ask.conn)
    return {
        "subscriptions": [
            {
                "id": one.id,
                "url": shown_url(one.url),
                "ended": one.ended,
                "wanted": {name: list(value) for name, value in one.wanted._asdict().items() if value},
                "places": [place._asdict() for place in places.get(one.id, [])],
                **_standing(standings.get(one.id, Standing())),
            }
            for one in subscriptions.find(ask.conn)
        ],
        "dead_messages": board.dead_messages(ask.conn),
        "list": listing.shown(LISTED, what, rows, lambda row: (row.id,), _row),
    }


def _standing(found: Standing) -> Facts:
    waits = found.waiting
    return {
        "delivered": found.delivered,
        "dead": found.dead,
        "waiting": {"since": moment(waits.created_at), "error": waits.last_error, "attempts": waits.attempts}
        if waits
        else None,
    }


def _row(one: Delivery) -> Facts:
    times = {name: moment(getattr(one, name)) for name in ("created_at", "next_try_at", "done_at")}
    return {**one._asdict(), **times, "status": one.status.value}


def _after(order: Order) -> int:
    text = order.one("after")
    if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text) <= _LARGEST):
        raise ValueError("after: expected the number (seq) of the last change that the receiver has; 0 sends all")
    return int(text)


def _tell_replay(order: Order) -> Told:
    number, store = int(order.path["subscription"]), order.one("store")
    with order.site.database.explaining(), order.site.database.read() as conn:
        if not subscriptions.find(conn, (number,)):
            raise ValueError(f"there is no subscription {number}")
    return Told(store, f"subscription {number}, after {_after(order)}")


def _replay(order: Order) -> str:
    number, after, store = int(order.path["subscription"]), _after(order), order.one("store")
    count = retrying(order.site.database, lambda conn: subscriptions.replay(conn, number, after, store))
    return f"{count} changes are looked through again, and sent where they are wanted (by `scrapy deliver`)"


def _revive(order: Order) -> str:
    def again(conn: Connection) -> int:
        return outbox.revive(conn, now_ms(conn))

    return f"{retrying(order.site.database, again)} messages are tried again, within a minute where a worker runs"


VIEWS = (View("/deliveries", "deliveries", "deliveries.html", read, LISTED),)
DEEDS = (
    Deed("/deliveries/{subscription:int}/replay", "replay_deliveries", _tell_replay, _replay),
    Deed("/deliveries/messages/retry", "retry_messages", lambda order: Told("", "alerts that were given up"), _revive),
)
