"""Whether a run read all that a source of its store names: the walks of each source, and what was in their way."""

from __future__ import annotations

from enum import StrEnum

from storebot.items import Round


class Source(StrEnum):
    """What names the pages of a store."""

    SITEMAP = "sitemap"
    CATALOGUE = "catalogue"
    PLATFORM = "platform"
    FEED = "feed"


class Rounds:
    """The rounds of one run, by source. A round is whole unless something is said against it."""

    def __init__(self) -> None:
        self._rounds: dict[Source, Round] = {}
        self._source_of: dict[str, Source] = {}  # walk -> source
        self._open: set[str] = set()
        self._broken: dict[Source, str] = {}
        self._glances: set[Source] = set()

    def begin(self, source: Source, round_: Round) -> None:
        """Take the number of a round that the run begins, or goes on with."""
        self._rounds[source] = round_

    def glance(self, source: Source) -> None:
        """Say that the run reads a part of what a source names, and isn't to end its round, whole or not."""
        self._glances.add(source)

    def of(self, source: Source) -> Round | None:
        """Return the round in which a source names pages now; None before it's begun."""
        return self._rounds.get(source)

    def walk(self, walk: str, source: Source) -> None:
        """Say that a walk belongs to a source, and that it was begun."""
        self._source_of[walk] = source
        self._open.add(walk)

    def ended(self, walk: str, fault: str = "") -> None:
        """Say that a walk was read to its proven end; or the sentence that says why not."""
        self._open.discard(walk)
        if fault and walk in self._source_of:
            self.spoil(self._source_of[walk], fault)

    def spoil(self, source: Source, reason: str) -> None:
        """Say why a round can't be whole; the first reason is kept."""
        self._broken.setdefault(source, reason)

    def judged(self, *, finished: bool) -> dict[Round, str]:
        """Return each round with the reason why it isn't whole; "" for one that is.

        ``finished`` is whether the run came to its own end.
        """
        waiting = {self._source_of[walk]: walk for walk in sorted(self._open, reverse=True)}
        return {
            round_: self._reason(source, waiting, finished=finished)
            for source, round_ in self._rounds.items()
            if source not in self._glances
        }

    def _reason(self, source: Source, waiting: dict[Source, str], *, finished: bool) -> str:
        if reason := self._broken.get(source):
            return reason
        if source in waiting:
            return f"{waiting[source]}: the run ended before it did"
        return "" if finished else "the run was stopped"
