"""What is asked over the network, and who works: Scrapyd nodes, the worker, those who are told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from storebot.db import outbox, standing
from storebot.db.database import Database, now_ms
from storebot.doctor.check import Check, failure, ok, warning
from storebot.exceptions import ConfigurationError, DatabaseError
from storebot.jobs.nodes import NO_ANSWER, Node, nodes_of, said
from storebot.jobs.own_code import own_code
from storebot.notify.recipients import VARIABLES, read_recipients

_OVERDUE_MS = 15 * 60_000


def examine(settings: Any, environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield a check of each Scrapyd node, of the worker, and of the channels of messages."""
    try:
        for node in nodes_of(settings.get("STOREBOT_SCRAPYD_URLS")):
            yield _node(node, settings.get("STOREBOT_SCRAPYD_PROJECT"))
    except ConfigurationError as error:
        yield failure("scrapyd", str(error), "correct STOREBOT_SCRAPYD_URLS")
    yield from _database(settings)
    yield _recipients(environ)


def _node(node: Node, project: str) -> Check:
    try:
        load = node.load()
    except NO_ANSWER as error:
        refused = getattr(error, "code", 0) in (401, 403)
        advice = (
            "correct user and password in STOREBOT_SCRAPYD_URLS" if refused else "is it up? systemctl status scrapyd"
        )
        return failure("scrapyd", f"{node.url}: {' '.join(said(error).split())[:200]}", advice)
    try:
        version = node.version(project, own_code())
    except NO_ANSWER as error:
        return failure("scrapyd", f"{node.url}: {said(error)}", "from this checkout; until then it gets no jobs")
    return ok("scrapyd", f"{node.url} answers: {load} running or pending, this code is there as {version}")


def _database(settings: Any) -> Iterator[Check]:
    """Look for jobs that nobody takes and messages that don't arrive; of the database itself others tell."""
    try:
        database = Database.open(settings.get("STOREBOT_DATABASE_URL"), create=False)
    except (ConfigurationError, DatabaseError):
        return
    try:
        with database.explaining(), database.read() as conn:
            late, backlogs = standing.overdue(conn, now_ms(conn), _OVERDUE_MS), outbox.backlogs(conn)
    finally:
        database.dispose()
    if late:
        yield warning(
            "worker", f"{len(late)} jobs are overdue, such as {late[0].what}", late[0].why or "start one: scrapy worker"
        )
    else:
        yield ok("worker", "no job is overdue")
    for one in backlogs:
        text = f"{one.messages} messages wait for {one.channel} {one.service}: {one.error}"
        yield warning("alerts", text, "scrapy alerts test")


def _recipients(environ: Mapping[str, str]) -> Check:
    try:
        found = read_recipients(environ)
    except ConfigurationError as error:
        return failure("alerts", str(error), "correct the variable; scrapy alerts test")
    told = [f"{len(some)} for {channel.value}" for channel, some in found.items() if some]
    if not told:
        return warning("alerts", "nobody is told of what is wrong", f"set {' and '.join(VARIABLES.values())}")
    return ok("alerts", f"recipients: {', '.join(told)}")
