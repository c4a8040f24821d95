"""What is different about a run beside the one before it: what may explain that it went another way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Difference(NamedTuple):
    """One thing that was so before, and is so now."""

    what: str
    before: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a run went by."""

    parser_version: str = ""
    hash_version: int = 0
    overrides: Sequence[str] = ()  # a sentence each
    planned: int | None = None  # requests; None: it had no plan
    tiers: Mapping[str, int] = field(default_factory=dict)  # visits by tier


def differences(before: Setup, now: Setup) -> list[Difference]:
    """Return what differs, the most telling first; none where the two went by the same."""
    pairs = [
        ("parser", before.parser_version or "not known", now.parser_version or "not known"),
        ("hash version", str(before.hash_version), str(now.hash_version)),
        ("overrides", "; ".join(before.overrides) or "none", "; ".join(now.overrides) or "none"),
        ("plan", _plan(before.planned), _plan(now.planned)),
        ("tiers", mix(before.tiers), mix(now.tiers)),
    ]
    return [Difference(*pair) for pair in pairs if pair[1] != pair[2]]


def mix(tiers: Mapping[str, int]) -> str:
    """Return the shares of tiers in whole per cent, the greatest first."""
    total = sum(tiers.values())
    if not total:
        return "no visits"
    shares = [(tier, 100 * count / total) for tier, count in sorted(tiers.items(), key=lambda one: (-one[1], one[0]))]
    return ", ".join(f"{tier} {share:.0f} %" if share >= 1 else f"{tier} < 1 %" for tier, share in shares)


def _plan(requests: int | None) -> str:
    return "none" if requests is None else f"{requests:,} requests"
