"""``scrapy holds``: what the write gate did not publish, and what is to become of it."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from scrapy.commands import ScrapyCommand

from storebot.core.summary import table
from storebot.db import deciding, holds
from storebot.db.database import Database
from storebot.db.holders import person
from storebot.db.types import AnyRow
from storebot.exceptions import ConfigurationError, ExitCode, StorebotError

HEADERS = ("hold", "store", "run", "since (UTC)", "status", "gate", "what changes", "page")
VERBS = {"approve": deciding.approve, "reject": deciding.reject, "retry": deciding.retry}
_DONE = {"approve": "published", "reject": "dropped", "retry": "due now"}
_SHOWN = 50  # holds of a list, unless all are asked for


class Command(ScrapyCommand):
    """Look at holds and decide on them. Exit 2 for wrong use, 3 where one was refused, 7 while a run has the store."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[list | show | approve | reject | retry] [ID…] [--store NAME] [--run N] [--all] [--dry-run] [--json]"

    def short_desc(self) -> str:
        return "Show what the write gate held, and approve, reject or retry it"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", help="only of this store")
        parser.add_argument("--run", type=int, metavar="N", dest="run_id", help="only of this run")
        parser.add_argument("--all", action="store_true", help="decide on all that is open; list the decided, too")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object a hold")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            verb, ids = _parsed(args, opts)
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
            try:
                rows = _found(database, verb, ids, opts)
                if verb in VERBS:
                    self.exitcode = int(_decide(database, verb, rows, opts, self.settings.getint("STOREBOT_LEASE_S")))
                else:
                    _show(verb, rows, opts)
            finally:
                database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)


def _parsed(args: Sequence[str], opts: argparse.Namespace) -> tuple[str, list[int]]:
    verb, *rest = args or ["list"]
    if verb not in ("list", "show", *VERBS) or not all(one.isdecimal() for one in rest):
        raise ConfigurationError(
            f"scrapy holds {' '.join(args)}: expected list, show, approve, reject or retry, and numbers of holds"
        )
    if verb in VERBS and not (rest or opts.run_id is not None or (opts.all and opts.store)):
        raise ConfigurationError(f"which holds? scrapy holds {verb} ID…, or --run N, or --store NAME --all")
    if verb == "show" and not (rest or opts.run_id is not None or opts.store):
        raise ConfigurationError("which holds? scrapy holds show ID…, or --run N, or --store NAME")
    return verb, [int(one) for one in rest]


def _found(database: Database, verb: str, ids: list[int], opts: argparse.Namespace) -> list[AnyRow]:
    closed = verb not in VERBS and (opts.all or bool(ids))
    with database.explaining(), database.read() as conn:
        rows = holds.find(conn, store=opts.store, run_id=opts.run_id, ids=ids, closed=closed)
    if missing := sorted(set(ids) - {row.id for row in rows}):
        what = "such" if closed else "open"
        raise ConfigurationError(f"there is no {what} hold {', '.join(map(str, missing))}: scrapy holds list")
    return rows


def _show(verb: str, rows: Sequence[AnyRow], opts: argparse.Namespace) -> None:
    if opts.json:
        for row in rows:
            print(orjson.dumps(as_json(row)).decode())
    elif not rows:
        print("Nothing is held.")
    else:
        print("\n\n".join(map(described, rows)) if verb == "show" else listed(rows, None if opts.all else _SHOWN))


def listed(rows: Sequence[AnyRow], limit: int | None = None) -> str:
    """Return holds as a table below a line for each reason; at most ``limit`` of them."""
    reasons = Counter((row.run_id, row.store, row.status, row.reason) for row in rows)
    heads = [
        f"run {run} of {store}: {count} {status}: {reason}" for (run, store, status, reason), count in reasons.items()
    ]
    lines = [*_few(heads), "", table(HEADERS, [_row(row) for row in rows[:limit]])]
    if limit is not None and len(rows) > limit:
        lines.append(f"… and {len(rows) - limit} more: --all")
    return "\n".join(lines)


def described(row: AnyRow) -> str:
    """Return all of one hold, by listing and field, for a person."""
    lines = [f"hold {row.id}: {row.status}", f"  page    {row.url}", f"  run     {row.run_id} of {row.store}"]
    lines += [f"  since   {_time(row.stale_since)} UTC", f"  why     {row.reason or 'its run was too young to tell'}"]
    if row.decided_at:
        lines.append(f"  decided {_time(row.decided_at)} UTC {row.decided_by} {row.why}".rstrip())
    for found in orjson.loads(row.fields):
        lines.append(f"  {found['type']}{' ' + found['variant_id'] if found['variant_id'] else ''}")
        lines += [f"    {_moved(field)}" for field in found["fields"]]
    return "\n".join(lines)


def as_json(row: AnyRow) -> dict[str, Any]:
    """Return a hold as a JSON object; ``changes`` has the fields of each listing, before and after."""
    names = ("id", "store", "url", "url_key", "run_id", "kind", "status", "gate", "reason", "created_at", "stale_since")
    found = {name: getattr(row, name) for name in (*names, "decided_at", "decided_by", "why")}
    return {**found, "changes": orjson.loads(row.fields)}


def _decide(database: Database, verb: str, rows: Sequence[AnyRow], opts: argparse.Namespace, lease_s: int) -> ExitCode:
    if opts.dry_run or not rows:
        if opts.json:
            _show("list", rows, opts)
        else:
            print(
                f"{listed(rows)}\n{len(rows)} would be {_DONE[verb]}; nothing was written"
                if rows
                else "Nothing is held."
            )
        return ExitCode.COMPLETE
    decisions: list[deciding.Decision] = []
    for decision in VERBS[verb](database, rows, person(), lease_s):
        decisions.append(decision)
        if opts.json:
            result = {"refused": decision.refused, "rows": decision.rows_written, "changes": decision.changes}
            print(orjson.dumps({"id": decision.hold.id, "url": decision.hold.url, **result}).decode())
        elif decision.refused:
            print(f"hold {decision.hold.id}: {decision.hold.url}: refused, {decision.refused}", file=sys.stderr)
    refused = sum(bool(decision.refused) for decision in decisions)
    if not opts.json:
        rows_written, changes = (sum(getattr(one, name) for one in decisions) for name in ("rows_written", "changes"))
        tail = f": {rows_written} rows, {changes} changes" if verb == "approve" else ""
        print(f"{len(decisions) - refused} {_DONE[verb]}{tail}" + (f"; {refused} refused" if refused else ""))
    return ExitCode.PARTIAL if refused else ExitCode.COMPLETE


def _row(row: AnyRow) -> list[str]:
    found = orjson.loads(row.fields)
    fields = [field for one in found for field in one["fields"]]
    what = _moved(fields[0]) if fields else row.kind
    more = f" (+{len(fields) - 1})" if len(fields) > 1 else ""
    since = _time(row.stale_since)
    gate = row.gate or "young"
    return [str(row.id), row.store, str(row.run_id), since, row.status, gate, what + more, row.url]


def _moved(field: dict[str, Any]) -> str:
    return f"{field['field']}: {_text(field['before'])} → {_text(field['after'])}"


def _text(value: object) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= 40 else f"{text[:39]}…"


def _few(heads: Iterable[str]) -> list[str]:
    lines = list(heads)
    return lines if len(lines) <= 10 else [*lines[:9], f"… and {len(lines) - 9} other reasons"]


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
