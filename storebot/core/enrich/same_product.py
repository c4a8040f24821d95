"""One product in many shops: by GTIN, then by brand and part number, never by name (decision 0021)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from sys import intern

from storebot.core.enrich.conflicts import Member, conflicts
from storebot.core.enrich.numbers import brand_key, part_key, worldwide_gtin
from storebot.core.stage import Derived, Subject

_MAX_PAGES = 10  # of one shop under one number; beyond it the number is a placeholder
_PARTS_SHOWN = 5

GTIN, MPN = "gtin", "mpn"


@dataclass(frozen=True, slots=True)
class Match:
    """The group of a listing: ``id`` is made of its number alone, and is None while the number can't be believed."""

    id: str | None
    candidate: str  # the id that it would have
    by: str  # gtin | mpn
    stores: int = 1  # in the group, this one too
    listings: int = 1
    doubts: tuple[str, ...] = ()


class SameProduct:
    """The stage: a group id for each listing that has a number."""

    version = "1"

    def derive_all(self, subjects: Iterable[Subject]) -> Iterator[tuple[int, Derived]]:
        """Yield what `match` says; nothing for listings without a number."""
        members = [member for subject in subjects if (member := member_of(subject)) is not None]
        for listing_id, found in match(members).items():
            facts = {
                "group": found.id,
                "matched_by": found.by,
                "stores": found.stores,
                "listings": found.listings,
                **({"candidate": found.candidate, "doubts": list(found.doubts)} if found.doubts else {}),
            }
            yield listing_id, Derived(facts=facts, group=found.id, flagged=bool(found.doubts))


def member_of(subject: Subject) -> Member | None:
    """Return what is compared of a listing; None where it has no number."""
    listing = subject.listing
    gtin, part = worldwide_gtin(listing.gtin), part_key(listing.brand, listing.mpn)
    if gtin is None and part is None:
        return None
    return Member(
        id=subject.id,
        store=intern(listing.store),  # rows bring a copy each
        page_id=subject.page_id,
        gtin=gtin,
        part=part,
        brand=intern(listing.brand) if listing.brand and brand_key(listing.brand) else None,
        name=listing.name or "",
        price_minor=listing.price_minor,
        currency=listing.currency,
    )


def match(members: Sequence[Member]) -> dict[int, Match]:
    """Return the match of each member, by its id in rising order, whatever the order of the members.

    The law that makes ids stable: a listing with a GTIN has the id of that GTIN or, while it's in doubt, none; one
    without has that of the GTIN that others name beside its part number, else that of the part number. So one more
    listing never moves a listing with a GTIN to another id.
    """
    gtins = _gtins_by_part(members)
    groups: defaultdict[str, list[Member]] = defaultdict(list)
    found: dict[int, Match] = {}
    for member in members:
        key, doubt = _key(member, gtins)
        if doubt:
            found[member.id] = Match(None, key, MPN, doubts=(doubt,))
        else:
            groups[key].append(member)
    for key, group in groups.items():
        found |= _judged(key, group)
    return dict(sorted(found.items()))


def _gtins_by_part(members: Sequence[Member]) -> dict[str, list[str]]:
    """Return the GTINs beside each part number that a listing without GTIN has."""
    wanted = {member.part for member in members if not member.gtin}
    gtins: defaultdict[str, set[str]] = defaultdict(set)
    for member in members:
        if member.gtin and member.part in wanted and member.part:
            gtins[member.part].add(member.gtin)
    return {part: sorted(found) for part, found in gtins.items()}


def _key(member: Member, gtins: dict[str, list[str]]) -> tuple[str, str]:
    """Return the id that a member's numbers make, and why it can't be believed; "" where it can."""
    if member.gtin:
        return f"{GTIN}:{member.gtin}", ""
    beside = gtins.get(member.part or "", [])
    if len(beside) == 1:
        return f"{GTIN}:{beside[0]}", ""
    doubt = f"the part number stands beside {len(beside)} GTINs: {', '.join(beside[:_PARTS_SHOWN])}" if beside else ""
    return f"{MPN}:{member.part}", doubt


def _judged(key: str, group: list[Member]) -> dict[int, Match]:
    """Take out of a group those whose number is no number of theirs, then those that the others contradict."""
    found: dict[int, Match] = {}
    left: list[Member] = []
    pages = Counter(store for store, _ in {(member.store, member.page_id) for member in group})
    variants = Counter((member.store, member.page_id) for member in group)
    for member in group:
        doubt = ""
        if variants[member.store, member.page_id] > 1:
            doubt = f"{variants[member.store, member.page_id]} variants of its page have the same number"
        elif pages[member.store] > _MAX_PAGES:
            doubt = f"{pages[member.store]} pages of {member.store} have the same number"
        if doubt:
            found[member.id] = Match(None, key, _by(member, key), doubts=(doubt,))
        else:
            left.append(member)
    doubts = conflicts(left)
    agreed = [member for member in left if member.id not in doubts]
    stores = len({member.store for member in agreed})
    for member in agreed:
        found[member.id] = Match(key, key, _by(member, key), stores, len(agreed))
    for listing_id, why in doubts.items():
        by = next(_by(member, key) for member in left if member.id == listing_id)
        found[listing_id] = Match(None, key, by, doubts=why)
    return found


def _by(member: Member, key: str) -> str:
    return GTIN if key == f"{GTIN}:{member.gtin}" else MPN
