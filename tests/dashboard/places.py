"""The addresses of all pages over a database: for each view, one with something to show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from storebot.dashboard.pages import VIEWS
from storebot.dashboard.view import View

_PART = re.compile(r"\{(\w+)(?::\w+)?\}")


def places(values: Mapping[str, object], queries: Mapping[str, str]) -> Iterator[tuple[View, str]]:
    """Yield each view with its path. A part of an address that ``values`` doesn't have is a KeyError: add it."""
    for view in VIEWS:
        path = _PART.sub(
            lambda part, view=view: str(
                values[f"{view.name}.{part[1]}"]  # type: ignore[misc]
                if f"{view.name}.{part[1]}" in values
                else values[part[1]]
            ),
            view.path,
        )
        yield view, path + queries.get(view.name, "")
