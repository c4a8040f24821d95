"""``scrapy users``: who may log in to the dashboard, and who of them may act."""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

import orjson
from scrapy.commands import ScrapyCommand

from storebot.core.dashboard.roles import Role, check_name, check_password, role_named
from storebot.core.summary import table
from storebot.db import users
from storebot.db.database import Database
from storebot.db.holders import person
from storebot.exceptions import ConfigurationError, StorebotError

HEADERS = ("user", "role", "added (UTC)", "by", "last login (UTC)")
_VERBS = ("list", "add", "password", "role", "remove")


class Command(ScrapyCommand):
    """List, add, change and remove users of the dashboard. Exit 2 for wrong use, 8 for the database."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[list | add NAME | password NAME | role NAME | remove NAME] [--role viewer|operator]"

    def short_desc(self) -> str:
        return "List, add, change and remove users of the dashboard"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--role", default="", help="add, role: viewer looks (the default), operator acts, too")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input, a line"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object a user")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            verb, name = _parsed(args)
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=verb == "add")
            try:
                if verb == "list":
                    _list(database, opts)
                else:
                    _change(database, verb, name, opts)
            finally:
                database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)


def _parsed(args: Sequence[str]) -> tuple[str, str]:
    verb, *rest = args or ["list"]
    if verb not in _VERBS or len(rest) != (verb != "list"):
        raise ConfigurationError(
            f"scrapy users {' '.join(args)}: expected list, or add, password, role, remove and a name"
        )
    if rest:
        check_name(rest[0])
    return verb, rest[0] if rest else ""


def _list(database: Database, opts: argparse.Namespace) -> None:
    with database.explaining(), database.read() as conn:
        found = users.find(conn)
    if opts.json:
        for one in found:
            row = {"name": one.name, "role": one.role, "created_at": one.created_at, "seen_at": one.seen_at}
            print(orjson.dumps(row).decode())
    elif found:
        rows = [(one.name, one.role, _time(one.created_at), one.created_by, _time(one.seen_at)) for one in found]
        print(table(HEADERS, rows))
    else:
        print("There are no users: the dashboard is for this machine alone. scrapy users add NAME --role operator")


def _change(database: Database, verb: str, name: str, opts: argparse.Namespace) -> None:
    role = role_named(opts.role) if opts.role else Role.VIEWER
    if verb == "role" and not opts.role:
        raise ConfigurationError(f"scrapy users role {name}: say which, --role viewer or --role operator")
    hashed = "" if opts.dry_run or verb not in ("add", "password") else _hashed(_password(name, opts.password_stdin))
    with database.explaining(), database.read() as conn:
        there = users.named(conn, name) is not None
    if there == (verb == "add"):
        raise ConfigurationError(
            f"user {name}: " + ("is there already" if there else "there is none; scrapy users list")
        )
    done = {
        "add": f"is added as {role}",
        "password": "has another password, and is logged out",
        "role": f"is {role} from now on",
        "remove": "is removed, and logged out",
    }[verb]
    if opts.dry_run:
        print(f"would be so: {name} {done}")
        return
    with database.explaining(), database.write() as conn:
        if verb == "add":
            users.add(conn, name, role, hashed, by=person())
        elif verb == "password":
            users.set_password(conn, name, hashed)
        elif verb == "role":
            users.set_role(conn, name, role)
        else:
            users.remove(conn, name)
    print(f"{name} {done}")


def _password(name: str, from_stdin: bool) -> str:
    if from_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    elif sys.stdin.isatty():
        password = getpass.getpass(f"Password for {name}: ")
        if getpass.getpass("Once more: ") != password:
            raise ConfigurationError("the two aren't the same; nothing was changed")
    else:
        raise ConfigurationError("there is no terminal to ask for the password: give --password-stdin")
    check_password(password)
    return password


def _hashed(password: str) -> str:
    try:
        from argon2 import PasswordHasher
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"{error}: users need it, pip install 'storebot[dashboard]'") from error
    return PasswordHasher().hash(password)


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M") if at_ms else "never"
