"""Health: storebot itself, as far as the dashboard sees it. `scrapy doctor` looks further: browsers, proxies, nodes."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import storebot
from storebot.core.alerts.alerting import Alert
from storebot.core.dashboard.telling import telling
from storebot.core.sizes import size
from storebot.dashboard import store_files
from storebot.dashboard.files import tail
from storebot.dashboard.standings import disks
from storebot.dashboard.view import Ask, Facts, View, moment
from storebot.db import alerts, outbox, standing, subscriptions
from storebot.db.board import health as board
from storebot.db.board import standings as standings_board
from storebot.db.schema import REVISION
from storebot.notify.looking import OVERDUE_MS

_TAIL = 8_000  # bytes of the log of what failed last
_LARGE_LOG = 256 * 1024 * 1024  # of SQLite: a reader that never ends keeps it from being cut


def read(ask: Ask) -> Facts:
    """Return how storebot itself stands."""
    database = _database(ask)
    worker = _worker(ask)
    told = _told(ask)
    files = _files(ask)
    room = [
        {
            "what": one.what,
            "path": one.path,
            "free_bytes": one.free_bytes,
            "light": "bad" if one.free_bytes < ask.site.limits.disk_free_bytes else "good",
        }
        for one in disks(ask.site)
    ]
    lights = [database["light"], worker["light"], told["light"], files["light"], *(one["light"] for one in room)]
    worst = min(lights, key=("bad", "warn", "idle", "good").index)
    return {
        "light": worst if worst != "idle" else "good",
        "database": database,
        "disks": room,
        "least": size(ask.site.limits.disk_free_bytes),
        "worker": worker,
        "told": told,
        "files": files,
        "versions": _versions(),
        "failure": _failure(ask),
        "failed_run": _failed_run(ask),
        "webhooks": _webhooks(ask),
    }


def _database(ask: Ask) -> Facts:
    found = board.standing(ask.conn, ask.site.database)
    light, text = "good", "its tables are this version's"
    if found.revision != REVISION:
        light, text = (
            "bad",
            f"its tables are at revision {found.revision}, this version's at {REVISION}: scrapy db upgrade",
        )
    elif found.log_bytes and found.log_bytes > _LARGE_LOG:
        light, text = "warn", "its write-ahead log isn't cut: does something read for hours?"
    return {"light": light, "text": text, **found._asdict()}


def _worker(ask: Ask) -> Facts:
    """Return who works: claims that are kept up, jobs that nobody takes."""
    late = standing.overdue(ask.conn, ask.now_ms, OVERDUE_MS)
    running = [_claim(ask, job) for job in board.running_jobs(ask.conn)]
    planned = sum(len(found) for found in standings_board.active_jobs(ask.conn).values())
    if late:
        light, text = "bad", f"{len(late)} due, and no worker takes them: {late[0].why or 'start one, scrapy worker'}"
    elif any(not one["kept_up"] for one in running):
        light, text = (
            "warn",
            "a claim isn't kept up: its worker died, or can't reach the database; the next one takes over",
        )
    elif running:
        light, text = "good", "a worker is at it"
    else:
        light, text = "good", "no job is overdue" if planned else "no job is planned"
    began = board.last_attempt(ask.conn)
    return {
        "light": light,
        "text": text,
        "running": running,
        "planned": planned,
        "late": [{"what": one.what, "since": moment(one.since), "why": one.why} for one in late[:20]],
        "began": moment(began),
    }


def _claim(ask: Ask, job: Any) -> Facts:
    left_ms = job.claim_expires_at - ask.now_ms
    return {
        "id": job.id,
        "store": job.store,
        "kind": job.kind,
        "started_at": moment(job.started_at),
        "holder": job.holder,
        "kept_up": left_ms > 0,
        "heartbeat_s": max(0, round(ask.site.lease_s - left_ms / 1000)) if left_ms > 0 else None,
        "expired_at": moment(job.claim_expires_at) if left_ms <= 0 else None,
    }


def _told(ask: Ask) -> Facts:
    """Return what is open, and whether messages arrive."""
    found = [alert for alert in alerts.load(ask.conn).values() if alert.open]
    counts: dict[str, int] = {}
    for (_, status), count in outbox.counts(ask.conn).items():
        counts[status] = counts.get(status, 0) + count
    backlogs = [
        {"channel": one.channel, "service": one.service, "messages": one.messages, "since": moment(one.since),
         "error": one.error}
        for one in outbox.backlogs(ask.conn)
    ]  # fmt: skip
    light = "bad" if backlogs or counts.get("dead") else "warn" if found else "good"
    return {
        "light": light,
        "alerts": [_alert(ask, alert) for alert in sorted(found, key=lambda one: (bool(one.gone_at), one.since))],
        "messages": {name: counts.get(name, 0) for name in ("waiting", "sent", "dead")},
        "oldest": moment(board.oldest_waiting(ask.conn)),
        "backlogs": backlogs,
    }


def _alert(ask: Ask, alert: Alert) -> Facts:
    return {
        "store": alert.store,
        "title": alert.kind.headline,
        "text": alert.text,
        "advice": alert.advice,
        "since": moment(alert.since),
        "gone_at": moment(alert.gone_at),
        "telling": " ".join(telling([alert], ask.site.rules, ask.now_ms)).removeprefix(f"{alert.kind.headline}: "),
    }


def _files(ask: Ask) -> Facts:
    names = sorted({*standings_board.names(ask.conn), *store_files.own_stores(ask.site.folders)})
    read = {name: store_files.read(name, ask.site.folders) for name in names}
    broken = [{"store": name, "why": one.error} for name, one in read.items() if one.store is None and not one.gone]
    return {
        "light": "bad" if broken else "good",
        "broken": broken,
        "gone": [name for name, one in read.items() if one.gone],
        "read": sum(one.store is not None for one in read.values()),
    }


def _versions() -> Facts:
    found = {"storebot": storebot.__version__, "tables": REVISION, "Python": platform.python_version()}
    for name in ("scrapy", "sqlalchemy", "starlette"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed as a package"
    return found


def _failure(ask: Ask) -> Facts | None:
    """Return the newest attempt at a job that failed, with the end of its log."""
    found = board.last_failure(ask.conn)
    if found is None:
        return None
    log = tail(ask.site.logs, found.log, _TAIL) if found.log and not found.node else None
    return {
        "job_id": found.job_id,
        "store": found.store,
        "kind": found.kind,
        "at": moment(found.finished_at or found.started_at),
        "verdict": found.verdict,
        "exit_code": found.exit_code,
        "reason": found.reason,
        "run_id": found.run_id,
        "node": found.node,
        "path": found.log,
        "tail": log,
    }


def _failed_run(ask: Ask) -> Facts | None:
    found = board.last_failed_run(ask.conn)
    return {**found._asdict(), "started_at": moment(found.started_at)} if found else None


def _webhooks(ask: Ask) -> Facts:
    troubled = [
        {"id": one.id, "shown": one.shown, "ended": one.ended, "dead": one.dead, "since": moment(one.since),
         "error": one.error}
        for one in standing.receivers(ask.conn)
    ]  # fmt: skip
    bad = any(one["ended"] or one["dead"] for one in troubled)
    return {
        "light": "bad" if bad else "warn" if troubled else "good",
        "subscriptions": len(subscriptions.find(ask.conn)),
        "troubled": troubled,
    }


VIEWS = (View("/health", "health", "health.html", read),)
