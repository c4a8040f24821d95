"""What pandas and polars read, and how much memory they may take: one that needs more ends, and the machine goes on."""

from __future__ import annotations

import resource

QUERY = """SELECT listings.*, pages.url_key, pages.checked_at AS checked
FROM listings JOIN pages ON pages.id = listings.page_id ORDER BY listings.id"""
TIMES = ("first_seen_at", "last_changed_at", "checked")
MOST_GB = 8


def limit_memory() -> None:
    """Have this process fail where it wants more than `MOST_GB`, instead of the machine."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_GB << 30, MOST_GB << 30))
