"""Which moves of the market are told to whom: watches, and the digests that are made by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from decimal import Decimal
from typing import NamedTuple

from storebot.core.alerts.message import Channel, Message, Severity, clock
from storebot.core.alerts.moves import Event, Move
from storebot.core.alerts.quiet import QuietHours
from storebot.core.money import EXPONENTS, from_minor

MOST_LINES = 50  # of one digest; the rest is counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What somebody wants to be told of. What isn't named doesn't limit."""

    name: str
    events: frozenset[Event] = frozenset({Event.PRICE_DROP, Event.BACK_IN_STOCK})
    stores: frozenset[str] = frozenset()
    brands: frozenset[str] = frozenset()  # casefolded
    percent: Decimal = Decimal(0)  # a price that moved less isn't told
    below: Decimal | None = None  # what costs as much or more now isn't told
    currency: str = ""  # of ``below``

    def wants(self, move: Move) -> bool:
        """Whether it is to be told."""
        return (
            move.event in self.events
            and (not self.stores or move.store in self.stores)
            and (not self.brands or move.brand.casefold() in self.brands)
            and (move.what != "price" or abs(move.percent) >= self.percent)
            and (self.below is None or self._is_below(move))
        )

    def _is_below(self, move: Move) -> bool:
        if move.price_minor is None or move.currency != self.currency or self.currency not in EXPONENTS:
            return False
        assert self.below is not None
        return from_minor(move.price_minor, self.currency) < self.below


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How often digests are made. Times are milliseconds."""

    watches: tuple[Watch, ...] = field(default=(Watch(name="changes"),))
    every_ms: int = 3_600_000
    cool_down_ms: int = 24 * 3_600_000  # of one thing of one listing, after it was told
    quiet: QuietHours | None = None
    zone: tzinfo = UTC

    def is_due(self, last_ms: int, now_ms: int) -> bool:
        """Whether a digest is to be made now."""
        return now_ms - last_ms >= self.every_ms and not (self.quiet and self.quiet.cover(now_ms))


class Told(NamedTuple):
    """What was told of one thing last, and what moved since then, which waits for the end of the cool-down."""

    at: int
    news: Move
    waiting: Move | None = None


Key = tuple[str, str]  # watch, subject


class Digested(NamedTuple):
    """The messages, and what is to be remembered: anew, or (None) not any more."""

    messages: list[Message]
    told: dict[Key, Told | None]


def digest(found: Iterable[Move], told: Mapping[Key, Told], now_ms: int, terms: Terms) -> Digested:
    """Make the digests of what moved since the last one, ``told`` being all that is remembered."""
    messages: list[Message] = []
    changed: dict[Key, Told | None] = {}
    news = {move.subject: move for move in found}
    for watch in terms.watches:
        lines = []
        mine = {subject: one for (name, subject), one in told.items() if name == watch.name}
        for subject in (*news, *(one for one in mine if one not in news)):
            move, after = _due(news.get(subject), mine.get(subject), watch, now_ms, terms.cool_down_ms)
            if move is not None:
                lines.append(move)
            if after != mine.get(subject):
                changed[watch.name, subject] = after
        if lines:
            messages.append(_message(watch, lines, now_ms, terms.zone))
    return Digested(messages, changed)


def _due(
    move: Move | None, before: Told | None, watch: Watch, now_ms: int, cool_down_ms: int
) -> tuple[Move | None, Told | None]:
    """Return what is to be told of one thing now, and what is to be remembered of it."""
    if before is None:
        return (move, Told(now_ms, move)) if move is not None and watch.wants(move) else (None, None)
    waiting = before.waiting
    if move is not None:  # what counts is the way from what was told to what is now
        same_money = move.currency == before.news.currency
        since_told = replace(move, before=before.news.after) if same_money else move
        waiting = None if since_told.before == since_told.after else since_told
    if now_ms - before.at < cool_down_ms:
        return None, before._replace(waiting=waiting)
    if waiting is not None and watch.wants(waiting):
        return waiting, Told(now_ms, waiting)
    return None, None


def _message(watch: Watch, lines: list[Move], now_ms: int, zone: tzinfo) -> Message:
    lines = sorted(lines, key=lambda move: (move.percent, move.store, move.name, move.url_key))
    count = "1 change" if len(lines) == 1 else f"{len(lines):,} changes"
    stores = sorted({move.store for move in lines})
    of = ", ".join(stores[:3]) + (f" and {len(stores) - 3} more" if len(stores) > 3 else "")
    body = [text for move in lines[:MOST_LINES] for text in (_line(move), f"  {move.url}")]
    if len(lines) > MOST_LINES:
        body.append(f"… and {len(lines) - MOST_LINES:,} more.")
    body.append(f"Seen until {clock(now_ms, zone)}.")
    title = f"{watch.name}: {count} at {of}"
    return Message(Channel.BUSINESS, f"digest {watch.name}"[:200], Severity.INFO, title, "\n".join(body))


def _line(move: Move) -> str:
    brand = f" ({move.brand})" if move.brand and move.brand.casefold() not in move.name.casefold() else ""
    variant = f" [{move.variant_id}]" if move.variant_id else ""
    return f"{move.store}: {move.name or move.url_key}{brand}{variant}: {move.sentence()}"
