"""``scrapy jobs``: what is to run, what ran, and what a person wants done with it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import orjson
from scrapy.commands import ScrapyCommand

from storebot.core.job_kinds import KINDS
from storebot.core.jobs import JobStatus
from storebot.core.schedule import Schedule
from storebot.core.summary import table
from storebot.db import job_runs, jobs
from storebot.db.database import Database
from storebot.db.holders import person
from storebot.db.job_orders import ORDERS
from storebot.db.jobs import Job, Plan
from storebot.db.retry import retrying
from storebot.exceptions import ConfigurationError, ExitCode, JobRefused, StorebotError
from storebot.stores import load_store

HEADERS = ("job", "store", "kind", "when", "status", "next (UTC)", "last", "ended (UTC)", "tries", "why")
RUN_HEADERS = ("began (UTC)", "took", "verdict", "exit", "run", "where", "why", "log")
_OVER = (JobStatus.DONE, JobStatus.CANCELLED)
_WHY = 60
_DAY_S = 86_400


class Command(ScrapyCommand):
    """List, add and change jobs. Exit 2 for wrong use, 7 where a job can't be changed so, 8 for the database."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[list | show ID | add KIND | run ID… | pause ID… | resume ID… | cancel ID… | retry ID…]"

    def short_desc(self) -> str:
        return "List, add, run, pause, resume, cancel and retry the worker's jobs"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", help="add: whose job; else: only the jobs of this store")
        parser.add_argument("--all", action="store_true", help="list: those too that are over")
        parser.add_argument(
            "-a", dest="arguments", action="append", default=[], metavar="NAME=VALUE", help="of the job"
        )
        parser.add_argument("--priority", type=int, default=0, help="add: the highest runs first (0)")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object a job")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        verb, *rest = args or ["list"]
        try:
            verbs: dict[str, Callable[[Database, Sequence[str], argparse.Namespace], ExitCode]] = {
                "list": _list,
                "show": _show,
                "add": self._add,
                **dict.fromkeys(ORDERS, lambda database, ids, opts: _order(database, verb, ids, opts)),
            }
            if verb not in verbs:
                raise ConfigurationError(f"scrapy jobs {verb}: expected one of {', '.join(verbs)}")
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=verb == "add")
            try:
                self.exitcode = int(verbs[verb](database, rest, opts))
            finally:
                database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)

    def _add(self, database: Database, words: Sequence[str], opts: argparse.Namespace) -> ExitCode:
        assert self.settings is not None
        if len(words) != 1:
            raise ConfigurationError(f"scrapy jobs add KIND [--store NAME]; kinds: {', '.join(KINDS)}")
        store, limit_s = opts.store or "", _DAY_S
        if store:
            folders = [folder for folder in self.settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
            limit_s = load_store(store, folders).schedule.time_limit_s
        plan = Plan(
            store=store,
            kind=words[0],
            args=_arguments(opts.arguments),
            schedule=Schedule(),
            priority=opts.priority,
            time_limit_s=limit_s,
        )
        job_id = _tried(database, lambda conn: jobs.enqueue(conn, plan, by=person()), opts)
        done = "would be added" if opts.dry_run else "is added and due now"
        _say(opts, {"id": None if opts.dry_run else job_id, "done": done}, f"job {job_id} ({plan.kind}) {done}")
        return ExitCode.COMPLETE


class _DryRun(Exception):
    """Rolls a transaction back."""

    def __init__(self, result: Any) -> None:
        self.result = result


def _tried(database: Database, work: Callable[[Any], Any], opts: argparse.Namespace) -> Any:
    """Do it in a transaction, which a dry run takes back: it says the same as the real one, refusals included."""

    def attempt(conn: Any) -> Any:
        result = work(conn)
        if opts.dry_run:
            raise _DryRun(result)
        return result

    try:
        return retrying(database, attempt)
    except _DryRun as undone:
        return undone.result


def _order(database: Database, verb: str, words: Sequence[str], opts: argparse.Namespace) -> ExitCode:
    ids = _ids(words)
    if not ids and opts.store:
        with database.explaining(), database.read() as conn:
            ids = [job.id for job in jobs.find(conn, store=opts.store) if job.status not in _OVER]
    if not ids:
        raise ConfigurationError(f"which jobs? scrapy jobs {verb} ID…, or --store NAME")
    refused = 0
    for job_id in ids:
        try:
            done = _tried(database, partial(ORDERS[verb], job_id=job_id), opts)
        except JobRefused as error:
            refused += 1
            if opts.json:
                print(orjson.dumps({"id": job_id, "refused": str(error)}).decode())
            print(error, file=sys.stderr)
            continue
        shown = f"would be {done}" if opts.dry_run else done
        _say(opts, {"id": job_id, "done": shown}, f"job {job_id}: {shown}")
    return ExitCode.BUSY if refused else ExitCode.COMPLETE


def _list(database: Database, words: Sequence[str], opts: argparse.Namespace) -> ExitCode:
    if words:
        raise ConfigurationError("scrapy jobs list [--store NAME] [--all]")
    with database.explaining(), database.read() as conn:
        found = jobs.find(conn, store=opts.store)
    shown = [job for job in found if opts.all or job.status not in _OVER]
    if opts.json:
        for job in shown:
            print(orjson.dumps(as_json(job)).decode())
    elif shown:
        print(table(HEADERS, [_row(job) for job in shown]))
    else:
        print("There are no jobs: give a store a [schedule] and start `scrapy worker`, or scrapy jobs add.")
    return ExitCode.COMPLETE


def _show(database: Database, words: Sequence[str], opts: argparse.Namespace) -> ExitCode:
    (job_id,) = _ids(words) if len(words) == 1 else (0,)
    with database.explaining(), database.read() as conn:
        found = jobs.find(conn, ids=[job_id])
        attempts = job_runs.history(conn, job_id=job_id, limit=20)
    if not found:
        raise ConfigurationError(f"there is no job {job_id}: scrapy jobs show ID, of scrapy jobs list --all")
    if opts.json:
        runs = [{name: getattr(one, name) for name in one.__slots__} for one in attempts]
        print(orjson.dumps({**as_json(found[0]), "attempts": runs}).decode())
        return ExitCode.COMPLETE
    print(table(HEADERS, [_row(found[0], None)]), "", table(RUN_HEADERS, [_run_row(one) for one in attempts]), sep="\n")
    return ExitCode.COMPLETE


def as_json(job: Job) -> dict[str, Any]:
    """Return a job as a JSON object: all that is known of it but its claim."""
    hidden = {"claim_token", "claim_expires_at", "schedule"}
    found = {name: getattr(job, name) for name in Job.__dataclass_fields__ if name not in hidden}
    return {**found, "schedule": orjson.loads(job.schedule.as_text())}


def when(schedule: Schedule) -> str:
    """Return a schedule as the store file says it."""
    if schedule.cron:
        return schedule.cron + (f" {schedule.timezone}" if schedule.timezone != "UTC" else "")
    if not schedule.every_ms:
        return "once"
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000)):
        if schedule.every_ms % length == 0:
            return f"every {schedule.every_ms // length}{unit}"
    return f"every {schedule.every_ms // 1000}s"


