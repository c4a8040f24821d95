"""The last line of a crawl, as text and as JSON, and the table of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from storebot.core.costs import money
from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus, Tier

# In the last line `skipped` counts the pages that were found as they were; a visit that wasn't made is another thing.
_NAMES = {Outcome.SKIPPED: "not_visited"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one run did, in numbers."""

    kind: str
    store: str
    run_id: int = 0
    status: RunStatus = RunStatus.RUNNING
    reason: str = ""
    exit_code: ExitCode = ExitCode.COMPLETE
    outcomes: Mapping[Outcome, int]
    rows_written: int = 0
    change_events: int = 0
    requests: int = 0
    size_bytes: int = 0
    elapsed_s: float = 0.0
    cost_micro: int = 0  # by the store's price table
    currency: str = ""  # of it; "" where nothing is priced
    tiers: Mapping[str, int] = field(default_factory=dict)  # visits of product pages by the tier that was asked last
    escalations: int = 0  # steps to a dearer tier
    missed: Sequence[str] = ()  # what was expected of it and isn't so

    @property
    def checked(self) -> int:
        """Visits of any outcome."""
        return sum(self.outcomes.values())

    @property
    def skipped(self) -> int:
        """Pages found as they were: nothing rewritten."""
        return self.outcomes.get(Outcome.UNCHANGED, 0) + self.outcomes.get(Outcome.NOT_MODIFIED, 0)

    @property
    def updated(self) -> int:
        """Pages whose listings were written."""
        return self.outcomes.get(Outcome.NEW, 0) + self.outcomes.get(Outcome.CHANGED, 0)

    def line(self) -> str:
        """Return the last line of DESIGN §5: what scripts read first, then ``key=value`` pairs for the rest."""
        head = (
            f"{self.kind}: checked={self.checked} updated={self.updated} skipped={self.skipped} "
            f"elapsed={self.elapsed_s:.1f}s"
        )
        pairs: list[tuple[str, object]] = [("store", self.store), ("status", self.status.value)]
        pairs += [(_NAMES.get(outcome, outcome.value), count) for outcome, count in self.outcomes.items() if count]
        pairs += [
            ("rows", self.rows_written),
            ("changes", self.change_events),
            ("requests", self.requests),
            ("bytes", self.size_bytes),
            ("run", self.run_id),
        ]
        if is_beyond_http(self.tiers, self.escalations):
            pairs += [("escalations", self.escalations), ("tiers", tiers_in_words(self.tiers))]
        if self.currency:
            pairs.append(("cost", money(self.cost_micro) + self.currency))
        if self.missed:
            pairs.append(("missed", len(self.missed)))
        if self.reason:
            pairs.append(("reason", orjson.dumps(self.reason).decode()))
        return head + "".join(f" {name}={value}" for name, value in pairs)

    def json_line(self) -> str:
        """Return the same as one JSON line."""
        return orjson.dumps(
            {
                "kind": self.kind,
                "store": self.store,
                "run_id": self.run_id,
                "status": self.status.value,
                "reason": self.reason,
                "exit_code": int(self.exit_code),
                "checked": self.checked,
                "updated": self.updated,
                "skipped": self.skipped,
                "elapsed_s": round(self.elapsed_s, 3),
                "outcomes": {outcome.value: self.outcomes.get(outcome, 0) for outcome in Outcome},
                "rows_written": self.rows_written,
                "change_events": self.change_events,
                "requests": self.requests,
                "bytes": self.size_bytes,
                "cost": money(self.cost_micro) if self.currency else None,
                "currency": self.currency or None,
                "tiers": dict(self.tiers),
                "escalations": self.escalations,
                "missed": list(self.missed),
            }
        ).decode()


def is_beyond_http(tiers: Mapping[str, int], escalations: int) -> bool:
    """Whether a run used anything but the plain tier, so that there is something to tell."""
    return escalations > 0 or any(tier != Tier.HTTP for tier in tiers)


def tiers_in_words(tiers: Mapping[str, int]) -> str:
    """Return visits by tier as ``http:40,browser:3``; ``none`` where there were none."""
    return ",".join(f"{tier}:{count}" for tier, count in tiers.items()) or "none"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under headers in aligned columns; numbers (by their first character) stand to the right."""
    cells = [list(headers), *[list(row) for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headers))]
    right = [
        all(row[column][:1].isdigit() or row[column] in ("", "-") for row in rows) for column in range(len(headers))
    ]
    lines = [
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    rule = "  ".join("─" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])
