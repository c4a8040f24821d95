"""Two texts line by line: what went and what came. Bounded, for the work grows with the square of what differs."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import NamedTuple

MOST_CHARACTERS = 400_000
MOST_LINES = 4_000  # of each text, of those between the lines that both begin and end with
MOST_SHOWN = 1_500
_LONGEST = 400  # of a line that is shown
_AROUND = 3
_TAG_ENDS = re.compile(r">[ \t]*(?=<)")  # many shops write their page in one line


class Line(NamedTuple):
    """A line of a difference: "+" came, "-" went, " " is around it, "@" says where."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs. ``cut`` says of what it isn't the whole; "" where it's all."""

    lines: tuple[Line, ...]
    cut: str = ""


def difference(before: str, after: str) -> Difference:
    """Return what differs between two pages, tag by tag."""
    cut = []
    if max(len(before), len(after)) > MOST_CHARACTERS:
        cut.append(f"only the first {MOST_CHARACTERS:,} characters of each were compared")
    old, new = _lines(before), _lines(after)
    start, stop = _same_ends(old, new)
    old_part, new_part = old[start : len(old) - stop], new[start : len(new) - stop]
    if max(len(old_part), len(new_part)) > MOST_LINES:
        cut.append(f"only {MOST_LINES:,} lines of each, from the first that differs on")
        old_part, new_part, stop = old_part[:MOST_LINES], new_part[:MOST_LINES], 0
    head = old[max(0, start - _AROUND) : start]
    tail = old[len(old) - stop :][:_AROUND] if stop else []
    made = list(difflib.unified_diff([*head, *old_part, *tail], [*head, *new_part, *tail], n=_AROUND, lineterm=""))
    shown = [_line(one, start - len(head)) for one in made[2:]]
    if len(shown) > MOST_SHOWN:
        cut.append(f"only the first {MOST_SHOWN:,} lines of the difference are shown")
    return Difference(tuple(shown[:MOST_SHOWN]), "; ".join(cut))


def _lines(text: str) -> list[str]:
    broken = _TAG_ENDS.sub(">\n", text[:MOST_CHARACTERS])
    return [line.strip() for line in broken.splitlines() if line.strip()]


def _same_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return how many lines are the same at the start, and behind those at the end."""
    most = min(len(old), len(new))
    start = next((place for place in range(most) if old[place] != new[place]), most)
    stop = next((place for place in range(most - start) if old[-1 - place] != new[-1 - place]), most - start)
    return start, stop


def _line(text: str, skipped: int) -> Line:
    if text.startswith("@@"):
        return Line("@", f"line {_first(text) + skipped:,}")
    body = text[1:]
    return Line(text[0], body if len(body) <= _LONGEST else f"{body[: _LONGEST - 1]}…")


def _first(header: str) -> int:
    found = re.match(r"@@ -(\d+)", header)
    return int(found[1]) if found else 0
