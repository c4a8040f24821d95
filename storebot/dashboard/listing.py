"""Lists of pages: what an address asks for, and what a template needs to show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from storebot.core.dashboard.paging import Cursor, as_text, from_text
from storebot.core.read_api import number
from storebot.dashboard.view import Ask, Asked, Listed

MOST_ROWS = 500
_LONGEST_CHOICE = 200
OWN = ("sort", "after", "limit")


def asked(listed: Listed, query: Mapping[str, str]) -> Asked:
    """Read what the address of a list asks for. ValueError says what isn't valid, and what would be."""
    text = query.get("sort", "")
    sort = next((one for one in listed.sorts if one.name == text.removeprefix("-")), None)
    if text and sort is None:
        raise ValueError(f"sort: expected one of {', '.join(one.name for one in listed.sorts)}, or -NAME")
    sort = sort or listed.sorts[0]
    return Asked(
        sort=sort,
        descending=text.startswith("-") if text else sort.descending,
        after=from_text(query["after"], sort.kinds) if query.get("after") else None,
        limit=number("limit", query.get("limit") or str(listed.per_page), 1, MOST_ROWS),
        choices=_choices(listed, query),
    )


def _choices(listed: Listed, query: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for choice in listed.choices:
        value = query.get(choice.name, "").strip()
        if not value:
            continue
        if choice.values and value not in (one for one, _ in choice.values):
            raise ValueError(f"{choice.name}: expected one of {', '.join(one for one, _ in choice.values)}")
        if len(value) > _LONGEST_CHOICE:
            raise ValueError(f"{choice.name}: expected up to {_LONGEST_CHOICE} characters")
        found[choice.name] = value
    return found


def shown(
    listed: Listed,
    what: Asked,
    rows: Sequence[Any],
    place: Callable[[Any], Cursor],
    show: Callable[[Any], Mapping[str, Any]],
    *,
    reached: Cursor | None = None,
) -> dict[str, Any]:
    """Return a list for a template and for JSON, of ``limit`` rows and the one that says that there are more.

    ``place`` gives a row's cursor. ``reached``: the search looked at as many rows as one answer may, and goes on from
    there; what it found so far is shown.
    """
    kept, more = rows[: what.limit], len(rows) > what.limit
    goes_on = place(kept[-1]) if more else reached
    return {
        "rows": [show(row) for row in kept],
        "next": as_text(goes_on) if goes_on is not None else None,
        "searched_on": reached is not None and not more,
        "sort": ("-" if what.descending else "") + what.sort.name,
        "first": what.after is None,
        "choices": dict(what.choices),
    }


def form(listed: Listed, ask: Ask, what: Asked) -> dict[str, Any]:
    """Return what the macro `list.html` needs besides the list: its orders and filters."""
    return {
        "sorts": {one.name: {"label": one.label, "descending": one.descending} for one in listed.sorts},
        "choices": [
            {"name": one.name, "label": one.label, "values": one.values, "value": what.choices.get(one.name, "")}
            for one in listed.choices
        ],
        "kept": {name: text for name, text in ask.query.items() if name not in (*OWN, "done") and text},
    }
