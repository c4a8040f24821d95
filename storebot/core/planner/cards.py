"""What a card says against what is known: nothing new, a hint that its page is due, or the new price itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum
from typing import NamedTuple


class Stock(IntEnum):
    """Whether a card says that its product can be bought; a column of the table of pages."""

    UNSAID = 0
    YES = 1
    NO = 2


class News(IntEnum):
    """What a card brings."""

    NONE = 0
    HINT = 1  # the page is due at once
    PRICE = 2  # the price that is on it now


class Shown(NamedTuple):
    """What a card shows, or showed: ``price_minor`` None where it gives none beyond doubt."""

    price_minor: int | None
    currency: str | None = None
    stock: Stock = Stock.UNSAID


class Record(NamedTuple):
    """What is published of a page. ``price_minor`` None: no single price that a card could show."""

    price_minor: int | None
    currency: str | None
    buyable: bool | None  # None: it isn't known
    changed_at: int  # the last change of the record


def news(card: Shown, before: Shown, record: Record, *, listed_at: int, proven: bool) -> News:
    """Return what a card brings. ``before`` is what it showed at ``listed_at``, its last look; 0 where there is none.

    ``proven``: cards of this store have proved to show the prices of their pages.

    A card is believed where it agreed with the record and moved since. One that never agreed may show a member's price
    or that of another variant. It's a hint when it's seen for the first time, when it moves, and when it stays though
    the record moved: else every look at it would cost a look at its page.
    """
    stays = record.changed_at > listed_at  # since the last look the record moved, so it's news that the card didn't
    price = _price(card, before, record, stays=stays, proven=proven)
    return max(price, _stock(card.stock, before.stock, record.buyable, stays=stays))


def _price(card: Shown, before: Shown, record: Record, *, stays: bool, proven: bool) -> News:
    if card.price_minor is None:
        return News.NONE
    moved = card.price_minor != before.price_minor
    if record.price_minor is None or record.currency != card.currency:
        return News.HINT if moved and before.price_minor is not None else News.NONE
    if card.price_minor == record.price_minor:
        return News.NONE
    if proven and before.price_minor == record.price_minor:
        return News.PRICE
    return News.HINT if moved or stays else News.NONE


def _stock(now: Stock, before: Stock, buyable: bool | None, *, stays: bool) -> News:
    moved = now is not before
    if buyable is None:
        return News.HINT if moved and Stock.UNSAID not in (now, before) else News.NONE
    # A badge that is gone says the contrary; that a card doesn't say "in stock" any more says nothing.
    says = Stock.YES if now is Stock.UNSAID and before is Stock.NO else now
    contradicts = says is (Stock.NO if buyable else Stock.YES)
    return News.HINT if contradicts and (moved or stays) else News.NONE


class Left(NamedTuple):
    """What a look at a catalogue page doesn't find there any more."""

    vanished: list[int]
    pushed: list[int]  # to the next page, or the one before: others took their places


def left(old: Sequence[int], new: Collection[int], *, is_first: bool) -> Left:
    """Compare what a catalogue page showed with what it shows, in its order; ``is_first``: no page comes before it.

    As many as came may have been pushed off an end. Where more than half are gone it is sorted anew, or isn't whole.
    """
    gone = set(old) - set(new)
    if 2 * len(gone) > len(old):
        return Left([], sorted(gone))
    came = len(set(new) - set(old))
    pushed: list[int] = []
    ends = [reversed(old)] if is_first else [reversed(old), iter(old)]
    for end in ends:
        for one in end:
            if one not in gone or len(pushed) == came:
                break
            if one not in pushed:
                pushed.append(one)
    return Left([one for one in old if one in gone and one not in pushed], pushed)


__all__ = ["Left", "News", "Record", "Shown", "Stock", "left", "news"]
