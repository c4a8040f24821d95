"""A visit that isn't published yet, as text: all that publishing it later takes, on whatever version of storebot."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, NamedTuple

import orjson

from storebot.db.context import RunContext
from storebot.items import Availability, Disagreement, Listing, Outcome, Problem, Target, Visit

# All that is text or a number; the rest has its own place, or was let go of.
_OTHERWISE = {"target", "listings", "problems", "extracted", "blocks"}
_OF_VISIT = tuple(field.name for field in fields(Visit) if field.name not in _OTHERWISE)
_OF_TARGET = ("store", "url", "url_key", "page_id", "lane")
_OF_THE_PROCESS = {"store", "lease_token", "gate", "learner"}
_OF_RUN = tuple(field.name for field in fields(RunContext) if field.name not in _OF_THE_PROCESS)


class HeldVisit(NamedTuple):
    """A visit as it was held, and the run that made it: its lease is gone."""

    visit: Visit
    run: RunContext


def packed(visit: Visit, run: RunContext) -> str:
    """Return the visit as text."""
    found: dict[str, Any] = {
        "visit": {name: value for name in _OF_VISIT if isinstance(value := getattr(visit, name), str | int)},
        "target": {name: getattr(visit.target, name) for name in _OF_TARGET},
        "run": {name: getattr(run, name) for name in _OF_RUN},
        "listings": [_plain(listing) for listing in visit.listings],
        "problems": [tuple(problem) for problem in visit.problems],
    }
    return orjson.dumps(found).decode()


def unpacked(text: str) -> HeldVisit:
    """Return a visit that `packed` made text of. Raises `ValueError` for one that this version can't read."""
    try:
        found = orjson.loads(text)
        visit = Visit(target=Target(**found["target"]), **found["visit"])
        visit.outcome = Outcome(visit.outcome) if visit.outcome else None
        visit.listings = tuple(_listing(values) for values in found["listings"])
        visit.problems = tuple(Problem(*problem) for problem in found["problems"])
        return HeldVisit(visit, RunContext(lease_token="", store=visit.target.store, **found["run"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"another version of storebot wrote it: {error}") from error


def _plain(listing: Listing) -> dict[str, Any]:
    values = {field.name: getattr(listing, field.name) for field in fields(listing)}
    return {**values, "disagreements": [tuple(found) for found in listing.disagreements]}


def _listing(values: dict[str, Any]) -> Listing:
    return replace(
        Listing(**values),
        availability=Availability(values["availability"]) if values["availability"] else None,
        category_path=tuple(values["category_path"]),
        images=tuple(values["images"]),
        disagreements=tuple(Disagreement(*found) for found in values["disagreements"]),
    )
