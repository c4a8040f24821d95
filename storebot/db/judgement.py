"""What a run is judged by when it ends, and what it was judged to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from storebot.db import tiers
from storebot.items import Outcome, Round, RunStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How things stand when the last record is saved: what a run is judged by."""

    outcomes: Mapping[Outcome, int]
    pages_known: int = 0
    pages_read: int = 0  # have a record
    pages_left: int = 0  # could be claimed, and weren't visited
    listings_known: int = 0
    pages_waiting: int = 0  # an earlier run couldn't observe them, and their next try isn't due
    rows_written: int = 0
    change_events: int = 0
    held: int = 0  # pages whose change the write gate holds
    held_why: str = ""  # the sentence of the gate that holds most of them
    missed: tuple[str, ...] = ()  # what was expected of the run and isn't so, a sentence each
    used: tiers.Used = field(default_factory=tiers.Used)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a run was judged to be, for its row."""

    status: RunStatus
    reason: str
    requests: int
    size_bytes: int
    rows_written: int
    rows_skipped: int
    change_events: int
    rounds: Mapping[Round, str] = field(default_factory=dict)  # each with the reason why it isn't whole
