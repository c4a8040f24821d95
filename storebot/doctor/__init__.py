"""What is wrong with an installation, and what to do about it; nothing is changed, no shop is asked for anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storebot.doctor.check import Check, Verdict

__all__ = ["Check", "Verdict", "examine"]


def examine(settings: Any, environ: dict[str, str]) -> Iterator[Check]:
    """Yield all checks, in the order in which a person would mend what they find."""
    from storebot.doctor import installation, services, storage, stores  # browsers: every command imports this module

    yield from installation.examine(settings, environ)
    yield from storage.examine(settings)
    yield from stores.examine(settings, environ)
    yield from services.examine(settings, environ)
