"""``scrapy deliver``: who is told of changes by webhook, and the telling."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from scrapy.commands import ScrapyCommand

from storebot.core.fingerprint import TRACKED
from storebot.core.secrets import shown_url
from storebot.core.summary import table
from storebot.core.webhooks.answers import Fate, fate
from storebot.core.webhooks.signing import read_secrets
from storebot.core.webhooks.subscription import DEFAULT_CHANGES, MOST_CHANGES, TYPES, Subscription, Wanted, check_url
from storebot.db import deliveries, subscriptions
from storebot.db.database import Database
from storebot.db.deliveries import Standing
from storebot.db.retry import retrying
from storebot.exceptions import ConfigurationError, ExitCode, StorebotError
from storebot.stores import load_store

FIELDS = (*TRACKED, "status")
HEADERS = ("id", "receiver", "secret", "stores", "types", "fields", "state", "taken", "dead", "why")
_POLL_S = 5.0
_SHOWN = 80
_Verb = Callable[[Database, Sequence[str], argparse.Namespace], ExitCode]


class Command(ScrapyCommand):
    """Manage subscriptions, and send what is due. Exit 1: a test isn't taken; 2: wrong use; 3: a message isn't."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_LEVEL": "WARNING"}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[list | add --url URL --secret-env NAME | remove ID | test ID | replay … | run [--follow]]"

    def short_desc(self) -> str:
        return "Tell of changes by webhook: subscriptions, and what is due for them"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--url", help="add: the receiver's address")
        add("--secret-env", metavar="NAME", help="add: the environment variable that has its secret, whsec_…")
        add("--store", action="append", default=[], metavar="NAME", help="add, replay: of this store (again and again)")
        add("--type", action="append", default=[], metavar="TYPE", help=f"add: only {', '.join(TYPES)}")
        add("--field", action="append", default=[], metavar="NAME", help="add: only if such a field changed")
        add("--batch", type=int, default=DEFAULT_CHANGES, metavar="N", help="add: changes in a message (%(default)s)")
        add("--allow-private", action="store_true", help="add: the receiver is in a private network")
        add("--subscription", type=int, metavar="ID", help="replay: which one")
        add("--after", type=int, metavar="SEQ", help="replay, add: send what came after this change")
        add("--follow", action="store_true", help="run: go on, until Ctrl-C")
        add("--dry-run", action="store_true", help="add, remove, replay: say what would be done, and write nothing")
        add("--json", action="store_true", help="one JSON object a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        verb, *rest = args or ["list"]
        verbs: dict[str, _Verb] = {
            "list": _list,
            "add": self._add,
            "remove": _remove,
            "test": _test,
            "replay": _replay,
            "run": _run,
        }
        try:
            if verb not in verbs or (opts.after is not None and opts.after < 0):
                raise ConfigurationError(f"scrapy deliver {' '.join(args)}: expected {self.syntax()}")
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=verb == "add")
            try:
                self.exitcode = int(verbs[verb](database, rest, opts))
            finally:
                database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)
        except KeyboardInterrupt:
            self.exitcode = int(ExitCode.SIGINT)

    def _add(self, database: Database, words: Sequence[str], opts: argparse.Namespace) -> ExitCode:
        if words or not opts.url or not opts.secret_env:
            raise ConfigurationError(
                "scrapy deliver add --url URL --secret-env NAME [--store …] [--type …] [--field …]"
            )
        assert self.settings is not None
        folders = [folder for folder in self.settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
        for name in opts.store:
            load_store(name, folders)
        check_url(opts.url, allow_private=opts.allow_private)
        if unknown := [name for name in opts.type if name not in TYPES]:
            raise ConfigurationError(f"--type {unknown[0]}: expected one of {', '.join(TYPES)}")
        if not 1 <= opts.batch <= MOST_CHANGES:
            raise ConfigurationError(f"--batch {opts.batch}: expected 1 to {MOST_CHANGES}")
        if unknown := [name for name in opts.field if name not in FIELDS]:
            raise ConfigurationError(f"--field {unknown[0]}: expected one of {', '.join(FIELDS)}")
        read_secrets(opts.secret_env, os.environ.get(opts.secret_env, ""))
        wanted = Wanted(tuple(opts.store), tuple(opts.type), tuple(opts.field))
        new = Subscription(0, opts.url, opts.secret_env, wanted, opts.batch, opts.allow_private)
        if opts.dry_run:
            return _said(opts, {"id": None, "done": "would be added"}, "it would be added")
        added = retrying(database, lambda conn: subscriptions.add(conn, new, by=getpass.getuser(), after=opts.after))
        return _said(
            opts, {"id": added, "done": "added"}, f"subscription {added} is added; try it: scrapy deliver test {added}"
        )


def _list(database: Database, words: Sequence[str], opts: argparse.Namespace) -> ExitCode:
    with database.explaining(), database.read() as conn:
        found, standings = subscriptions.find(conn), deliveries.standings(conn)
    if opts.json:
        for one in found:
            print(orjson.dumps(_as_json(one, standings.get(one.id, Standing()))).decode())
    elif found:
        print(table(HEADERS, [_row(one, standings.get(one.id, Standing())) for one in found]))
    else:
        print("Nobody is subscribed: scrapy deliver add --url https://… --secret-env NAME")
    return ExitCode.COMPLETE


def _remove(database: Database, words: Sequence[str], opts: argparse.Namespace) -> ExitCode:
    one = _found(database, words, "remove")
    if not opts.dry_run:
        retrying(database, lambda conn: subscriptions.remove(conn, one.id))
    done = "would be removed" if opts.dry_run else "removed"
    return _said(opts, {"id": one.id, "done": done}, f"subscription {one.id}: {done}")


def _test(database: Database, words: Sequence[str], opts: argparse.Namespace) -> ExitCode:
    from storebot.webhooks.delivering import send_trial

    one = _found(database, words, "test")
    answer = send_trial(one, os.environ)
    taken = fate(answer) is Fate.DELIVERED
    shown = f"taken ({answer.status})" if taken else answer.reason
    _said(opts, {"id": one.id, "taken": taken, "answer": shown}, f"subscription {one.id}: {shown}")
    return ExitCode.COMPLETE if taken else ExitCode.INTERNAL_ERROR


def _replay(database: Database, words: Sequence[str], opts: argparse.Namespace) -> ExitCode:
    if words or opts.subscription is None or opts.after is None or len(opts.store) > 1:
        raise ConfigurationError("scrapy deliver replay --subscription ID --after SEQ [--store NAME] [--dry-run]")
    one = _found(database, [str(opts.subscription)], "replay")
    (store,) = opts.store or [""]

    def replay(conn: Any) -> int:
        return subscriptions.replay(conn, one.id, opts.after, store, dry_run=opts.dry_run)

    count = retrying(database, replay)
    done = "would be" if opts.dry_run else "are"
    text = f"subscription {one.id}: {count} changes after {opts.after} {done} sent again, those of them that are wanted"
    return _said(opts, {"id": one.id, "changes": count, "dry_run": opts.dry_run}, text)


def _run(database: Database, words: Sequence[str], opts: argparse.Namespace) -> ExitCode:
    from storebot.webhooks.delivering import deliver_due

    if words or opts.dry_run:
        raise ConfigurationError("scrapy deliver run [--follow]; what waits is in scrapy deliver list")
    while True:
        done = deliver_due(database, os.environ)
        if not opts.follow or any(done):
            text = (
                f"{done.messages} messages with {done.changes} changes were taken; {done.failed} wait for another try, "
                f"{done.dead} were given up, {done.ended} subscriptions ended, {done.unsigned} have no secret"
            )
            _said(opts, done._asdict(), text)
        if not opts.follow:
            untaken = done.failed or done.dead or done.ended
            return ExitCode.USAGE if done.unsigned else ExitCode.PARTIAL if untaken else ExitCode.COMPLETE
        time.sleep(_POLL_S)


def _found(database: Database, words: Sequence[str], verb: str) -> Subscription:
    number = int(words[0]) if len(words) == 1 and words[0].isdecimal() else 0
    with database.explaining(), database.read() as conn:
        found = subscriptions.find(conn, (number,))
    if not found:
        shown = " ".join(words) or "nothing"
        raise ConfigurationError(f"scrapy deliver {verb}: {shown} is no subscription's number, as list shows them")
    return found[0]


def _as_json(one: Subscription, standing: Standing) -> dict[str, Any]:
    waiting = standing.waiting
    return {
        "id": one.id,
        "receiver": shown_url(one.url),
        "secret_env": one.secret_env,
        **one.wanted._asdict(),
        "batch": one.most_changes,
        "allow_private": one.allow_private,
        "state": _state(one, standing),
        "ended": one.ended,
        "taken": standing.delivered,
        "dead": standing.dead,
        "waiting": {**waiting._asdict(), "status": waiting.status.value} if waiting else None,
    }


def _row(one: Subscription, standing: Standing) -> list[str]:
    why = one.ended or (standing.waiting.last_error if standing.waiting else "")
    wanted = [", ".join(names) or "all" for names in one.wanted]
    taken = [str(standing.delivered), str(standing.dead)]
    return [str(one.id), shown_url(one.url), one.secret_env, *wanted, _state(one, standing), *taken, why[:_SHOWN]]


def _state(one: Subscription, standing: Standing) -> str:
    if one.ended:
        return "ended"
    if standing.waiting and standing.waiting.attempts:
        return f"failed {standing.waiting.attempts} times"
    return "active"


def _said(opts: argparse.Namespace, values: dict[str, Any], text: str) -> ExitCode:
    print(orjson.dumps(values).decode() if opts.json else text, flush=True)
    return ExitCode.COMPLETE
