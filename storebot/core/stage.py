"""What a stage is given and what it says: values that the pass (`storebot.stages`) reads and saves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from storebot.items import Listing, ListingStatus

Reads = Literal["offers", "checks"]
READABLE: frozenset[str] = frozenset(get_args(Reads))


class PastOffer(NamedTuple):
    """One row of the append-only history of a listing."""

    at: int
    price_minor: int | None
    regular_price_minor: int | None = None
    currency: str | None = None
    availability: str | None = None
    cause: str = "seen"  # any other: the parser moved, not the market


class Checks(NamedTuple):
    """When a page was seen, as its visits tell: from ``first_at`` on, but for the ``gaps`` (seen, seen again)."""

    first_at: int | None = None
    gaps: tuple[tuple[int, int], ...] = ()


NEVER_LOOKED = Checks()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One listing as the database has it. Offers (oldest first) and checks are there only if the stage reads them."""

    id: int
    page_id: int
    listing: Listing
    status: ListingStatus = ListingStatus.ACTIVE
    first_seen_at: int = 0
    last_seen_at: int = 0
    last_checked_at: int = 0
    offers: tuple[PastOffer, ...] = ()
    checks: Checks = NEVER_LOOKED


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """What a stage says of one listing. ``facts`` are JSON values and the whole of it; the rest is for SQL to find.

    ``number`` is the one that a table is sorted by, ``group`` what listings have in common, ``flagged`` that a person
    should look.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    number: int | None = None
    group: str | None = None
    flagged: bool = False


@runtime_checkable
class ListingStage(Protocol):
    """A stage that judges each listing by itself. Made without arguments; pure: equal subjects, equal answers.

    Raise ``version`` with every change that can change an answer: all rows are then made anew. ``reads`` names what it
    needs beside the row.
    """

    version: str
    reads: frozenset[Reads]

    def derive(self, subject: Subject) -> Derived:
        """Say what there is to say; an empty `Derived` where there is nothing."""
        ...


@runtime_checkable
class CatalogueStage(Protocol):
    """A stage that compares listings with each other, across stores. Made without arguments; pure, and order-free."""

    version: str

    def derive_all(self, subjects: Iterable[Subject]) -> Iterable[tuple[int, Derived]]:
        """Say what there is to say of whom, by the subject's id; keep of a subject only what is compared."""
        ...


Stage = ListingStage | CatalogueStage
