"""The versions under which Scrapyd nodes have storebot: the time first, so that they sort, then which code it is."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime


def version_name(code: str, at: datetime) -> str:
    """Return the version under which ``scrapyd-deploy`` gives this code to nodes, at an aware time.

    Scrapyd sorts versions as text where one of them is no number, and takes letters, digits, ``-`` and ``_``.
    """
    return f"{at:%Y%m%dT%H%M%S}-{code}"


def version_of(code: str, versions: Iterable[str]) -> str | None:
    """Return the newest of a node's versions that is this code; None where none is."""
    return max((each for each in versions if each.rpartition("-")[2] == code), default=None)
