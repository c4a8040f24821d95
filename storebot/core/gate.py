"""The write gate: whether what a run has compared so far may be published. Facts in, a verdict with its numbers out.

Why each of them, and what was refused: docs/decisions/0020-write-gate.md.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from storebot.core.gate_facts import ratio_of
from storebot.core.gate_limits import Limits
from storebot.core.gate_tally import Tally

_ALL = 3  # pages: if it's all of a store's, so few are enough
_NEEDS_MANY = ("changed", "blocked")  # but not for these: all prices of a small store may well move in one night


class State(StrEnum):
    """What becomes of changes now."""

    OPEN = "open"  # they are published
    WAIT = "wait"  # the run is too young to tell
    TRIP = "trip"  # too much of what it saw is unlikely


class Verdict(NamedTuple):
    """A state and, for ``TRIP``, the gate that says so with its numbers in a sentence."""

    state: State
    gate: str = ""
    sentence: str = ""


class Reading(NamedTuple):
    """How one gate stood: what it measured, its limit, and what came of it, for a person."""

    gate: str
    pages: int  # unlikely ones; of the gate `price` those whose price moved
    of: int
    value: float  # the share of these; of the gate `price` the median factor by which prices moved
    limit: float
    state: str  # calm | few: beyond the limit, by too few pages | tripped | off: a planned window


class _Gate(NamedTuple):
    """One gate: how many pages are unlikely in its way, how many of how many make it trip, and what it says then."""

    name: str
    fewest: int  # pages, below which it never trips, unless they are all of the store's
    of: Callable[[Tally], tuple[int, int]]  # unlikely pages, and those they are a share of
    says: str


def judge(tally: Tally, limits: Limits, *, young: bool) -> Verdict:
    """Judge a run by what it has compared: ``young`` is whether more is to come and too little came yet.

    A run that is over a limit trips however young it is; below its fewest pages no gate does.
    """
    if limits.planned == "all":
        return Verdict(State.OPEN)
    tripped = _by_price(tally, limits) or _by_share(tally, limits)
    return tripped or Verdict(State.WAIT if young else State.OPEN)


def _by_price(tally: Tally, limits: Limits) -> Verdict | None:
    if limits.planned or tally.moved < _few(5, tally.moved, limits):
        return None
    ratio = ratio_of(tally.median_bucket())
    if 1 / limits.price_ratio <= ratio <= limits.price_ratio:
        return None
    sentence = (
        f"the prices of {tally.moved} pages moved to {ratio:.3g} times what they were (median); "
        f"the limit is a factor of {limits.price_ratio:g}"
    )
    return Verdict(State.TRIP, "price", sentence)


def _by_share(tally: Tally, limits: Limits) -> Verdict | None:
    for gate in _gates(tally, limits):
        count, of = gate.of(tally)
        limit = getattr(limits, gate.name)
        fewest = gate.fewest if gate.name in _NEEDS_MANY else _few(gate.fewest, count, limits)
        if of and count >= fewest and count / of > limit:
            says = gate.says.format(count=count, of=of)
            return Verdict(State.TRIP, gate.name, f"{says} ({count / of:.0%}); the limit is {limit:.0%}")
    return None


def readings(tally: Tally, limits: Limits) -> list[Reading]:
    """Return how each gate stands, in the order in which `judge` asks them."""
    found = [_price_reading(tally, limits)]
    for gate in _gates(tally, limits):
        count, of = gate.of(tally)
        limit, value = getattr(limits, gate.name), count / of if of else 0.0
        fewest = gate.fewest if gate.name in _NEEDS_MANY else _few(gate.fewest, count, limits)
        state = "off" if limits.planned == "all" else _state(value > limit, count >= fewest)
        found.append(Reading(gate.name, count, of, value, limit, state))
    return found


def _price_reading(tally: Tally, limits: Limits) -> Reading:
    ratio, limit = ratio_of(tally.median_bucket()) if tally.moved else 1.0, limits.price_ratio
    many = tally.moved >= _few(5, tally.moved, limits)
    state = "off" if limits.planned else _state(not 1 / limit <= ratio <= limit, many)
    return Reading("price", tally.moved, tally.seen, ratio, limit, state)


def _state(over: bool, many: bool) -> str:
    return ("tripped" if many else "few") if over else "calm"


def _few(fewest: int, count: int, limits: Limits) -> int:
    """Return how many pages a gate needs: fewer where they are the whole store."""
    return _ALL if limits.pages and count >= limits.pages else fewest


def _gates(tally: Tally, limits: Limits) -> list[_Gate]:
    """Return the gates by share, the most telling first."""
    expected = tally.price_only if limits.planned else 0
    field = max(sorted(tally.lost), key=tally.lost.__getitem__, default="")
    switch = max(sorted(tally.currencies), key=tally.currencies.__getitem__, default="")
    return [
        _Gate("identical", 5, _identical, "{count} of {of} pages show the very same record"),
        _Gate("identity", 5, lambda all_: (all_.identity, all_.seen), "{count} of {of} known pages show another name, "
              "SKU, GTIN or brand"),
        _Gate("lost", 5, lambda all_: (all_.lost[field], all_.seen), f"{{count}} of {{of}} known pages lost their "
              f"{_in_words(field)}"),
        _Gate("currency", 3, lambda all_: (all_.currencies[switch], all_.seen), "{count} of {of} known pages switched "
              f"their currency from {switch}"),
        _Gate("missing", 8, lambda all_: (all_.missing, all_.seen), "{count} of {of} known pages are missing or "
              "lead to another"),
        _Gate("blocked", 10, lambda all_: (all_.blocked, all_.seen + all_.new + all_.blocked), "{count} of {of} visits "
              "were blocked, and what the others show may be a mask"),
        _Gate("changed", 20, lambda all_: (all_.changed - expected, all_.seen), "{count} of {of} known pages changed"),
    ]  # fmt: skip


def _identical(tally: Tally) -> tuple[int, int]:
    return tally.repeated(), tally.seen + tally.new


def _in_words(field: str) -> str:
    return field.removesuffix("_minor").replace("_", " ")
