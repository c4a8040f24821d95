"""Pages fetched for a command, one by one, as a polite guest does."""

from __future__ import annotations

from storebot.guest.guest import Guest

__all__ = ["Guest"]
