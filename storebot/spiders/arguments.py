"""The arguments of a phase (``-a NAME=VALUE``), and what is said of any other name."""

from __future__ import annotations

from collections.abc import Collection

from storebot.exceptions import ConfigurationError
from storebot.stores.wording import nearest

ARGUMENTS = ("store", "base_url")
_SCRAPYD = "_job"  # which it gives to every spider


def check_arguments(phase: str, given: Collection[str], known: Collection[str] = ARGUMENTS) -> None:
    """Raise ConfigurationError for a name that the phase doesn't know: it would change nothing, and nobody would see.

    Scrapyd's own argument is let through.
    """
    unknown = sorted(set(given) - {*known, _SCRAPYD})
    if unknown:
        close = nearest(unknown[0], known)
        meant = f" (did you mean {close!r}?)" if close else ""
        raise ConfigurationError(f"{phase} has no argument {unknown[0]!r}{meant}: -a takes {', '.join(known)}")
