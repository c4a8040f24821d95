"""Letting generations go that nobody asks for any more, all through an archive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from storebot.archive.archive import Archive
from storebot.archive.retention import Expiry, Retention

_AT_ONCE = 500


def prune(
    archive: Archive,
    retention: Retention,
    now_ms: int,
    record_at: Callable[[Sequence[str]], Mapping[str, int]],
    *,
    dry_run: bool = False,
) -> int:
    """Let go of what retention doesn't ask for, some hundred pages in a transaction; return how many generations.

    ``record_at`` says for keys which generation their page's record was read from, by its time.
    """
    after, count = 0, 0
    while some := archive.marks(after, _AT_ONCE):
        after = some[-1][0]
        expiry = Expiry(retention, now_ms, record_at([key for _, key, _ in some]))
        gone = [(key, at) for _, key, marks in some for at in expiry.of(key, marks)]
        count += len(gone)
        if gone and not dry_run:
            archive.drop(gone)
    if not dry_run:
        archive.tidy()
    return count
