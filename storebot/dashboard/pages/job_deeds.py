"""What an operator does with one job, as `scrapy jobs` does: run now, retry, pause, resume, cancel, add."""

from __future__ import annotations

from functools import partial

from storebot.core.job_kinds import KINDS
from storebot.core.schedule import Schedule
from storebot.dashboard import store_files
from storebot.dashboard.view import Deed, Order, Told
from storebot.db import jobs
from storebot.db.job_orders import ORDERS
from storebot.db.jobs import Plan
from storebot.db.retry import retrying
from storebot.exceptions import JobRefused

_ALL_LIMIT_S = 86_400  # of a job for all stores, as `scrapy jobs add` gives it


def _number(order: Order) -> int:
    return int(order.path["job"])


def _deed(verb: str) -> Deed:
    def tell(order: Order) -> Told:
        with order.site.database.explaining(), order.site.database.read() as conn:
            found = jobs.find(conn, ids=[_number(order)])
        if not found:
            raise ValueError(f"there is no job {_number(order)}")
        return Told(found[0].store, str(found[0]))

    def do(order: Order) -> str:
        done = retrying(order.site.database, partial(ORDERS[verb], job_id=_number(order)))
        return f"job {_number(order)}: {done}"

    return Deed(f"/jobs/{{job:int}}/{verb}", f"{verb}_job", tell, do)


def _tell_add(order: Order) -> Told:
    kind, store = order.one("kind"), order.one("store")
    if kind not in KINDS:
        raise ValueError(f"kind: expected one of {', '.join(KINDS)}")
    if not store and not KINDS[kind].every_store:
        raise ValueError(f"store: a job of the kind {kind} needs one")
    return Told(store, f"a job of the kind {kind}")


def _add(order: Order) -> str:
    kind, store = order.one("kind"), order.one("store")
    limit_s = _ALL_LIMIT_S
    if store:
        file = store_files.read(store, order.site.folders)
        if file.store is None:
            raise JobRefused(f"{store} can't run: {file.error}")
        limit_s = file.store.schedule.time_limit_s
    plan = Plan(store=store, kind=kind, schedule=Schedule(), time_limit_s=limit_s)
    job_id = retrying(order.site.database, lambda conn: jobs.enqueue(conn, plan, by=order.visitor.name))
    return f"job {job_id} ({kind}) is added and due now; a worker takes it within seconds (none? scrapy worker)"


DEEDS = (*(_deed(verb) for verb in ORDERS), Deed("/jobs/add", "add_job", _tell_add, _add))
