"""The card of a store: what somebody who was just woken up has to know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from storebot.core.alerts.alerting import Alert
from storebot.core.dashboard.before import before
from storebot.core.dashboard.blame import Past
from storebot.core.dashboard.published import published
from storebot.core.dashboard.store_now import Action, Does, Stand
from storebot.core.dashboard.telling import telling
from storebot.dashboard.standings import Seen
from storebot.dashboard.view import Ask, Facts, moment
from storebot.db import alerts
from storebot.db.board import standings as board
from storebot.items import RunStatus

_DAY_MS = 86_400_000
_STRIP = 24  # runs of a day that a card has room for
RUN_LIGHTS = {
    RunStatus.COMPLETE: "good",
    RunStatus.RUNNING: "idle",
    RunStatus.PARTIAL: "warn",
    RunStatus.HELD: "warn",
    RunStatus.INTERRUPTED: "idle",
    RunStatus.BLOCKED: "bad",
    RunStatus.FAILED: "bad",
}


def open_alerts(ask: Ask) -> dict[str, list[Alert]]:
    """Return what is, or was of late, wrong, by store; "" has what is of none."""
    found: dict[str, list[Alert]] = {}
    for alert in alerts.load(ask.conn).values():
        found.setdefault(alert.store, []).append(alert)
    return found


def compared(rows: Sequence[Seen]) -> list[int]:
    """Return the runs whose tiers are compared: the two newest that ended, of stores that aren't well."""
    return [
        run.id
        for seen in rows
        if seen.said.stand not in (Stand.FINE, Stand.RUNNING)
        for run in [run for run in seen.now.runs if sum(run.counts.values())][:2]
    ]


def card(ask: Ask, seen: Seen, told: Mapping[str, Sequence[Alert]], tiers: Mapping[int, Mapping[str, int]]) -> Facts:
    """Return it. ``tiers`` are those of the runs that `compared` names."""
    now, said, good = seen.now, seen.said, seen.now.good
    out = published(now, said.stand)
    changed = before(
        now.runs,
        ask.now_ms,
        file_at_ms=seen.file.edited_ms,
        tiers=tiers,
        held_since=now.held_since,
        breaker_opened_at=now.breaker.opened_at if now.breaker.state.value != "closed" else 0,
    )
    job = now.next_job
    age_ms = ask.now_ms - (good.finished_at or good.started_at) if good else 0
    return {
        "name": now.name,
        "stand": said.stand.value,
        "light": said.stand.light,
        "cause": said.cause,
        "fault": said.fault.value,
        "fault_words": said.fault.words,
        "action": action(said.action, now.name),
        "good": run_row(good) if good else None,
        "age_s": age_ms // 1000 if good else None,
        "interval_s": now.interval_ms // 1000,
        "age_of_interval": round(age_ms / now.interval_ms, 3) if good and now.interval_ms else None,
        "published": {"as_of": moment(out.as_of), "run_id": out.run_id, "listings": out.listings, "text": out.text},
        "held": now.held,
        "before": [{"at": moment(one.at_ms), "text": one.text, "run_id": one.run_id} for one in changed],
        "next": {"at": moment(job.next_at), "kind": job.kind, "job_id": job.id} if job else None,
        "until": moment(now.breaker.until) if now.breaker.state.value == "open" else None,
        "telling": telling(told.get(now.name, []), ask.site.rules, ask.now_ms),
        "unnoticed": bool(now.findings) and not any(alert.open for alert in told.get(now.name, ())),
        "runs": [run_row(run) for run in reversed(_strip(ask, seen))],
    }


def _strip(ask: Ask, seen: Seen) -> list[Past]:
    """Return the runs of a day, the newest first; more of them than the store is judged by, where there are more."""
    found = [run for run in seen.now.runs if ask.now_ms - run.started_at < _DAY_MS]
    if len(found) == board.RUNS:
        found = [
            run for run in board.newest_runs(ask.conn, seen.now.name, _STRIP) if ask.now_ms - run.started_at < _DAY_MS
        ]
    return found


def action(what: Action, store: str) -> Facts:
    """Return an action for a template: a link, a form's address, or words alone."""
    name = quote(store, safe="")
    pages = {
        "holds": f"/holds?store={name}",
        "blocks": f"/blocks?store={name}",
        "jobs": f"/jobs?store={name}",
        "run": f"/runs/{what.run_id}",
        "store": f"/stores/{name}",
        "health": "/health",
    }
    forms = {Does.RUN: f"/stores/{name}/run", Does.RESUME: f"/stores/{name}/resume"}
    return {
        "does": what.does.value,
        "text": what.text,
        "link": pages.get(what.about, ""),
        "form": forms.get(what.does, ""),
        "kind": what.kind,
    }


def run_row(run: Past) -> Facts:
    """Return a run for a list of them."""
    return {
        "id": run.id,
        "kind": run.kind,
        "status": run.status.value,
        "light": RUN_LIGHTS[run.status],
        "reason": run.reason,
        "started_at": moment(run.started_at),
        "finished_at": moment(run.finished_at),
        "took_s": (run.finished_at - run.started_at) / 1000 if run.finished_at else None,
        "changes": run.changes,
        "listings": run.listings,
        "parser_version": run.parser_version,
    }
