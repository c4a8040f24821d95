"""What the shop sells: 300 products, the same on every run, with names and stocks that trip a reader."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

# Haystack's Whoosh loses products of a last page that isn't full, so this stays a multiple of oscar's 20.
COUNT = 300
DOWNLOADS = 12  # the first of them: nobody counts their stock
PARENTS = 20  # the last: each is sold in two or three versions
_CATEGORIES = ("Kitchen & Table > Pans", "Kids' Room")
_MAKERS = ("Ångström", "Müller & Söhne", "O'Brien", "Nord-Süd", "Rösterei „Zum Mohren“", "Acme")
_THINGS = (
    'Skillet 28 cm / 11"',
    "Salt & Pepper Mill <Duo>",
    "Käsehobel",
    "Gift Card £50 Value",
    "Crème brûlée Torch",
    'Children\'s Mug "Drache"',
    "Чайник",
    "Notebook A5, 2 for 1",
    "Out of Stock Sign, enamel",
)


class Version(NamedTuple):
    """One version of a parent product."""

    title: str
    price: Decimal
    stock: int


class Good(NamedTuple):
    """One product. Its price is without tax, and None where no partner delivers it: then it is unavailable.

    ``recommends`` are the numbers of others that its page shows.
    """

    number: int
    title: str
    category: str
    price: Decimal | None
    stock: int
    upc: str | None = None
    description: str = ""
    is_download: bool = False
    versions: tuple[Version, ...] = ()
    recommends: tuple[int, ...] = ()


def goods() -> Iterator[Good]:
    """Yield the products in the order in which they are put on sale."""
    for number in range(COUNT):
        title = f"{_MAKERS[number % len(_MAKERS)]} {_THINGS[number * 5 % len(_THINGS)]} No. {number}"
        yield Good(
            number=number,
            title=title,
            category=_CATEGORIES[number % len(_CATEGORIES)],
            price=_price(number),
            stock=0 if number % 9 == 4 else number * 7 % 60 + 1,
            upc=f"40{number:06d}" if number % 4 else None,
            description=_description(number),
            is_download=number < DOWNLOADS,
            versions=_versions(title, number) if number >= COUNT - PARENTS else (),
            recommends=((number * 11 + 1) % COUNT, (number * 11 + 5) % COUNT) if number % 7 == 0 else (),
        )


def _price(number: int) -> Decimal:
    """Return a price between 0.49 and some thousands, now and then of whole pounds."""
    pence = 49 + number * 1_237 % 9_000 + (120_000 if number % 17 == 0 else 0)
    return Decimal(pence + 100 - pence % 100 if number % 10 == 3 else pence).scaleb(-2)


def _versions(title: str, number: int) -> tuple[Version, ...]:
    """Return two or three versions; of some parents the first is out of stock, of some all are."""
    stocks = (number % 3, number % 5, 0)[: 2 + number % 2]
    return tuple(
        Version(f"{title}, size {size}", _price(number) + size, stock) for size, stock in enumerate(stocks, start=1)
    )


def _description(number: int) -> str:
    return (
        f"<p>Was £{number + 99}.99 in the shops. Free delivery over £{30 + number % 3}.00; 10% off from 3 pieces.</p>"
        "<p>Not in stock elsewhere: we have it &amp; ship it.</p>"
    )
