"""What is wrong, by how things stand: each rule a function, facts in and findings out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from storebot.core.alerts.finding import Finding, Kind
from storebot.core.alerts.message import clock
from storebot.core.breaker import Breaker, State
from storebot.core.expect import MEASURED
from storebot.core.pacing import as_duration
from storebot.core.sizes import size
from storebot.items import RunStatus

_HOUR_MS = 3_600_000
_FAILS = (RunStatus.FAILED, RunStatus.BLOCKED)
_STARTS_ENOUGH = 6  # runs from which it's learned how often one runs
_SILENT_TIMES = 2  # the usual time between two runs
SILENT_LEAST_MS = 2 * _HOUR_MS
UNDELIVERED_AFTER_MS = _HOUR_MS


class End(NamedTuple):
    """How one run ended. Times are milliseconds."""

    run_id: int
    status: RunStatus
    reason: str
    started_at: int
    finished_at: int
    missed: Sequence[str] = ()


class FailingJob(NamedTuple):
    """A job that was given up."""

    kind: str
    failures: int  # in a row
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFacts:
    """How things stand with one store."""

    name: str
    ends: Mapping[str, Sequence[End]] = field(default_factory=dict)  # by kind of run, the newest first
    last_start: int = 0  # of any run, one that is under way included
    held: int = 0  # pages whose change is held
    held_since: int = 0
    breaker: Breaker = field(default_factory=Breaker)
    jobs: Sequence[FailingJob] = ()
    budget: str = ""  # which limit of the month is used up, as a part of a sentence
    max_age_ms: int = 0  # of [expect]; 0: none
    learned: bool = True  # of [expect]


class Late(NamedTuple):
    """A job that should have begun."""

    what: str
    since: int
    why: str = ""  # what a worker said that couldn't begin it; "": none took it


class Waiting(NamedTuple):
    """Messages that a recipient doesn't take."""

    recipient: str
    service: str
    messages: int
    since: int
    error: str


class Receiver(NamedTuple):
    """A subscription to changes, and what it hasn't got of them. Times are milliseconds."""

    id: int
    shown: str  # its address, without what is secret in it
    ended: str = ""  # why nothing is sent any more; "": it's active
    dead: int = 0  # messages that were given up
    since: int = 0  # the message that waits was made then; 0: none waits
    error: str = ""  # of its last attempt; "": there was none
    after: int = 0  # it has all changes up to this one


class Disk(NamedTuple):
    """A disk that is written to."""

    what: str  # database, page archive
    path: str
    free_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """How things stand."""

    stores: Sequence[StoreFacts] = ()
    broken: Mapping[str, str] = field(default_factory=dict)  # store files that can't be read: by store, why
    overdue: Sequence[Late] = ()
    waiting: Sequence[Waiting] = ()
    receivers: Sequence[Receiver] = ()
    disks: Sequence[Disk] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """From where on things are wrong."""

    failures: int = 3  # in a row
    disk_free_bytes: int = 2 * 10**9
    zone: tzinfo = UTC  # in which texts tell the time


def findings(facts: Facts, limits: Limits, now_ms: int) -> list[Finding]:
    """Return what is wrong now."""
    return [
        *(found for store in facts.stores for found in _of_store(store, limits, now_ms)),
        *(
            Finding(Kind.STORE_FILE, why, "correct the file: scrapy check tells whether it's right", store)
            for store, why in facts.broken.items()
        ),
        *_overdue(facts.overdue, limits),
        *_undelivered(facts.waiting, limits, now_ms),
        *_webhooks(facts.receivers, limits, now_ms),
        *_disks(facts.disks, limits),
    ]


def _of_store(store: StoreFacts, limits: Limits, now_ms: int) -> Iterator[Finding]:
    yield from _failing(store, limits)
    yield from _says_no(store, limits)
    yield from _silent(store, limits, now_ms)
    if store.held:
        since = clock(store.held_since, limits.zone)
        what = "the change of 1 page is" if store.held == 1 else f"the changes of {store.held:,} pages are"
        text = f"{what} held and not published, the oldest since {since}."
        yield Finding(Kind.HELD, text, f"scrapy holds --store {store.name}; then approve, reject or retry", store.name)
    for kind, ends in store.ends.items():
        last = next((end for end in ends if end.status in MEASURED), None)  # the others were measured by nothing
        if last is not None and last.missed:
            text = f"{kind} (run {last.run_id}): {'; '.join(last.missed)}."
            yield Finding(
                Kind.UNEXPECTED, text, "docs/operating.md, Not as expected; or correct [expect]", store.name, kind
            )
    if store.budget:
        text = f"{store.budget}: until the month ends no request is sent."
        yield Finding(Kind.BUDGET, text, f"scrapy costs --store {store.name}; raise budget.month, or wait", store.name)


def _failing(store: StoreFacts, limits: Limits) -> Iterator[Finding]:
    """Find what failed so often in a row that it won't mend itself: by the runs, and by the jobs that start them."""
    advice = f"scrapy report --store {store.name} --last 5; docs/operating.md says what each reason asks for"
    told = {job.kind: f"the job {job.kind} was given up {_times(job)}: {job.error}" for job in store.jobs}
    for kind, ends in store.ends.items():
        newest = ends[: limits.failures]
        if len(newest) == limits.failures and all(end.status in _FAILS for end in newest):
            told[kind] = f"the last {len(newest)} runs ({kind}) failed: {newest[0].reason}"
    for kind, text in told.items():
        yield Finding(Kind.FAILING, text, advice, store.name, kind)


