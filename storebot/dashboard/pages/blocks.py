"""Blocks: which shops say no, by whom and when, and the pages that said so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from storebot.core.breaker import State
from storebot.dashboard import kept, listing
from storebot.dashboard.charts import Series, stacked
from storebot.dashboard.view import Ask, Asked, Choice, Facts, Listed, Picture, Sort, View, moment
from storebot.db import breakers
from storebot.db.board import blocks as board
from storebot.db.board.blocks import Added, Count
from storebot.db.board.run import one as one_run
from storebot.db.types import AnyRow
from storebot.items import Tier

HOURS = 24
_HOUR_MS = 3_600_000
_STORES = 20  # rows of the heat table
_RUNS = 10  # of a list, whose folders are searched for kept pages
_VENDORS = ("bad", "warn", "main", "second", "third", "idle")  # roles of the chart; what has none left is "others"
_HOUR = "%Y-%m-%dT%H"
KINDS = ("status", "header", "marker", "length", "redirect")

LISTED = Listed(
    sorts=(Sort("at", "when", (int,), descending=True),),
    choices=(
        Choice("store", "Store"),
        Choice("vendor", "Vendor"),
        Choice("tier", "Tier", tuple((one.value, one.value) for one in Tier)),
        Choice("kind", "Sign", tuple((one, one) for one in KINDS)),
        Choice("hour", "Hour (UTC), as 2026-11-30T02"),
    ),
)


def read(ask: Ask) -> Facts:
    """Return block signs added up, and the list of them."""
    what = listing.asked(LISTED, ask.query)
    added = _added(ask, what.choices.get("store", ""))
    shut = breakers.not_closed(ask.conn)
    first = ask.now_ms // _HOUR_MS - HOURS + 1
    return {
        "signs": sum(one.signs for one in added.counts),
        "since": moment(added.since_ms),
        "most": board.MOST,
        "by": {name: _by(added.counts, name) for name in ("store", "vendor", "tier")},
        "hours": _hours(added.counts, first),
        "heat": _heat(added.counts, first),
        "breakers": [
            {
                "store": name,
                "state": one.state.value,
                "light": "bad" if one.state is State.OPEN else "warn",
                "opened_at": moment(one.opened_at),
                "until": moment(one.until),
                "trips": one.trips,
                "reason": one.reason,
            }
            for name, one in shut.items()
        ],
        "list": _list(ask, what),
    }


def draw(ask: Ask, narrow: bool) -> bytes:
    """Draw the signs of each hour, by vendor."""
    added = _added(ask, ask.query.get("store", ""))
    first = ask.now_ms // _HOUR_MS - HOURS + 1
    hours = range(first, first + HOURS)
    vendors = [name for name, _ in Counter(_sums(added.counts, "vendor")).most_common()]
    named = vendors[: len(_VENDORS) - 1] if len(vendors) > len(_VENDORS) else vendors
    counted = Counter[tuple[str, int]]()
    for one in added.counts:
        counted[one.vendor if one.vendor in named else "others", one.hour] += one.signs
    shown = [*named, *(["others"] if len(named) < len(vendors) else [])]
    series = [
        Series(name, role, [counted[name, hour] for hour in hours]) for name, role in zip(shown, _VENDORS, strict=False)
    ]
    return stacked([f"{_at(hour):%H}" for hour in hours], series, narrow=narrow)


def _added(ask: Ask, store: str) -> Added:
    return board.added_up(ask.conn, (ask.now_ms // _HOUR_MS - HOURS + 1) * _HOUR_MS, store)


def _sums(counts: Sequence[Count], name: str) -> Counter[str]:
    found = Counter[str]()
    for one in counts:
        found[getattr(one, name)] += one.signs
    return found


def _by(counts: Sequence[Count], name: str) -> list[Facts]:
    return [{"name": key, "signs": count} for key, count in _sums(counts, name).most_common(_STORES)]


def _heat(counts: Sequence[Count], first: int) -> list[Facts]:
    """Return a row a store and a cell an hour; how many "many" are is said by the fullest cell of all."""
    cells = Counter[tuple[str, int]]()
    for one in counts:
        cells[one.store, one.hour] += one.signs
    most = max(cells.values(), default=0)
    return [
        {
            "store": store,
            "signs": count,
            "cells": [
                {"hour": f"{_at(hour):{_HOUR}}", "signs": cells[store, hour], "heat": _word(cells[store, hour], most)}
                for hour in range(first, first + HOURS)
            ],
        }
        for store, count in _sums(counts, "store").most_common(_STORES)
    ]


def _word(count: int, most: int) -> str:
    """Say how much a cell is, beside the fullest one."""
    if not count:
        return "none"
    return "few" if count * 3 <= most else "some" if count * 3 <= 2 * most else "many"


def _hours(counts: Sequence[Count], first: int) -> list[Facts]:
    vendors: dict[int, Counter[str]] = {hour: Counter() for hour in range(first, first + HOURS)}
    for one in counts:
        if one.hour in vendors:  # a clock that went ahead notes what isn't yet
            vendors[one.hour][one.vendor] += one.signs
    return [
        {
            "at": _at(hour),
            "name": f"{_at(hour):%H}",
            "value": f"{_at(hour):{_HOUR}}",
            "signs": found.total(),
            "vendors": dict(found.most_common()),
        }
        for hour, found in vendors.items()
    ]


def _at(hour: int) -> datetime:
    return datetime.fromtimestamp(hour * 3600, UTC)


def _list(ask: Ask, what: Asked) -> Facts:
    choices = dict(what.choices)
    text = choices.pop("hour", "")
    after = int(what.after[0]) if what.after else None
    found = board.listed(ask.conn, choices, _hour_of(text), after, descending=what.descending, limit=what.limit)
    names = _kept(ask, found.rows[: what.limit])
    reached = (found.reached,) if found.reached is not None else None
    return listing.shown(LISTED, what, found.rows, lambda row: (row.id,), lambda row: _row(row, names), reached=reached)


def _hour_of(text: str) -> int | None:
    if not text:
        return None
    try:
        return int(datetime.strptime(text, _HOUR).replace(tzinfo=UTC).timestamp()) // 3600
    except ValueError:
        raise ValueError(f"hour: expected one such as 2026-11-30T02, got {text[:40]}") from None


def _kept(ask: Ask, rows: Sequence[AnyRow]) -> dict[int, dict[str, str]]:
    """Return the names of the kept pages by URL, of each run that was looked at."""
    found: dict[int, dict[str, str]] = {}
    for run_id in sorted({row.run_id for row in rows}, reverse=True)[:_RUNS]:
        run = one_run(ask.conn, run_id)
        pages = kept.of_run(ask.site.failed_pages, run) if run else []
        found[run_id] = {one.url: one.name for one in pages}
    return found


def _row(row: AnyRow, names: Mapping[int, Mapping[str, str]]) -> Facts:
    return {
        "id": row.id,
        "at": moment(row.at),
        "store": row.store,
        "run_id": row.run_id,
        "url": row.url,
        "kind": row.kind,
        "value": row.value,
        "vendor": row.vendor,
        "tier": row.tier,
        "kept": names[row.run_id].get(row.url, "") if row.run_id in names else None,  # None: nobody looked
    }


VIEWS = (View("/blocks", "blocks", "blocks.html", read, LISTED),)
PICTURES = (Picture("/blocks/hours.svg", "blocks_hours", draw, ("store",)),)
