"""Deciding on holds: first what would be done, then the deed, under the store's lease as `scrapy holds` does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from storebot.core.dashboard import held as judging
from storebot.dashboard.pages.holds import common_facts, shown_rows
from storebot.dashboard.view import Ask, Deed, Facts, Order, Told, View
from storebot.db import deciding
from storebot.db.board import held
from storebot.db.board.held import Which
from storebot.db.database import Database
from storebot.db.types import AnyRow
from storebot.exceptions import ConfigurationError

MOST = 1000
"""Holds that are decided on at once: each takes some milliseconds, and a browser waits."""
_SAMPLE = 12
_REFUSED_SHOWN = 3
_NAMED = 20


class _Verb(NamedTuple):
    decide: Callable[..., Iterator[deciding.Decision]]
    done: str


VERBS = {
    "approve": _Verb(deciding.approve, "published"),
    "reject": _Verb(deciding.reject, "dropped"),
    "retry": _Verb(deciding.retry, "due now"),
}


class Meant(NamedTuple):
    """Which holds somebody decides on."""

    which: Which
    ids: Sequence[int] = ()
    up_to: int | None = None  # not those that came after somebody looked

    @property
    def words(self) -> str:
        if self.ids:
            more = f" and {len(self.ids) - _NAMED} more" if len(self.ids) > _NAMED else ""
            some = ", ".join(map(str, self.ids[:_NAMED]))
            return f"hold {some}" if len(self.ids) == 1 else f"holds {some}{more}"
        if self.which.run_id is not None:
            return f"all open holds of run {self.which.run_id}"
        return f"all open holds of {self.which.store}"


def read(ask: Ask) -> Facts:
    """Return what a decision would do: how many holds, of what kind, and some of them in full."""
    verb = ask.query.get("verb", "")
    if verb not in VERBS:
        raise ValueError(f"verb: expected one of {', '.join(VERBS)}")
    meant = _meant(ask.marked.get("hold", ()), ask.query.get("store", ""), ask.query.get("run", ""), "")
    rows = held.meant(ask.conn, meant.which, meant.ids, None, MOST)
    count, more = len(rows[:MOST]), len(rows) > MOST
    facts = held.facts_in(ask.conn, [row.id for row in rows[:MOST]])
    return {
        "verb": verb,
        "words": meant.words,
        "done_word": VERBS[verb].done,
        "count": count,
        "more": more,
        "up_to": rows[count - 1].id if rows else 0,
        "ids": [row.id for row in rows] if meant.ids else [],
        "store": meant.which.store,
        "run_id": meant.which.run_id,
        "stores": sorted({row.store for row in rows}),
        "reasons": Counter(row.reason or "its run was too young to tell" for row in rows[:MOST]).most_common(10),
        "common": common_facts(judging.common(facts), not more),
        "sample": shown_rows(ask, _spread(rows[:MOST], _SAMPLE)),
        "gone": len(set(meant.ids)) - count if meant.ids else 0,
    }


def tell(order: Order) -> Told:
    """Say which holds, and of which store."""
    meant = _of_form(order)
    stores = {meant.which.store} if meant.which.store else {row.store for row in _found(order.site.database, meant)}
    return Told(stores.pop() if len(stores) == 1 else "", meant.words, order.one("why"))


def do(order: Order, verb: str) -> str:
    """Decide; say how many were, and why others weren't."""
    database, chosen = order.site.database, VERBS[verb]
    rows = _found(database, _of_form(order))
    if not rows:
        raise ConfigurationError("none of them is open any more: somebody, or a run, decided meanwhile")
    decided = list(chosen.decide(database, rows[:MOST], order.visitor.name, order.site.lease_s, why=order.one("why")))
    refused = [one for one in decided if one.refused]
    text = f"{len(decided) - len(refused):,} {chosen.done}"
    if verb == "approve":
        text += f": {sum(one.rows_written for one in decided):,} rows, {sum(one.changes for one in decided):,} changes"
    if refused:
        some = "; ".join(f"hold {one.hold.id}: {one.refused}" for one in refused[:_REFUSED_SHOWN])
        text += f". {len(refused):,} refused: {some}{' …' if len(refused) > _REFUSED_SHOWN else ''}"
    if len(rows) > MOST:
        text += f". More are left: {MOST:,} are decided on at once, so do it again"
    if len(refused) == len(decided):
        raise ConfigurationError(text)
    return text


def _of_form(order: Order) -> Meant:
    ids = order.form.get("hold", ())
    return _meant(ids, order.one("store"), order.one("run"), order.one("up_to"))


def _meant(ids: Sequence[str], store: str, run: str, up_to: str) -> Meant:
    numbers = [*ids, *(one for one in (run, up_to) if one)]
    if not all(one.isascii() and one.isdecimal() and len(one) < 19 for one in numbers):
        raise ValueError("holds, runs and up_to are numbers")
    if sum((bool(ids), bool(run), bool(store and not run))) != 1:
        raise ValueError("which holds? Mark some, or choose one run or one store")
    if len(ids) > MOST:
        raise ValueError(f"mark up to {MOST} holds")
    which = Which("" if ids else store, int(run) if run and not ids else None)
    return Meant(which, [int(one) for one in ids], int(up_to) if up_to else None)


def _found(database: Database, meant: Meant) -> list[AnyRow]:
    with database.explaining(), database.read() as conn:
        return held.meant(conn, meant.which, meant.ids, meant.up_to, MOST)


def _spread(rows: Sequence[AnyRow], most: int) -> list[AnyRow]:
    """Return some rows from all over, not the first ones alone: they may all be of one kind."""
    step = max(1, len(rows) // most)
    return list(rows[::step][:most])


def _deed(verb: str) -> Deed:
    return Deed(f"/holds/{verb}", f"{verb}_holds", tell, lambda order: do(order, verb))


VIEWS = (View("/holds/confirm", "confirm", "confirm.html", read, parameters=("verb", "store", "run"), many=("hold",)),)
DEEDS = tuple(map(_deed, VERBS))
