"""Numbers of bytes as a person reads them."""

from __future__ import annotations


def size(count: int) -> str:
    """Return bytes with a unit, three digits at most."""
    value, units = float(count), ["B", "KB", "MB", "GB", "TB"]
    while round(value) >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.0f} {units[0]}" if value >= 10 or units[0] == "B" else f"{value:.1f} {units[0]}"
