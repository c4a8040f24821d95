"""storebot keeps a true, current copy of a store's catalogue, at the cost of what changes."""

__version__ = "0.1.0"
