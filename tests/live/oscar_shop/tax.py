"""British VAT on everything: a page shows the price with and without it, and the one with it counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oscar.core.loading import default_class_loader, get_class


class Selector:
    """Whose prices a visitor sees: here everybody's are oscar's example for the United Kingdom."""

    def strategy(self, request: Any = None, user: Any = None, **_: object) -> Any:
        return get_class("partner.strategy", "UK")(request)


def class_loader(label: str, names: Sequence[str], prefix: str) -> list[Any]:
    """Load classes as oscar does, but `Selector` for its own (``OSCAR_DYNAMIC_CLASS_LOADER``)."""
    found = default_class_loader(label, names, prefix)
    is_ours = label == "partner.strategy"
    return [Selector if is_ours and name == "Selector" else one for name, one in zip(names, found, strict=True)]