def _row(job: Job, width: int | None = _WHY) -> list[str]:
    tries = f"{job.attempts}/{job.max_attempts}" if job.attempts else ""
    status = f"{job.status.value} ({job.asked.value} asked)" if job.asked else job.status.value
    due = _time(job.next_run_at) if job.status is not JobStatus.RUNNING else ""
    last = [job.last_verdict, _time(job.finished_at), tries, job.last_error[:width]]
    return [str(job.id), job.store or "(all)", job.kind, when(job.schedule), status, due, *last]


def _run_row(run: job_runs.JobRun) -> list[str]:
    took = f"{(run.finished_at - run.started_at) / 1000:.0f} s" if run.finished_at else "runs"
    code = "" if run.exit_code is None else str(run.exit_code)
    where = run.node or "here"
    return [_time(run.started_at), took, run.verdict, code, str(run.run_id or ""), where, run.reason, run.log]


def _time(at_ms: int | None) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S") if at_ms else ""


def _ids(words: Sequence[str]) -> list[int]:
    if not all(word.isdecimal() for word in words):
        raise ConfigurationError(f"{' '.join(words)}: expected numbers of jobs, as scrapy jobs list shows them")
    return [int(word) for word in words]


def _arguments(given: Sequence[str]) -> dict[str, str]:
    """Read ``NAME=VALUE``; a value may hold further equal signs. A bare NAME is an option without a value."""
    return {name: value for name, _, value in (one.partition("=") for one in given)}


def _say(opts: argparse.Namespace, facts: dict[str, Any], sentence: str) -> None:
    print(orjson.dumps(facts).decode() if opts.json else sentence)