def _times(job: FailingJob) -> str:
    return "once" if job.failures == 1 else f"{job.failures} times in a row"


def _says_no(store: StoreFacts, limits: Limits) -> Iterator[Finding]:
    advice = "docs/operating.md, Exit 4: blocked"
    if store.breaker.state is not State.CLOSED:
        until = clock(store.breaker.until, limits.zone)
        state = f"until {until}" if store.breaker.state is State.OPEN else "until its probe is answered"
        yield Finding(Kind.BREAKER, f"it is left alone {state}, because {store.breaker.reason}.", advice, store.name)
        return
    last = max((ends[0] for ends in store.ends.values() if ends), key=lambda end: end.run_id, default=None)
    if last is not None and last.status is RunStatus.BLOCKED:
        yield Finding(Kind.BLOCKED, f"run {last.run_id} was blocked: {last.reason}", advice, store.name)


def _silent(store: StoreFacts, limits: Limits, now_ms: int) -> Iterator[Finding]:
    """Find a store that isn't looked at any more: a run that never starts can't say so itself."""
    advice = "is the worker, the timer or the cron there? scrapy jobs list; crontab -l; scrapy doctor"
    if store.breaker.state is not State.CLOSED or not store.last_start:
        return
    ends = [end for found in store.ends.values() for end in found]
    if store.max_age_ms:
        seen = max((end.finished_at for end in ends if end.status in MEASURED), default=0)
        if seen and now_ms - seen > store.max_age_ms:
            age = as_duration(store.max_age_ms / 1000)
            text = f"no run has seen the shop since {clock(seen, limits.zone)}, and [expect] max_age is {age}."
            yield Finding(Kind.SILENT, text, advice, store.name)
    elif store.learned and len(ends) >= _STARTS_ENOUGH:
        starts = _occurrences(ends)
        if len(starts) < _STARTS_ENOUGH:
            return
        usual = median(later - earlier for earlier, later in pairwise(starts))
        if now_ms - store.last_start > max(_SILENT_TIMES * usual, SILENT_LEAST_MS):
            since = clock(store.last_start, limits.zone)
            text = f"no run has begun since {since}, and one begins each {as_duration(usual / 1000)} as a rule."
            yield Finding(Kind.SILENT, text, advice, store.name)


def _occurrences(ends: Sequence[End]) -> list[int]:
    """Return when runs began, but for those after one that failed: they are tries of the same, minutes apart."""
    ordered = sorted(ends, key=lambda end: end.started_at)
    again = [False, *(end.status in _FAILS for end in ordered[:-1])]
    return [end.started_at for end, is_again in zip(ordered, again, strict=True) if not is_again]


def _overdue(jobs: Sequence[Late], limits: Limits) -> Iterator[Finding]:
    if jobs:
        first = min(jobs, key=lambda job: job.since)
        count = "1 job waits" if len(jobs) == 1 else f"{len(jobs):,} jobs wait"
        text = f"{count} for a worker, {first.what} since {clock(first.since, limits.zone)}."
        if first.why:
            yield Finding(Kind.OVERDUE, f"{text} A worker tried: {first.why}", "do what it says; scrapy doctor")
        else:
            yield Finding(Kind.OVERDUE, text, "start one: scrapy worker (systemctl status storebot-worker)")


def _undelivered(waiting: Sequence[Waiting], limits: Limits, now_ms: int) -> Iterator[Finding]:
    for one in waiting:
        if now_ms - one.since >= UNDELIVERED_AFTER_MS:
            count = "1 message waits" if one.messages == 1 else f"{one.messages:,} messages wait"
            text = f"{count} for {one.service} since {clock(one.since, limits.zone)}: {one.error}"
            yield Finding(Kind.UNDELIVERED, text, "scrapy alerts test; correct its URL", "", one.recipient)


def _webhooks(receivers: Sequence[Receiver], limits: Limits, now_ms: int) -> Iterator[Finding]:
    """Find receivers that don't get their changes: nothing is sent, or was given up, or is tried in vain for long."""
    for one in receivers:
        whom, replay = f"subscription {one.id} ({one.shown})", f"scrapy deliver replay --subscription {one.id}"
        told = []
        if one.ended:
            told.append(f"{whom} ended, because {one.ended}.")
        elif one.since and now_ms - one.since >= UNDELIVERED_AFTER_MS:
            why = one.error or "nothing sends it, so plan scrapy deliver run"
            told.append(f"a message waits for {whom} since {clock(one.since, limits.zone)}: {why}.")
        if one.dead:
            count = "1 message" if one.dead == 1 else f"{one.dead:,} messages"
            told.append(f"{count} to {whom} {'was' if one.dead == 1 else 'were'} given up.")
        if told:
            again = f"{replay} --after {one.after} sends what it lacks" if one.ended or one.dead else "it's tried again"
            advice = f"scrapy deliver test {one.id}; {again}; or scrapy deliver remove {one.id}"
            yield Finding(Kind.WEBHOOK, " ".join(told), advice, "", str(one.id))


def _disks(disks: Sequence[Disk], limits: Limits) -> Iterator[Finding]:
    for disk in disks:
        if disk.free_bytes < limits.disk_free_bytes:
            text = f"{size(disk.free_bytes)} are free where the {disk.what} is ({disk.path})."
            advice = "make room: scrapy archive prune, scrapy db prune; or move it to a larger disk"
            yield Finding(Kind.DISK, text, advice, "", disk.what)
