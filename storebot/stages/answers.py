"""The answer of a stage as a row: what it was made of, what it says, and whether that is what was said before."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import orjson

from storebot.core.money import MAX_MINOR
from storebot.core.stage import Derived, Reads, Subject
from storebot.db.derived import Said
from storebot.db.types import GROUP_LENGTH, bounded


@dataclass(slots=True)
class Sorted:
    """Answers to save: those that say something else than before, and those whose making alone is noted."""

    changed: list[Said] = field(default_factory=list)
    restamped: list[Said] = field(default_factory=list)


def inputs_of(subject: Subject, reads: frozenset[Reads]) -> str:
    """Return a hash of all that a stage can read of a listing: equal hashes, equal answers.

    The history has no part of its own in it. Offers are appended only together with the row; those that a page
    inherits move ``first_seen_at``; a check moves the times of the page.
    """
    parts: list[object] = [subject.page_id, subject.listing, subject.status]
    if reads:
        parts.append(subject.first_seen_at)
    if "checks" in reads:
        parts += [subject.last_seen_at, subject.last_checked_at]
    return blake2b(orjson.dumps(parts, default=tuple), digest_size=16).hexdigest()  # a named tuple is no list to orjson


def said_by(derived: Derived, listing_id: int, version: str, inputs: str) -> Said:
    """Return an answer as it's saved; TypeError or ValueError, saying why, for one that can't be."""
    if not isinstance(derived, Derived):
        raise TypeError(f"a stage answers with Derived, not {type(derived).__name__}")
    if derived.number is not None and not -MAX_MINOR <= derived.number <= MAX_MINOR:
        raise ValueError(f"the number {derived.number} is more than 64 bits hold")
    facts = orjson.dumps(dict(derived.facts), option=orjson.OPT_NON_STR_KEYS).decode()
    group = None if derived.group is None else bounded(derived.group, GROUP_LENGTH)
    return Said(listing_id, version, inputs, facts, derived.number, group, int(derived.flagged))


def sort_out(answers: Mapping[int, Said], before: Mapping[int, Said]) -> Sorted:
    """Tell answers that differ from what was said before from those that only have another version or other inputs."""
    found = Sorted()
    for listing_id, new in answers.items():
        old = before.get(listing_id)
        if old is None or old.answer != new.answer:
            found.changed.append(new)
        elif (old.version, old.inputs) != (new.version, new.inputs):
            found.restamped.append(new._replace(at=old.at))
    return found


def explained(error: BaseException, subject: Subject | None = None) -> str:
    """Return what a stage's code raised, over which listing and where in the code."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    about = ""
    if subject is not None:
        variant = f", variant {subject.listing.variant_id}" if subject.listing.variant_id else ""
        about = f"{subject.listing.store}: {subject.listing.url_key}{variant}: "
    return f"{about}{type(error).__name__}: {error}{where}"
