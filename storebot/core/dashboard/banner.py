"""The first line of the first page: is it broken, or is it the shop; and what to do first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from storebot.core.alerts.finding import Finding
from storebot.core.dashboard.blame import Fault
from storebot.core.dashboard.store_now import RANK, Action, Does, Stand, Standing

_TITLES = {
    Fault.OURS: "Something of ours is broken",
    Fault.SHOP: "It's the shop, not us",
    Fault.DECISION: "Nothing is broken; a decision waits",
    Fault.NOBODY: "Nothing is wrong",
}
_ORDER = (Fault.OURS, Fault.SHOP, Fault.DECISION)


class Banner(NamedTuple):
    """What is said of all stores together. ``store`` is the one that the action is about; "" for all."""

    light: str
    fault: Fault
    title: str
    text: str
    action: Action
    store: str = ""


def banner(stores: Mapping[str, Standing], general: Sequence[Finding]) -> Banner:
    """Judge the whole. ``general`` is what is wrong and of no store: disks, the worker, who is told."""
    if not stores and not general:
        action = Action(Does.FIX, "Add a store: scrapy probe URL, then scrapy crawl backfill -a store=NAME")
        return Banner("idle", Fault.NOBODY, "There is no store yet", "Nothing was crawled into this database.", action)
    by_rank = sorted(stores, key=lambda name: (RANK[stores[name].stand], name))
    troubled = [name for name in by_rank if stores[name].fault is not Fault.NOBODY]
    ours = [name for name in troubled if stores[name].fault is Fault.OURS]
    if general and not ours:
        first = general[0]
        text = " ".join([_capital(f"{first.kind.headline}: {first.text}"), _counts(stores, troubled)])
        return Banner("bad", Fault.OURS, _TITLES[Fault.OURS], text.strip(), Action(Does.FIX, first.advice, "health"))
    if not troubled:
        count = "1 store is" if len(stores) == 1 else f"All {len(stores):,} stores are"
        waits = [name for name in by_rank if stores[name].stand is Stand.PARTIAL]
        if waits:
            return Banner(
                "warn", Fault.NOBODY, _TITLES[Fault.NOBODY], stores[waits[0]].cause, stores[waits[0]].action, waits[0]
            )
        return Banner(
            "good",
            Fault.NOBODY,
            _TITLES[Fault.NOBODY],
            f"{count} as they should be.".replace("1 store is as they", "The store is as it"),
            Action(Does.NOTHING, "Nothing to do"),
        )
    fault = next(fault for fault in _ORDER if any(stores[name].fault is fault for name in troubled))
    worst = next(name for name in troubled if stores[name].fault is fault)
    light = min((stores[name].stand.light for name in troubled), key=("bad", "warn", "idle", "good").index)
    found = stores[worst]
    text = f"{_counts(stores, troubled)} Begin with {worst}: {found.cause}"
    return Banner(light, fault, _TITLES[fault], text, found.action, worst)


def _counts(stores: Mapping[str, Standing], troubled: Sequence[str]) -> str:
    """Say how many stores are how, by whose fault it is."""
    counts = Counter((stores[name].fault, stores[name].stand) for name in troubled)
    told = [
        f"{fault.words}: "
        + ", ".join(f"{count} {stand.value}" for (its, stand), count in counts.items() if its is fault)
        for fault in _ORDER
        if any(its is fault for its, _ in counts)
    ]
    return f"{len(troubled)} of {len(stores)} stores need a look ({'; '.join(told)})." if told else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
