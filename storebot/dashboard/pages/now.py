"""Now: what somebody who was just woken up has to know, the worst store first."""

from __future__ import annotations

from collections import Counter

from storebot.core.dashboard.banner import banner
from storebot.core.dashboard.blame import Fault
from storebot.core.dashboard.paging import Cursor
from storebot.core.dashboard.published import published
from storebot.core.dashboard.store_now import RANK
from storebot.core.dashboard.telling import telling
from storebot.dashboard import listing
from storebot.dashboard.cards import action, card, compared, open_alerts
from storebot.dashboard.standings import Looked, Seen, look
from storebot.dashboard.view import Ask, Asked, Choice, Facts, Listed, Sort, View, moment
from storebot.db.board import standings as board

LIGHTS = (("bad", "needs you"), ("warn", "look at it"), ("idle", "at rest"), ("good", "well"))
LISTED = Listed(
    sorts=(Sort("worst", "the worst first", (int, str)), Sort("name", "by name", (str,))),
    choices=(
        Choice("name", "Store"),
        Choice("light", "Light", LIGHTS),
        Choice("fault", "Whose", tuple((one.value, one.words) for one in Fault)),
    ),
    per_page=24,
)


def read(ask: Ask) -> Facts:
    """Return the banner and the cards of the stores."""
    what = listing.asked(LISTED, ask.query)
    looked = look(ask.conn, ask.site, ask.now_ms)
    said = banner({name: seen.said for name, seen in looked.stores.items()}, looked.general)
    rows = _listed(looked, what)
    told = open_alerts(ask)
    tiers = board.tiers(ask.conn, compared(rows[: what.limit]))
    return {
        "banner": {
            "light": said.light,
            "fault": said.fault.value,
            "title": said.title,
            "text": said.text,
            "store": said.store,
            "action": action(said.action, said.store),
        },
        "published": _together(looked),
        "general": [{"kind": one.kind.value, "title": one.kind.headline, "text": one.text, "advice": one.advice}
                    for one in looked.general],
        "telling": telling(told.get("", []), ask.site.rules, ask.now_ms),
        "lights": dict(Counter(seen.said.stand.light for seen in looked.stores.values())),
        "stores": len(looked.stores),
        "list": listing.shown(
            LISTED, what, rows, lambda seen: _place(seen, what), lambda seen: card(ask, seen, told, tiers)
        ),
    }  # fmt: skip


def _listed(looked: Looked, what: Asked) -> list[Seen]:
    name, light, fault = (what.choices.get(one, "") for one in ("name", "light", "fault"))
    found = [
        seen
        for seen in looked.stores.values()
        if name.lower() in seen.now.name.lower()
        and light in ("", seen.said.stand.light)
        and fault in ("", seen.said.fault.value)
    ]
    found.sort(key=lambda seen: _place(seen, what), reverse=what.descending)
    if what.after is not None:
        after = what.after
        found = [
            seen for seen in found if (_place(seen, what) < after) == what.descending and _place(seen, what) != after
        ]
    return found[: what.limit + 1]


def _place(seen: Seen, what: Asked) -> Cursor:
    return (seen.now.name,) if what.sort.name == "name" else (RANK[seen.said.stand], seen.now.name)


def _together(looked: Looked) -> Facts:
    """Return what is published of all stores."""
    found = [published(seen.now, seen.said.stand) for seen in looked.stores.values()]
    newest = max((one.as_of for one in found), default=0)
    return {
        "listings": sum(one.listings for one in found),
        "stores": sum(1 for one in found if one.as_of),
        "as_of": moment(newest),
        "held": sum(seen.now.held for seen in looked.stores.values()),
    }


VIEWS = (View("/", "now", "now.html", read, LISTED),)
