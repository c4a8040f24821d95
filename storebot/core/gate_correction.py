"""Whether what a re-parse would correct may be published: the write gate, where the parser moved and no page did.

Why it is judged as a whole, before anything is written: docs/decisions/0045-gate-of-a-re-parse.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from storebot.core.gate import Reading, readings
from storebot.core.gate_facts import IDENTITY, VARIANTS, Compared, Facts, facts_of
from storebot.core.gate_facts import WATCHED as ALWAYS
from storebot.core.gate_limits import Declared, Limits, limits_from
from storebot.core.gate_tally import Tally

# The shop can't have taken a value away: the bytes are those in which it was found. So the loss of any counts that a
# reader of the record would miss.
WATCHED = tuple(dict.fromkeys((*ALWAYS, *IDENTITY, "mpn", "description", "main_image")))


def correction_facts(
    before: Mapping[str, Compared], after: Mapping[str, Compared], *, vanished: int, record: str
) -> Facts:
    """Compare the listings of a kept page, by variant, with those that are published.

    ``vanished`` of these are named no more; ``record`` is the hash of the page's record. What a new rule makes of a
    name is no other product, and variants may go by other numbers; but most of them don't go by themselves.
    """
    facts = facts_of(before, after, rebased=True, fields=(), record=record, watched=WATCHED)
    fewer = vanished and 2 * len(after) < len(before)
    return facts._replace(lost=(*facts.lost, VARIANTS)) if fewer else facts


def correction_limits(declared: Declared, pages: int) -> Limits:
    """Return the limits of a re-parse of so many pages; a planned window is one of the market: it excuses no parser."""
    return limits_from((), replace(declared, planned=()), pages=pages)


def tripped(tally: Tally, limits: Limits) -> list[Reading]:
    """Return the gates that say no, the most telling first; none where it may be published."""
    return [one for one in readings(tally, limits) if one.state == "tripped"]
