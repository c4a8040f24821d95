"""How deep JSON is nested: what is deeper than any shop's overflows the stack of whoever compares or shows it."""

from __future__ import annotations

from typing import Any

MAX_DEPTH = 100
"""Levels; the deepest JSON-LD of the corpus has 15, and `repr` or ``==`` of a thousand raise RecursionError."""


def is_too_deep(value: Any, brackets: int) -> bool:
    """Say whether lists and objects are nested more than `MAX_DEPTH` deep.

    ``brackets`` is how many are opened in the text that the value was read from: with few there is nothing to count.
    """
    if brackets <= MAX_DEPTH:
        return False
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for one in level for inner in _inside(one) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
