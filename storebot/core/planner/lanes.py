"""Why a page is fetched: its lane."""

from __future__ import annotations

from enum import StrEnum


class Lane(StrEnum):
    """Why a page is fetched."""

    LISTING = "listing"  # a catalogue page, for the cards on it; or a feed that carries the product
    NEW = "new"  # it was never read
    SIGNAL = "signal"  # its card or its sitemap entry says that it changed
    HAZARD = "hazard"  # a change is likely by its past
    SWEEP = "sweep"  # it wasn't looked at for the longest time: the floor
    AUDIT = "audit"  # at random, to know what is missed
    DUE = "due"  # its interval is over; or it is away, and the time has come to ask again
