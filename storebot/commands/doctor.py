"""``scrapy doctor``: what is wrong with this installation, a line each with what to do."""

from __future__ import annotations

import argparse
import os

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.doctor import Check, Verdict, examine
from storebot.exceptions import ExitCode


class Command(ScrapyCommand):
    """Look at the installation, and change nothing. Exit 0 where nothing fails, 8 where the database does, else 2."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def short_desc(self) -> str:
        return "Check this installation, and say what to do"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="one JSON object a check")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        if args:
            raise UsageError("scrapy doctor takes no arguments")
        found = []
        for check in examine(self.settings, dict(os.environ)):
            found.append(check)
            print(_json(check) if opts.json else _line(check), flush=True)
        failed = [check.code for check in found if check.verdict is Verdict.FAILURE]
        self.exitcode = int(max(failed, default=ExitCode.COMPLETE))


def _line(check: Check) -> str:
    mark = {Verdict.OK: "ok     ", Verdict.WARNING: "warning", Verdict.FAILURE: "FAILURE"}[check.verdict]
    advice = f"\n{'':23}→ {check.advice}" if check.advice else ""
    return f"{mark}  {check.name:12}  {check.text}{advice}"


def _json(check: Check) -> str:
    return orjson.dumps({**check._asdict(), "code": int(check.code)}).decode()
