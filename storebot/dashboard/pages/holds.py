"""Holds: what the write gate didn't publish, and what these changes have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from storebot.core.dashboard import held as judging
from storebot.core.dashboard.held import Common
from storebot.dashboard import charts, listing
from storebot.dashboard.view import Ask, Asked, Choice, Facts, Listed, NotFound, Picture, Sort, View, moment
from storebot.db.board import held
from storebot.db.board.held import Which
from storebot.db.holds import OPEN, HoldStatus
from storebot.db.types import AnyRow

YOUNG = "young"
_EVERY = "all"
_GATES = ("price", "identical", "identity", "lost", "currency", "missing", "blocked", "changed", "outlier", YOUNG)
LISTED = Listed(
    sorts=(Sort("id", "hold", (int,), descending=True),),
    choices=(
        Choice("store", "Store"),
        Choice("run", "Run"),
        Choice("gate", "Gate", tuple((name, name) for name in _GATES)),
        Choice("status", "Status", (*((one.value, one.value) for one in HoldStatus), (_EVERY, "all, decided too"))),
    ),
)


def read(ask: Ask) -> Facts:
    """Return the holds that fit, and what the open ones of this store or run have in common."""
    what = listing.asked(LISTED, ask.query)
    which, gate = which_of(what.choices), what.choices.get("gate")
    scanned = held.listed(
        ask.conn,
        which,
        "" if gate == YOUNG else gate,
        what.after,
        descending=what.descending,
        limit=what.limit,
    )
    reached = (scanned.reached,) if scanned.reached is not None else None
    found, whole = _common(ask, which)
    return {
        "list": listing.shown(
            LISTED, what, scanned.rows, lambda row: (row.id,), _rows(ask, scanned.rows), reached=reached
        ),
        "stores": held.open_by_store(ask.conn),
        "common": common_facts(found, whole),
        "ratios": ratios_address(what),
    }


def one(ask: Ask) -> Facts:
    """Return all of one hold."""
    number = ask.number("hold")
    row = held.one(ask.conn, number)
    if row is None:
        raise NotFound(f"there is no hold {number}")
    published = held.published(ask.conn, [row.page_id])
    currencies = {variant: known.currency for (_, variant), known in published.items()}
    return {
        "hold": brief(row),
        "moves": judging.moves(orjson.loads(row.fields or "[]"), currencies),
        "listings": [
            {"id": known.id, "variant_id": variant, "name": known.name} for (_, variant), known in published.items()
        ],
        "series": [
            {**each._mapping, "created_at": moment(each.created_at), "decided_at": moment(each.decided_at)}
            for each in held.series(ask.conn, row.page_id)
        ],
    }


def ratios(ask: Ask, narrow: bool) -> bytes:
    """Return how far the prices of open holds would move."""
    choices = {name: ask.query[name] for name in ("store", "run") if ask.query.get(name)}
    found, _ = _common(ask, which_of(choices))
    return charts.bars(judging.bin_names(), [charts.Series("pages", "warn", found.bins)], narrow=narrow)


def which_of(choices: Mapping[str, str]) -> Which:
    """Return which holds the filters mean. Raises ValueError for a run that is no number."""
    run, status = choices.get("run", ""), choices.get("status", "")
    if run and not (run.isascii() and run.isdecimal() and len(run) < 19):
        raise ValueError("run: expected the number of a run")
    statuses = tuple(one.value for one in HoldStatus) if status == _EVERY else (status,) if status else OPEN
    return Which(choices.get("store", ""), int(run) if run else None, statuses)


def brief(row: AnyRow) -> Facts:
    """Return a hold without what it changes."""
    names = ("id", "store", "page_id", "url", "url_key", "run_id", "kind", "status", "reason", "decided_by", "why")
    told: Facts = {name: getattr(row, name) for name in names}
    times = {name: moment(getattr(row, name)) for name in ("created_at", "stale_since", "decided_at")}
    return {**told, **times, "gate": row.gate or YOUNG, "url": row.url or "", "is_open": row.status in OPEN}


def shown_rows(ask: Ask, rows: Sequence[AnyRow], fields: int = 3) -> list[Facts]:
    """Return holds with the first fields that each would change."""
    show = _rows(ask, rows, fields)
    return [show(row) for row in rows]


def common_facts(found: Common, whole: bool) -> Facts:
    """Return what holds have in common, for a table beside its picture."""
    return {
        "holds": found.holds,
        "whole": whole,
        "moved": found.moved,
        "bins": list(zip(judging.bin_names(), found.bins, strict=True)),
        "lost": found.lost.most_common(20),
        "currencies": found.currencies.most_common(10),
        "kinds": found.kinds.most_common(),
    }


def ratios_address(what: Asked) -> str:
    """Return the address of the picture that belongs to a list."""
    from storebot.dashboard.rendering import with_query

    return with_query("/holds/ratios.svg", {name: what.choices.get(name) for name in ("store", "run")})


def _rows(ask: Ask, rows: Sequence[AnyRow], fields: int = 3) -> Any:
    published = held.published(ask.conn, [row.page_id for row in rows]) if rows else {}

    def show(row: AnyRow) -> Facts:
        currencies = {variant: known.currency for (page, variant), known in published.items() if page == row.page_id}
        moves = judging.moves(orjson.loads(row.fields or "[]"), currencies)
        names = [known.name for (page, _), known in published.items() if page == row.page_id and known.name]
        return {
            **brief(row),
            "moves": moves[:fields],
            "more": max(len(moves) - fields, 0),
            "name": names[0] if names else "",
        }

    return show


def _common(ask: Ask, which: Which) -> tuple[Common, bool]:
    facts, whole = held.facts_of(ask.conn, which)
    return judging.common(facts), whole


VIEWS = (View("/holds", "holds", "holds.html", read, LISTED), View("/holds/{hold:int}", "hold", "hold.html", one))
PICTURES = (Picture("/holds/ratios.svg", "ratios of holds", ratios, ("store", "run")),)
