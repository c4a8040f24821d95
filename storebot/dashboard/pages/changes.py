"""Changes: what changed in the market, the newest first, and what it comes to in a day or a week."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from storebot.core.alerts.moves import Change, Move, moves
from storebot.core.dashboard.field_changes import DOWN, UP, label, matches, moved, price
from storebot.core.fingerprint import TRACKED
from storebot.dashboard import listing
from storebot.dashboard.view import Ask, Asked, Choice, Facts, Listed, Sort, View, moment
from storebot.db.board import changes
from storebot.db.types import AnyRow

_DAY_MS = 86_400_000
_SPANS = {"day": (_DAY_MS, "24 hours"), "week": (7 * _DAY_MS, "7 days")}
_TYPES = ("new", "changed", "delisted", "relisted", "missing", "returned", "corrected")
_MOVERS = 10
LISTED = Listed(
    sorts=(Sort("seq", "When", (int,), descending=True),),
    choices=(
        Choice("store", "Store"),
        Choice("within", "Within", tuple((name, text) for name, (_, text) in _SPANS.items())),
        Choice("type", "Kind", tuple((one, one) for one in _TYPES)),
        Choice("field", "Field", tuple((one, label(one)) for one in (*TRACKED, "status"))),
        Choice("direction", "Which way", ((UP, "up, or back in stock"), (DOWN, "down, or out of stock"))),
        Choice("percent", "By at least, %"),
        Choice("run", "Run"),
    ),
)


def read(ask: Ask) -> Facts:
    """Return the changes, and what those of a day or a week come to."""
    what = listing.asked(LISTED, ask.query)
    least = _percent(what.choices.get("percent", ""))
    if not (what.choices.get("run", "") or "0").isdecimal():
        raise ValueError("run: expected its number")
    span_ms, _ = _SPANS.get(what.choices.get("within", ""), (0, ""))
    since_ms = ask.now_ms - span_ms if span_ms else 0
    by_hand = bool(least is not None or "direction" in what.choices)
    found = changes.listed(
        ask.conn,
        what.choices,
        since_ms=since_ms,
        after=int(what.after[0]) if what.after else None,
        descending=what.descending,
        limit=changes.MOST if by_hand else what.limit,
    )
    rows = [row for row in found.rows if not by_hand or _fits(row, what, least)]
    about = changes.abouts(ask.conn, rows[: what.limit])
    reached = _goes_on(ask, found.reached, since_ms, descending=what.descending)
    return {
        "list": listing.shown(
            LISTED,
            what,
            rows,
            lambda row: (row.seq,),
            lambda row: shown(row, about.get((row.store, row.url_key, row.variant_id))),
            reached=(reached,) if reached is not None else None,
        ),
        "summary": _summary(ask, what.choices.get("store", ""), what.choices.get("within", "day")),
        "looked_at": changes.MOST,
    }


def shown(row: AnyRow, about: changes.About | None) -> Facts:
    """Return a change for a row of a list."""
    fields = _fields(row)
    return {
        "seq": row.seq,
        "at": moment(row.at),
        "type": row.type,
        "store": row.store,
        "run": row.run_id,
        "too_long": not row.fields,
        "fields": [one._asdict() for one in moved(fields, about.currency if about else None)],
        **_whose(row, about),
    }


def _whose(of: changes.Of, about: changes.About | None) -> Facts:
    return {
        "listing": about.id if about else None,
        "name": (about.name if about else None) or of.url_key,
        "options": orjson.loads(about.options or "{}") if about else {},
        "url": about.url if about else of.url_key,
        "url_key": of.url_key,
        "variant": of.variant_id,
    }


def _fields(row: AnyRow) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = orjson.loads(row.fields or "[]")
    return found


def _fits(row: AnyRow, what: Asked, least: Decimal | None) -> bool:
    choices = what.choices
    found = moved(_fields(row), None)
    return matches(found, field=choices.get("field", ""), direction=choices.get("direction", ""), least=least)


def _percent(text: str) -> Decimal | None:
    if not text:
        return None
    try:
        least = Decimal(text.rstrip("% "))
    except InvalidOperation:
        least = Decimal("NaN")
    if not 0 <= (least if least.is_finite() else -1) <= 1_000_000:
        raise ValueError("percent: expected a number such as 5 or 12.5")
    return least


def _goes_on(ask: Ask, reached: int | None, since_ms: int, *, descending: bool) -> int | None:
    """Return where the search goes on: nowhere, where all before are a day older than what is looked for."""
    if reached is None or not since_ms or not descending:
        return reached
    return reached if changes.at_of(ask.conn, reached) > since_ms - _DAY_MS else None


def _summary(ask: Ask, store: str, within: str) -> Facts:
    span_ms, text = _SPANS[within]
    newest = changes.newest(ask.conn, store)
    rows = [row for row in newest if row.at >= ask.now_ms - span_ms]
    types = [row.type for row in rows]
    restocked = [row for row in rows if '"availability"' in row.fields and _is_restocked(row)]
    bounded = len(rows) == len(newest) == changes.MOST
    return {
        "within": within,
        "span": text,
        "changes": len(rows),
        "bounded": bounded,
        "since": moment(rows[-1].at if bounded else ask.now_ms - span_ms),
        "new": types.count("new"),
        "delisted": types.count("delisted"),
        "restocked": len(restocked),
        "movers": _movers(ask, rows),
    }


def _is_restocked(row: AnyRow) -> bool:
    return matches(moved(_fields(row), None), field="availability", direction=UP)


def _movers(ask: Ask, rows: Sequence[AnyRow]) -> list[Facts]:
    """Return the listings whose price moved most on the whole, as a ratio: half and double are as much."""
    priced = [row for row in reversed(rows) if '"price_minor"' in row.fields]
    found = [move for move in moves(_changes(priced)) if move.what == "price" and move.before and move.after > 0]
    most = sorted(found, key=_ratio, reverse=True)[:_MOVERS]
    about = changes.abouts(ask.conn, most)
    return [_mover(move, about.get((move.store, move.url_key, move.variant_id))) for move in most]


def _ratio(move: Move) -> float:
    low, high = sorted((move.before, move.after))
    return float(high / max(low, 1))


def _mover(move: Move, about: changes.About | None) -> Facts:
    move = replace(move, currency=about.currency if about else None)
    return {
        **_whose(move, about),
        "store": move.store,
        "at": moment(move.at),
        "before": price(move.before, move.currency),
        "after": price(move.after, move.currency),
        "percent": move.percent,
    }


def _changes(rows: Iterable[AnyRow]) -> Iterable[Change]:
    for row in rows:
        values: Mapping[str, Any] = {name: getattr(row, name) for name in ("seq", "type", "store", "url_key", "at")}
        yield Change(**values, variant_id=row.variant_id, fields=_fields(row))


VIEWS = (View("/changes", "changes", "changes.html", read, LISTED),)
