"""The manifest of an export: what is in it, of when, and how far it may be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from storebot.core.alerts.message import Channel, Message, Severity
from storebot.core.export.columns import iso, time
from storebot.items import RunStatus

NAME = "manifest.json"
LATEST = "latest-{what}.json"
"""The pointer to a store's last export of listings, changes or offers: the folder's name."""
VERSION = 1
"""Of the manifest's own shape. A new key leaves it as it is; a key that goes, or means something else, raises it."""


class Trust(StrEnum):
    """How far an export may be believed."""

    COMPLETE = "complete"  # the last crawl looked at everything, and all that it saw is published
    PARTIAL = "partial"  # it didn't, or there was none
    STALE = "stale"  # what was seen since ``stale_since`` waits for a decision: `scrapy holds`


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One file of an export; ``notes`` counts the cells that its format couldn't hold as they were."""

    name: str
    format: str
    rows: int
    size_bytes: int
    sha256: str
    notes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the snapshot says of its store. Times are milliseconds, None where there is none."""

    taken_at: int
    last_seq: int  # of the last change that is in it
    statuses: Mapping[str, int] = field(default_factory=dict)  # listings by status
    first_seen_at: int | None = None
    last_checked_at: int | None = None
    stale_since: int | None = None
    open_holds: int = 0
    parser_versions: Mapping[str, int] = field(default_factory=dict)  # listings by the parser that read them
    hash_version: int = 0
    runs: Sequence[Mapping[str, Any]] = ()  # the last ones, the newest first: id, kind, status, reason, finished_at


def trust(facts: Facts) -> tuple[Trust, str]:
    """Return how far the snapshot may be believed, and why in a sentence; "" where it is complete."""
    if facts.stale_since is not None:
        return Trust.STALE, f"{facts.open_holds} changes are held and not published: see `scrapy holds`"
    crawls = [run for run in facts.runs if run["kind"] in ("backfill", "refresh") and run["finished_at"] is not None]
    if not crawls:
        return Trust.PARTIAL, "no crawl of this store has ended yet"
    last = crawls[0]
    if last["status"] != RunStatus.COMPLETE.value:
        return Trust.PARTIAL, f"{last['kind']} {last['id']} ended as {last['status']}: {last['reason']}".rstrip(": ")
    return Trust.COMPLETE, ""


def manifest(
    *,
    store: str,
    what: str,
    columns: Sequence[str],
    filters: Sequence[str],
    since_ms: int | None,
    as_of_ms: int | None,
    rows: int,
    facts: Facts,
    files: Sequence[FileEntry],
    generator: str,
    schema_version: str,
) -> dict[str, Any]:
    """Return the manifest as JSON values."""
    believed, reason = trust(facts)
    return {
        "manifest_version": VERSION,
        "generator": generator,
        "store": store,
        "what": what,
        "status": believed.value,
        "reason": reason,
        "stale_since": _iso(facts.stale_since),
        "taken_at": _iso(facts.taken_at),
        "since": _iso(since_ms),
        "as_of": _iso(as_of_ms),
        "rows": rows,
        "columns": [*columns],
        "filters": [*filters],
        "last_seq": facts.last_seq,
        "listings_by_status": dict(facts.statuses),
        "first_seen_at": _iso(facts.first_seen_at),
        "last_checked_at": _iso(facts.last_checked_at),
        "open_holds": facts.open_holds,
        "schema_version": schema_version,
        "hash_version": facts.hash_version,
        "parser_versions": dict(facts.parser_versions),
        "runs": [{**run, "finished_at": _iso(run["finished_at"])} for run in facts.runs],
        "files": [{**asdict(one), "notes": dict(one.notes)} for one in files],
    }


def summary(found: Mapping[str, Any], where: str) -> str:
    """Return a manifest in one line, for logs and messages."""
    counts = ", ".join(f"{count:,} {status}" for status, count in found["listings_by_status"].items())
    why = f" ({found['reason']})" if found["reason"] else ""
    names = ", ".join(one["name"] for one in found["files"])
    return (
        f"{found['store']}: {found['rows']:,} rows of {found['what']}, {found['status']}{why}; listings: "
        f"{counts or 'none'}; {names} in {where}"
    )


def note(found: Mapping[str, Any], where: str) -> Message:
    """Return what people are told of an export: how far it may be believed, what is in it, and where it is."""
    counts = "\n".join(f"{count:,} {status}" for status, count in found["listings_by_status"].items())
    files = "\n".join(f"{one['name']}: {one['rows']:,} rows, {one['size_bytes']:,} bytes" for one in found["files"])
    trusted = found["status"] == Trust.COMPLETE.value
    return Message(
        channel=Channel.BUSINESS,
        key=f"export/{found['store']}/{found['what']}",
        severity=Severity.SUCCESS if trusted else Severity.WARNING,
        title=f"{found['store']}: {found['rows']:,} rows of {found['what']} exported, {found['status']}",
        body="\n\n".join(part for part in (found["reason"], counts, files, where) if part),
    )


def _iso(at_ms: int | None) -> str | None:
    moment = time(at_ms)
    return iso(moment) if moment else None
