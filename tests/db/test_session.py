"""A run's hold on the database: lease, run row, saving, claims; given back whatever happens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from storebot.core.rung import Rung
from storebot.db import leases, runs, walks
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.db.schema import checkpoints, pages, stores, visits
from storebot.db.schema import runs as runs_table
from storebot.db.session import Finding, Saved, Session, SessionOptions, Standing
from storebot.db.tiers import Used
from storebot.exceptions import LeaseLost, StorebotError, StoreBusy
from storebot.items import CatalogPage, Outcome, PageStatus, PageType, RunStatus, Tier, WalkEnd, WalkState
from tests.db.shop import HOUR, NOW, STORE, Worker, alive, found, parsed, unparsed

OPTIONS = SessionOptions(
    store=STORE,
    kind="backfill",
    parser_version="p1",
    hash_version=1,
    lease_s=60,
    claim_batch=2,
    commit_rows=100,
    commit_s=0.01,
    revisit_after_ms=24 * HOUR,
    error_backoff_ms=HOUR,
)
WALK: dict[str, Any] = {"store": STORE, "walk": "w", "at_ms": NOW}


@pytest.fixture
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"sqlite:///{tmp_path_factory.mktemp('session') / 'store.db'}"
    Database.open(url).dispose()
    return url


class Told:
    """What a session told through its callbacks."""

    def __init__(self) -> None:
        self.saved: list[Saved] = []
        self.failed: list[StorebotError] = []
        self.threads: set[str] = set()

    def on_saved(self, saved: Sequence[Saved]) -> None:
        self.threads.add(threading.current_thread().name)
        self.saved += saved


def opened(url: str, told: Told | None = None, **options: Any) -> Session:
    told = told or Told()
    return Session.open(url, replace(OPTIONS, **options), on_saved=told.on_saved, on_failed=told.failed.append)


def complete(standing: Standing) -> Finding:
    return Finding(
        status=RunStatus.COMPLETE,
        reason="",
        requests=7,
        size_bytes=70,
        rows_written=sum(standing.outcomes.values()),
        rows_skipped=0,
        change_events=0,
    )


def partial(standing: Standing) -> Finding:
    return replace(complete(standing), status=RunStatus.PARTIAL, reason="1 error")


def claimed(session: Session, verb: Callable[..., Any] | None = None) -> list[Any]:
    return asyncio.run(session.call(verb or session.claim_pending))


@contextmanager
def looking(url: str) -> Iterator[Worker]:
    """Look into the database, with no lease and no run."""
    database = Database.open(url)
    worker = Worker.__new__(Worker)
    worker.database, worker.store = database, STORE
    try:
        yield worker
    finally:
        database.dispose()


def discover(session: Session, *names: str) -> None:
    session.submit(CatalogPage(number=1, url="u", found=tuple(found(*names)), checkpoint=False, **WALK))


def test_what_a_run_learned_of_tiers_is_kept_with_its_heartbeat_and_at_its_end(url: str) -> None:
    rung = Rung(page_type=PageType.PRODUCT, tier=Tier.HTTP, tries=1.0, failures=1, tried_at=NOW, reason="blocked")
    session = opened(url)
    assert session.rungs == ()
    asyncio.run(session.call(session.keep, [rung]))
    session.database.dispose()  # as after kill -9
    with looking(url) as look, look.database.write() as conn:
        leases.release(conn, STORE, session.token)
    later = replace(rung, tries=2.0, failures=2, tried_at=NOW + 1)
    second = opened(url)
    assert second.rungs == (rung,)
    second.close(partial, whole=False, rungs=[later])
    third = opened(url)
    assert third.rungs == (later,)
    third.close(complete)
    fourth = opened(url)
    assert fourth.rungs == (later,), "a run that learned nothing forgets nothing"
    fourth.close(complete)


def test_run_from_its_lease_to_its_row(url: str) -> None:
    told = Told()
    session = opened(url, told)
    discover(session, "1", "2", "3")
    first = claimed(session)  # after what was submitted before it, though that waited for its commit
    assert [target.url_key[-1] for target in first] == ["1", "2"]  # a batch, no more
    for target in first:
        session.submit(parsed(target))
    second = claimed(session)
    session.submit(unparsed(second[0], Outcome.MISSING, status=404))
    stood: list[Standing] = []

    def judge(standing: Standing) -> Finding:
        stood.append(standing)
        return complete(standing)

    session.close(judge)
    assert stood == [
        Standing(
            outcomes={Outcome.NEW: 2, Outcome.MISSING: 1},
            pages_known=3,
            pages_read=2,
            listings_known=2,
            rows_written=2,
            used=Used({"http": 3}),
        )
    ]
    assert [one.outcome for one in told.saved] == [None, Outcome.NEW, Outcome.NEW, Outcome.MISSING]
    assert "MainThread" not in told.threads
    with looking(url) as look:
        run = look.only(runs_table)
        assert (run["status"], run["requests"], run["rows_written"]) == ("complete", 7, 3)
        assert run["finished_at"] >= run["started_at"]
        assert (run["pages_known"], run["listings_known"]) == (3, 2)
        assert look.only(stores)["lease_token"] == ""
        assert len(look.rows(visits)) == 3


def test_second_session_of_a_store_is_refused_and_leaves_no_run(url: str) -> None:
    first = opened(url)
    with pytest.raises(StoreBusy, match=STORE):
        opened(url)
    opened(url, store="other").close(complete)
    first.close(complete)
    opened(url).close(complete)  # free again
    with looking(url) as look:
        assert [run["store"] for run in look.rows(runs_table)] == [STORE, "other", STORE]


def test_run_that_a_dead_process_left_open_is_closed_and_its_claims_come_back(url: str) -> None:
    dead = opened(url)
    discover(dead, "1", "2")
    assert len(claimed(dead)) == 2
    with dead.database.write() as conn:  # it dies here; its lease runs out
        leases.take(conn, STORE, dead.token, this_process(), 0, alive)
    session = opened(url)
    assert len(claimed(session)) == 2
    session.close(complete)
    with looking(url) as look:
        before, after = look.rows(runs_table)
        assert (before["status"], after["status"]) == ("interrupted", "complete")
    dead.database.dispose()


def test_closing_gives_back_what_was_claimed_and_not_visited(url: str) -> None:
    session = opened(url)
    discover(session, "1", "2", "3")
    claimed(session)
    stood: list[Standing] = []
    session.close(lambda standing: stood.append(standing) or partial(standing))  # type: ignore[func-returns-value]
    assert stood[0].pages_left == 3
    with looking(url) as look:
        assert {row["status"] for row in look.rows(pages)} == {PageStatus.PENDING.value}
        assert {row["claim_token"] for row in look.rows(pages)} == {""}


@pytest.mark.parametrize(("judge", "state"), [(complete, WalkState.CLOSED), (partial, WalkState.ENDED)])
def test_walks_are_closed_by_a_complete_backfill_alone(
    url: str, judge: Callable[[Standing], Finding], state: WalkState
) -> None:
    session = opened(url)
    asyncio.run(session.call(walks.open_walk, STORE, "w", ""))
    session.submit(WalkEnd(state=WalkState.ENDED, reason="proven", **WALK))
    session.close(judge)
    with looking(url) as look:
        assert look.only(checkpoints)["state"] == state.value


def test_refresh_claims_what_was_never_read_and_then_what_is_due(url: str) -> None:
    backfill = opened(url, revisit_after_ms=0)
    discover(backfill, "1", "2")
    for target in claimed(backfill):
        backfill.submit(parsed(target, at=backfill.now_ms(), etag='"1"'))
    backfill.close(complete)
    told = Told()
    session = opened(url, told, kind="refresh", claim_batch=10)
    assert session.due == 2
    discover(session, "3")
    assert [target.url_key[-1] for target in claimed(session, session.claim_due)] == ["3"]
    due = claimed(session, session.claim_due)
    assert [target.url_key[-1] for target in due] == ["1", "2"]
    assert {target.etag for target in due} == {'"1"'}
    for target in due:
        session.submit(parsed(target, at=session.now_ms()))
    assert claimed(session, session.claim_due) == []  # not a second time in one run
    session.close(complete)
    assert [one.outcome for one in told.saved if one.outcome] == [Outcome.UNCHANGED, Outcome.UNCHANGED]


def test_clock_is_that_of_the_database(url: str) -> None:
    session = opened(url)
    with session.database.read() as conn:
        assert runs.last(conn, STORE)[0].started_at <= session.now_ms() + 1000
    assert abs(session.now_ms() - session.started_ms) < 60_000
    session.close(complete)


def test_unsaved_records_are_counted_until_their_commit(url: str) -> None:
    session = opened(url, commit_s=60, commit_rows=10)
    discover(session, "1", "2")
    assert session.unsaved == 1
    claimed(session)  # a call commits what is in its way
    assert session.unsaved == 0
    session.close(complete)


def test_a_sitemap_that_waits_counts_by_what_it_names(url: str) -> None:
    """A store of 100,000 pages had all their addresses in memory: the sitemaps are read faster than they are saved."""
    session = opened(url, commit_s=60, commit_rows=10)
    discover(session, *map(str, range(200)))
    assert session.unsaved == 11
    claimed(session)
    assert session.unsaved == 0
    session.close(complete)


def test_session_whose_lease_was_taken_writes_nothing_more_and_says_so(url: str) -> None:
    told = Told()
    session = opened(url, told)
    discover(session, "1")
    (target,) = claimed(session)
    other = Database.open(url)
    with other.write() as conn:
        leases.take(conn, STORE, "other", this_process(), 60, lambda _: False)
    with pytest.raises(LeaseLost):
        claimed(session, session.keep)
    session.submit(parsed(target))
    with pytest.raises(LeaseLost):
        session.close(partial)
    assert [type(error) for error in told.failed] == [LeaseLost]
    with looking(url) as look:
        assert look.rows(visits) == []
        assert look.only(stores)["lease_token"] == "other"  # not given back: it isn't ours
        assert look.only(runs_table)["status"] == "partial"
    other.dispose()


def test_keeping_extends_the_lease_and_the_claims(url: str) -> None:
    session = opened(url)
    discover(session, "1")
    claimed(session)
    with session.database.write() as conn:
        leases.extend(conn, STORE, session.token, 1)
    with looking(url) as look:
        before = look.only(stores)["lease_expires_at"]
    claimed(session, session.keep)
    with looking(url) as look:
        assert look.only(stores)["lease_expires_at"] >= before + 50_000
    session.close(partial)


def test_relative_path_is_refused_where_an_absolute_one_is_needed() -> None:
    with pytest.raises(StorebotError, match="absolute"):
        Session.open("sqlite:///var/store.db", OPTIONS, on_saved=print, on_failed=print, require_absolute=True)


def test_backfill_that_is_started_again_tries_what_failed_and_a_refresh_lets_it_wait(url: str) -> None:
    """Somebody asked for the backfill; the clock starts a refresh. Neither comes back to a page that failed in it."""
    first = opened(url)
    discover(first, "1")
    (target,) = claimed(first)
    first.submit(replace(unparsed(target, Outcome.ERROR), at_ms=first.now_ms()))
    assert claimed(first) == []
    first.close(complete)

    waited: list[Standing] = []

    def noting(standing: Standing) -> Finding:
        waited.append(standing)
        return complete(standing)

    refresh = opened(url, kind="refresh")
    assert claimed(refresh, refresh.claim_due) == []
    refresh.close(noting)
    assert (waited[0].pages_known, waited[0].pages_read, waited[0].pages_waiting) == (1, 0, 1)

    again = opened(url)
    (target,) = claimed(again)
    again.submit(replace(unparsed(target, Outcome.ERROR), at_ms=again.now_ms()))
    assert claimed(again) == []
    again.close(noting)
    assert waited[1].pages_waiting == 0  # it has an outcome in this run
