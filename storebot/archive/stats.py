"""What an archive holds, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from storebot.archive.archive import Archive


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What an archive holds. Bytes: ``html_bytes`` of all generations, ``distinct_bytes`` of distinct bodies."""

    pages: int
    generations: int
    held: int  # generations whose record waited at the write gate
    bodies: int
    dictionaries: int
    html_bytes: int
    distinct_bytes: int
    packed_bytes: int
    file_bytes: int  # without what was let go and is written over next
    first_ms: int
    last_ms: int

    @property
    def ratio(self) -> float:
        """How many bytes of HTML stand for one of the file."""
        return self.html_bytes / self.file_bytes


def stats(archive: Archive) -> Stats:
    """Count what is kept."""
    one = archive.connection.execute
    generations, pages, held, first, last, html = one(
        "SELECT count(*), count(DISTINCT g.page_id), coalesce(sum(g.held), 0), coalesce(min(g.fetched_at), 0),"
        " coalesce(max(g.fetched_at), 0), coalesce(sum(b.size), 0) FROM generations g JOIN bodies b ON b.id = g.body_id"
    ).fetchone()
    bodies, distinct, packed = one(
        "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(packed)), 0) FROM bodies"
    ).fetchone()
    (dictionaries,) = one("SELECT count(*) FROM dictionaries").fetchone()
    count, free, size = (
        int(one(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return Stats(
        pages=pages,
        generations=generations,
        held=held,
        bodies=bodies,
        dictionaries=dictionaries,
        html_bytes=html,
        distinct_bytes=distinct,
        packed_bytes=packed,
        file_bytes=(count - free) * size,
        first_ms=first,
        last_ms=last,
    )
