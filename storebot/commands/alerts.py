"""``scrapy alerts``: what is wrong, who is told of it, and what waits to be delivered."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime

import orjson
from scrapy.commands import ScrapyCommand

from storebot.core.alerts.alerting import Alert
from storebot.core.alerts.conditions import findings
from storebot.core.alerts.message import Message, Severity
from storebot.core.summary import table
from storebot.db import alerts, outbox
from storebot.db.database import Database, now_ms
from storebot.db.outbox import Backlog, Letter
from storebot.exceptions import ConfigurationError, ExitCode, StorebotError
from storebot.notify.looking import look
from storebot.notify.recipients import VARIABLES
from storebot.notify.sending import deliver
from storebot.notify.tending import Tending, tend

VERBS = ("list", "test", "send", "retry")
HEADERS = ("since (UTC)", "store", "what", "state", "text")
_SHOWN = 120  # characters of a text in the table


class Command(ScrapyCommand):
    """Show alerts, try the channels, do what the worker does each minute. Exit 2 for wrong use, 1 if a test fails."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[list | test | send | retry] [--last N] [--dry-run] [--json]"

    def short_desc(self) -> str:
        return "Show what is wrong, try the channels, and send what waits"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--last", type=int, default=0, metavar="N", help="list: the last N messages, too")
        parser.add_argument("--dry-run", action="store_true", help="send, retry: say what is wrong now; write nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        verb, *rest = args or ["list"]
        try:
            if verb not in VERBS or rest or opts.last < 0:
                raise ConfigurationError(f"scrapy alerts {' '.join(args)}: expected one of {', '.join(VERBS)}")
            tending = Tending.from_settings(self.settings, os.environ)
            if verb == "test":
                self.exitcode = int(_test(tending))
                return
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
            try:
                _act(verb, database, tending, opts)
            finally:
                database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)


def _act(verb: str, database: Database, tending: Tending, opts: argparse.Namespace) -> None:
    if verb == "list":
        _list(database, opts)
    elif opts.dry_run:
        _show_findings(database, tending)
    else:
        revived = 0
        if verb == "retry":
            with database.explaining(), database.write() as conn:
                revived = outbox.revive(conn, now_ms(conn))
        done = tend(database, tending)
        if opts.json:
            print(orjson.dumps({**done._asdict(), "revived": revived}).decode())
        else:
            again = f"dead letters: {revived} tried again; " if verb == "retry" else ""
            print(
                f"{again}alerts: {done.opened} new, {done.cleared} over; "
                f"messages: {done.written} written, {done.sent} delivered, {done.failed} not"
            )


def _test(tending: Tending) -> ExitCode:
    """Send a message to each recipient, past the outbox, and say what came of it."""
    if not any(tending.recipients.values()):
        raise ConfigurationError(f"nobody is to be told: set {' or '.join(VARIABLES.values())} to Apprise URLs")
    code = ExitCode.COMPLETE
    for channel, recipients in tending.recipients.items():
        for recipient in recipients:
            text = f"This is how messages of the channel {channel.value} look: price 129.00 → 99.00 (-23.3%)."
            error = deliver(recipient, Message(channel, "test", Severity.INFO, "storebot: a test", text))
            print(f"{channel.value}: {recipient}: {error or 'delivered'}")
            code = ExitCode.INTERNAL_ERROR if error else code
    return code


def _list(database: Database, opts: argparse.Namespace) -> None:
    with database.explaining(), database.read() as conn:
        found = sorted((alert for alert in alerts.load(conn).values() if alert.open), key=lambda alert: alert.since)
        backlogs, letters = outbox.backlogs(conn), outbox.newest(conn, opts.last)
    if opts.json:
        for each in found:
            print(orjson.dumps({"alert": _alert(each)}).decode())
        for backlog in backlogs:
            print(orjson.dumps({"backlog": backlog._asdict()}).decode())
        for letter in letters:
            print(orjson.dumps({"message": _letter(letter)}).decode())
        return
    rows = [(_time(one.since), one.store, one.kind.headline, _state(one), one.text[:_SHOWN]) for one in found]
    print(table(HEADERS, rows) if rows else "Nothing is wrong, as of the last look.")
    for backlog in backlogs:
        print(_waits(backlog))
    for letter in reversed(letters):
        print(f"{_time(letter.created_at)} {letter.channel.value} {letter.status.value}: {letter.message.title}")


def _show_findings(database: Database, tending: Tending) -> None:
    with database.explaining(), database.read() as conn:
        at, limits = now_ms(conn), tending.file.limits
        looked = look(conn, tending.folders, tending.disks, limits.failures, at)
    found = findings(looked.facts, limits, at)
    for one in found:
        print(f"{one.store or 'storebot'}: {one.kind.headline}: {one.text}")
    if not found:
        print("Nothing is wrong.")


def _state(alert: Alert) -> str:
    if alert.flapping:
        return "comes and goes"
    if alert.gone_at:
        return "is over, if it stays so"
    return "told" if alert.told_at else "not told yet"


def _waits(backlog: Backlog) -> str:
    since = f"since {_time(backlog.since)} UTC: {backlog.error}"
    return f"{backlog.messages} messages wait for {backlog.channel} {backlog.service} ({backlog.recipient[:6]}) {since}"


def _alert(alert: Alert) -> dict[str, object]:
    names = ("key", "store", "text", "advice", "since", "told_at", "gone_at", "flapping")
    return {**{name: getattr(alert, name) for name in names}, "kind": alert.kind.value, "state": _state(alert)}


def _letter(letter: Letter) -> dict[str, object]:
    told = {"title": letter.message.title, "body": letter.message.body, "severity": letter.message.severity.value}
    return {**letter._asdict(), "channel": letter.channel.value, "status": letter.status.value, "message": told}


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
