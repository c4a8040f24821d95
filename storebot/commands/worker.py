"""``scrapy worker``: runs the jobs that are due, those of the store files and those of `scrapy jobs add`."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.core.deployed import version_name
from storebot.core.jobs import Verdict
from storebot.db import job_runs
from storebot.db.database import Database, now_ms
from storebot.db.retry import retrying
from storebot.exceptions import ExitCode, StorebotError
from storebot.jobs.local import LocalProcesses
from storebot.jobs.nodes import nodes_of
from storebot.jobs.own_code import own_code
from storebot.jobs.planning import sync_all
from storebot.jobs.scrapyd import ScrapydNodes
from storebot.jobs.serving import serve
from storebot.jobs.worker import Worker
from storebot.logs import write_json
from storebot.notify.minding import minding
from storebot.notify.tending import Tending

WELL = (Verdict.DONE, Verdict.PARTIAL, Verdict.HELD, Verdict.BUDGET, Verdict.OVERLAP)


class Command(ScrapyCommand):
    """Run jobs until stopped, or with ``--once`` what is due now: exit 0, or 3 where a job didn't end well."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[--once] [--concurrency N] | --deploy-version"

    def short_desc(self) -> str:
        return "Run the jobs that are due: [schedule] of the store files, and scrapy jobs add"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--once", action="store_true", help="run what is due now, then end")
        parser.add_argument("--concurrency", type=int, metavar="N", help="jobs at a time")
        parser.add_argument(
            "--deploy-version", action="store_true", help="print the version to deploy this code under, and end"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args or (opts.concurrency is not None and opts.concurrency < 1):
            raise UsageError("only options, and one job at a time or more")
        if opts.deploy_version:
            print(version_name(own_code(), datetime.now(UTC)))
            return
        logging.basicConfig(
            stream=sys.stderr, level=opts.loglevel or "INFO", format="%(asctime)s %(levelname)s %(message)s"
        )
        try:
            if self.settings is not None and self.settings.getbool("STOREBOT_LOG_JSON"):
                write_json(logging.root.handlers[0])
            self.exitcode = int(self._work(opts))
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)

    def _work(self, opts: argparse.Namespace) -> ExitCode:
        assert self.settings is not None
        get, number = self.settings.get, self.settings.getint
        folders = [folder for folder in get("STOREBOT_STORES").split(os.pathsep) if folder]
        tending = Tending.from_settings(self.settings, os.environ)
        database = Database.open(get("STOREBOT_DATABASE_URL"))
        try:
            options = [word for setting in opts.set for word in ("-s", setting)]
            local = LocalProcesses(Path(get("STOREBOT_JOB_LOGS")), options=options)
            nodes = nodes_of(get("STOREBOT_SCRAPYD_URLS"))
            lease_s, chance = number("STOREBOT_LEASE_S"), Random().random
            remote = (
                ScrapydNodes(nodes, get("STOREBOT_SCRAPYD_PROJECT"), database, patience_s=lease_s, settings=opts.set)
                if nodes
                else None
            )
            keep_days = number("STOREBOT_JOB_LOGS_KEEP_DAYS")

            def plan() -> None:
                sync_all(database, folders, chance)
                if keep_days:
                    local.prune(keep_days)
                    retrying(database, lambda conn: job_runs.prune(conn, now_ms(conn), keep_days))

            worker = Worker(
                database,
                local,
                remote=remote,
                plan=plan,
                concurrency=opts.concurrency or number("STOREBOT_WORKER_CONCURRENCY"),
                lease_s=lease_s,
                grace_s=number("STOREBOT_WORKER_GRACE_S"),
                chance=chance,
            )
            with minding(database, tending):
                serve(worker, once=opts.once)
        finally:
            database.dispose()
        tally = worker.tally
        ill = tally.not_launched or any(count for verdict, count in tally.verdicts.items() if verdict not in WELL)
        return ExitCode.PARTIAL if opts.once and ill else ExitCode.COMPLETE
