"""What happens in the shop, hour by hour: the processes of the simulated shop, done to a demo store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.freshness.shop import Shop, What
from storebot.demo.client import Changed, DemoClient

Happened = tuple[What, int]  # to the product with this id of the demo store
_KINDS = {What.PRICE: "price", What.STOCK: "stock", What.CONTENT: "title"}
_MOMENT_H = 1 / 3600


@dataclass(frozen=True, slots=True)
class Script:
    """Changes by hour. Ids rise with the category, so a page of the catalogue shows neighbours; new ones follow."""

    hours: int
    by_hour: Mapping[int, Sequence[Happened]]


def script(shop: Shop) -> Script:
    """Return the script of a simulated shop."""
    first = shop.sizes.products
    order = np.argsort(shop.category[:first], kind="stable")
    ids = np.empty(len(shop.born_h), np.int64)
    ids[order] = np.arange(1, first + 1)
    ids[first:] = np.arange(first + 1, len(ids) + 1)  # they are born in this order
    by_hour: dict[int, list[Happened]] = {}
    for hour, product, what in zip(shop.event_h, shop.event_product, shop.event_what, strict=True):
        by_hour.setdefault(int(hour), []).append((What(int(what)), int(ids[product])))
    for what, hours in ((What.NEW, shop.born_h), (What.GONE, shop.gone_h)):
        for product in np.flatnonzero((hours > 0) & (hours < shop.hours)).tolist():
            if shop.gone_h[product] > shop.born_h[product]:
                by_hour.setdefault(int(hours[product]), []).append((what, int(ids[product])))
    return Script(shop.hours, by_hour)


def play(client: DemoClient, happened: Sequence[Happened]) -> list[Changed]:
    """Let one hour pass in the store, do to it what happened, and return what changed."""
    found: list[Changed] = []
    client.advance(changed=0, hours=1 - len(What) * _MOMENT_H)
    for what in (What.NEW, *_KINDS, What.GONE):
        ids = sorted({number for kind, number in happened if kind is what})
        asked: dict[str, Any] = {"changed": 0}
        if ids and what is What.NEW:
            asked |= {"appeared": len(ids)}
        elif ids and what is What.GONE:
            asked |= {"vanished": len(ids), "vanished_status": 410, "ids": ids}
        elif ids:
            asked = {_KINDS[what]: len(ids), "ids": ids}
        found += client.advance(**asked, hours=_MOMENT_H)
    return found
