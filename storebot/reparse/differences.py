"""What a re-parse changes, by field: how many listings, and some of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from storebot.core.gate import Reading
from storebot.core.summary import table
from storebot.db.corrections import Corrected, Difference
from storebot.items import Outcome

_SAMPLES = 3  # of each field
_REASONS = 200  # that are told apart: some quote the page
_LONGEST = 60  # signs of a value that are shown


@dataclass(slots=True)
class Differences:
    """The tally of a run; it holds a few samples, whatever the size of the store."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)  # of invalid and skipped pages
    fields: Counter[str] = field(default_factory=Counter)
    samples: dict[str, list[Difference]] = field(default_factory=dict)
    appeared: int = 0
    vanished: int = 0
    rows_written: int = 0
    changes: int = 0

    def add(self, found: Iterable[Corrected]) -> None:
        """Count some pages."""
        for one in found:
            self.outcomes[one.outcome] += 1
            if one.outcome in (Outcome.INVALID, Outcome.SKIPPED):
                known = one.reason in self.reasons or len(self.reasons) < _REASONS
                self.reasons[one.reason if known else "other reasons"] += 1
            self.appeared += one.appeared
            self.vanished += one.vanished
            self.rows_written += one.rows_written
            self.changes += one.changes
            for difference in one.differences:
                self.fields[difference.field] += 1
                samples = self.samples.setdefault(difference.field, [])
                if len(samples) < _SAMPLES:
                    samples.append(difference)

    def held(self) -> Counter[Outcome]:
        """Return the outcomes of a run whose corrections are held."""
        held = self.outcomes[Outcome.CHANGED]
        return Counter({**self.outcomes, Outcome.CHANGED: 0, Outcome.HELD: held})

    def lines(self) -> list[str]:
        """Return the tally as lines: a table of the fields, then why pages could not be read."""
        rows = [
            [*((name, str(count)) if place == 0 else ("", "")), _shown(one.before), _shown(one.after), _where(one)]
            for name, count in self.fields.most_common()
            for place, one in enumerate(self.samples[name])
        ]
        said = [table(["field", "listings", "was", "becomes", "such as"], rows)] if rows else []
        if self.appeared or self.vanished:
            said.append(f"{self.appeared} listings appear, {self.vanished} are named no more")
        return [*said, *(f"{count} × {reason}" for reason, count in self.reasons.most_common(10))]

    def as_json(self) -> dict[str, Any]:
        """Return the same for machines."""
        return {
            "fields": {
                name: {"listings": count, "samples": [_sample(one) for one in self.samples[name]]}
                for name, count in self.fields.most_common()
            },
            "listings_appeared": self.appeared,
            "listings_vanished": self.vanished,
            "reasons": dict(self.reasons.most_common(10)),
        }


def _sample(one: Difference) -> dict[str, Any]:
    return {"url_key": one.url_key, "variant_id": one.variant_id, "before": one.before, "after": one.after}


def _where(one: Difference) -> str:
    return f"{one.url_key} ({one.variant_id})" if one.variant_id else one.url_key


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    text = " ".join((value if isinstance(value, str) else orjson.dumps(value).decode()).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def gate_lines(tripped: Sequence[Reading]) -> list[str]:
    """Return the gates that say no as a table, with what they measured and what they allow."""
    rows = [
        [one.gate, f"{one.pages} of {one.of}", _measured(one.gate, one.value), _measured(one.gate, one.limit)]
        for one in tripped
    ]
    return [table(["gate", "pages", "measured", "limit"], rows)]


def _measured(gate: str, value: float) -> str:
    return f"× {value:.3g}" if gate == "price" else f"{value:.0%}"


def sentence(counts: Sequence[tuple[int, str]]) -> str:
    """Return ``3 invalid; 2 not kept`` of what there is any of."""
    return "; ".join(f"{count} {what}" for count, what in counts if count)
