"""One folder per store: what a store's file declares, found by its name, checked, and given as a value."""

from __future__ import annotations

from storebot.stores.loading import list_stores, load_store
from storebot.stores.model import Store

__all__ = ["Store", "list_stores", "load_store"]
