"""What is said of how things stand, from the rows to the recipient: on each backend, by a fake clock."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import update

from storebot.core.alerts.message import Channel
from storebot.core.alerts.retrying import LEAST_ATTEMPTS
from storebot.core.breaker import Breaker, State
from storebot.core.webhooks.answers import Answer
from storebot.db import breakers, outbox, spending, subscriptions
from storebot.db.database import Database
from storebot.db.dialects import insert_missing
from storebot.db.jobs import Plan, enqueue
from storebot.db.outbox import Status
from storebot.db.schema import changes, channels, jobs, stores
from storebot.items import Expense, Outlay, PageType, RunStatus, Tier
from storebot.webhooks.delivering import deliver_due
from tests.core.alerts.timeline import MINUTE, at
from tests.notify.standing import ANN, BOB, STORE, Desk, changed, ran
from tests.stores.writing import LEAST
from tests.webhooks.receiving import ENVIRON, subscribe, tell

LATE = update(changes).where(changes.c.url_key == "late")
HOUR, DAY = 60 * MINUTE, 24 * 60 * MINUTE
NOON = at("2026-06-01 12:00")


def titles(desk: Desk) -> list[str]:
    return [title for _, _, title in desk.got]


def test_a_breaker_that_opens_is_told_once_and_that_it_closed(database: Database, tmp_path: Path) -> None:
    desk = Desk(database, tmp_path)
    with database.write() as conn:
        ran(conn, NOON - HOUR)
        breakers.record(conn, STORE, Breaker(State.OPEN, NOON, NOON + HOUR, 1, "10 of 10 visits were blocked"))
    assert desk.look(NOON) == (1, 0, 1, 1, 0)
    assert desk.look(NOON + MINUTE) == (0, 0, 0, 0, 0)
    with database.write() as conn:
        breakers.record(conn, STORE, Breaker())
    for minute in (2, 10, 17):
        desk.look(NOON + minute * MINUTE)
    subject = "acme: left alone (circuit breaker open)"
    assert desk.got == [("01 12:00", "ann", subject), ("01 12:17", "ann", f"{subject} (over)")]
    assert desk.bodies[0].splitlines()[0] == (
        "it is left alone until 2026-06-01 13:00 CEST, because 10 of 10 visits were blocked."
    )


def test_runs_are_told_when_they_fail_in_a_row_or_miss_what_is_expected_or_stop_coming(
    database: Database, tmp_path: Path
) -> None:
    desk = Desk(database, tmp_path, f'{LEAST}[expect]\nmax_age = "2d"\n')
    with database.write() as conn:
        ran(conn, NOON - 5 * HOUR, missed='["9 listings are few"]')
    desk.look(NOON - 4 * HOUR)
    with database.write() as conn:
        for hour in (3, 2):
            ran(conn, NOON - hour * HOUR, RunStatus.FAILED, reason="domain moved")
    desk.look(NOON - 2 * HOUR)
    with database.write() as conn:
        ran(conn, NOON - HOUR, RunStatus.FAILED, reason="domain moved")
    desk.look(NOON)
    desk.look(NOON + 2 * DAY)
    assert titles(desk) == [
        "acme: not as expected",
        "acme: fails again and again",
        "acme: fails again and again (for 48h)",
        "acme: nothing has run",
        "acme: not as expected (for 52h)",
    ]
    assert "refresh (run " in desk.bodies[0]
    assert "9 listings are few." in desk.bodies[0]
    assert "the last 3 runs (refresh) failed: domain moved" in desk.bodies[1]
    assert "[expect] max_age is 48h" in desk.bodies[3]


def test_a_month_whose_budget_is_spent_is_told(database: Database, tmp_path: Path) -> None:
    desk = Desk(database, tmp_path, f"{LEAST}[budget.month]\nrequests = 5\n")
    with database.write() as conn:
        ran(conn, NOON)
        spent = Outlay(store=STORE, at_ms=NOON, tier=Tier.HTTP, page_type=PageType.PRODUCT, expense=Expense(5))
        spending.add(conn, STORE, {}, [spent])
    desk.look(NOON)
    assert titles(desk) == ["acme: the month's budget is used up"]
    assert desk.bodies[0].startswith("5 of 5 requests of 2026-06: until the month ends")


def test_a_file_that_breaks_is_told_and_ends_no_alert_that_needs_it(database: Database, tmp_path: Path) -> None:
    desk = Desk(database, tmp_path)
    with database.write() as conn:
        ran(conn, NOON - HOUR, missed='["few"]')
    desk.look(NOON)
    (tmp_path / STORE / "store.toml").write_text("base_url = 7\n")
    for minute in (1, 20, 40):
        desk.look(NOON + minute * MINUTE)
    assert titles(desk) == ["acme: not as expected", "acme: the store file can't be read"]
    (tmp_path / STORE / "store.toml").unlink()
    desk.look(NOON + HOUR)
    desk.look(NOON + 2 * HOUR)
    assert sorted(titles(desk)[2:]) == ["acme: not as expected (over)", "acme: the store file can't be read (over)"]


def test_nothing_is_lost_while_a_channel_is_down_and_others_get_theirs(database: Database, tmp_path: Path) -> None:
    desk = Desk(database, tmp_path)
    desk.recipients = {Channel.OPERATOR: (ANN, BOB), Channel.BUSINESS: ()}
    desk.down = {"bob"}
    with database.write() as conn:
        ran(conn, NOON, RunStatus.BLOCKED, reason="no")
    expected = [0, 1, 3, 7, 15, 31, 63, 123]
    minutes = sorted({max(minute + more, 0) for minute in expected for more in (-1, 0)} | {60})
    assert [minute for minute in minutes if desk.look(NOON + minute * MINUTE).failed] == expected
    desk.down = set()
    desk.look(NOON + 3 * HOUR + 3 * MINUTE)
    assert desk.got == [
        ("01 12:00", "ann", "acme: the shop blocks"),
        ("01 13:00", "ann", "storebot: messages can't be delivered"),
        ("01 15:03", "bob", "acme: the shop blocks"),
        ("01 15:03", "bob", "storebot: messages can't be delivered"),
    ]
    assert "HTTP 503" in desk.bodies[1]
    with database.read() as conn:
        assert outbox.counts(conn) == {("operator", "sent"): 4}


def test_a_message_that_nobody_takes_for_days_is_a_dead_letter_and_may_be_revived(
    database: Database, tmp_path: Path
) -> None:
    desk = Desk(database, tmp_path)
    desk.down = {"ann"}
    with database.write() as conn:
        ran(conn, NOON, RunStatus.BLOCKED, reason="no")
    for hour in (*range(10), 71, 72):
        desk.look(NOON + hour * HOUR)
    with database.write() as conn:
        dead = [letter for letter in outbox.newest(conn, 9) if letter.status is Status.DEAD]
        assert [letter.message.title for letter in dead] == ["acme: the shop blocks"]
        assert outbox.revive(conn, NOON) == 1
    desk.down = set()
    desk.look(NOON + 100 * HOUR)
    assert "acme: the shop blocks" in titles(desk)


def test_a_digest_tells_of_committed_changes_before_and_after_and_of_none_twice(
    database: Database, tmp_path: Path
) -> None:
    desk = Desk(database, tmp_path)
    with database.write() as conn:
        changed(conn, NOON - DAY, "price_minor", 100, 50, "old")  # before anybody looked
    desk.look(NOON)
    desk.look(NOON + 2 * MINUTE)
    with database.write() as conn:
        changed(conn, NOON, "price_minor", 12900, 9900, "k1")
        changed(conn, NOON, "price_minor", 9900, 12900, "k2")
        changed(conn, NOON, "price_minor", 1, 0, "k3", type="corrected")
    for minute in (4, 62, 64, 66, 130, 200):
        desk.look(NOON + minute * MINUTE)
    assert desk.got == [("01 13:02", "bob", "changes: 1 change at acme")]
    assert desk.bodies[0].splitlines()[:2] == ["acme: k1: price 12900 → 9900 (-23.3%)", "  k1"]


def test_a_change_whose_number_is_older_than_what_was_seen_is_told_too(database: Database, tmp_path: Path) -> None:
    """On a server a transaction may commit after a later one, with earlier numbers: none is skipped for that."""
    desk = Desk(database, tmp_path, business={"every": "1m"})
    desk.look(NOON)
    with database.write() as conn:
        changed(conn, NOON, "price_minor", 200, 100, "late", seq=50)
        changed(conn, NOON, "price_minor", 200, 100, "early", seq=60)
        conn.execute(LATE.values(seq=1_000))
    desk.look(NOON + MINUTE)
    with database.write() as conn:
        conn.execute(LATE.values(seq=55))  # it commits within the minute
    for minute in (2, 3, 4):
        desk.look(NOON + minute * MINUTE)
    lines = [line for body in desk.bodies for line in body.splitlines() if "price" in line]
    assert sorted(line.split(":")[1] for line in lines) == [" early", " late"]


def test_what_is_rolled_back_is_told_by_no_digest_and_no_webhook(database: Database, tmp_path: Path) -> None:
    """Case N06: a price that was read wrong, and is never committed."""
    desk = Desk(database, tmp_path)
    subscribe(database, "https://well.example/hook")
    for minute in (0, 2):
        desk.look(NOON + minute * MINUTE)
    with suppress(KeyboardInterrupt), database.write() as conn:
        insert_missing(conn, stores, [{"name": STORE}])
        changed(conn, NOON, "price_minor", 24900, 1500, "k1")
        raise KeyboardInterrupt  # before it's committed
    with database.write() as conn:
        insert_missing(conn, stores, [{"name": STORE}])
        changed(conn, NOON, "price_minor", 24900, 23900, "k2")
    posted: list[bytes] = []

    def post(url: str, headers: Mapping[str, str], body: bytes, *, allow_private: bool) -> Answer:
        posted.append(body)
        return Answer(200)

    assert deliver_due(database, ENVIRON, post=post, clock=lambda conn: NOON).changes == 1
    for minute in (4, 62, 64, 66):
        desk.look(NOON + minute * MINUTE)
    assert len(desk.bodies) == len(posted) == 1
    assert b"k2" in posted[0]
    assert "24900 → 23900" in desk.bodies[0]


def test_who_has_nobody_to_tell_is_told_later_what_is_still_wrong(database: Database, tmp_path: Path) -> None:
    desk = Desk(database, tmp_path)
    somebody, desk.recipients = desk.recipients, {Channel.OPERATOR: (), Channel.BUSINESS: ()}
    with database.write() as conn:
        ran(conn, NOON, RunStatus.BLOCKED, reason="no")
        changed(conn, NOON, "price_minor", 2, 1)
    for minute in (0, 2, 4):
        desk.look(NOON + minute * MINUTE)
    desk.recipients = somebody
    desk.look(NOON + 2 * HOUR)
    assert titles(desk) == ["acme: the shop blocks"]


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"], indirect=True)
def test_two_that_tend_at_once_say_nothing_twice(database: Database, tmp_path: Path) -> None:
    first, second = Desk(database, tmp_path), Desk(database, tmp_path)
    with database.write() as conn:
        ran(conn, NOON, RunStatus.BLOCKED, reason="no")
    counts = []

    def meanwhile() -> None:
        first.on_send = lambda: None
        counts.append(second.look(NOON))

    first.on_send = meanwhile
    assert first.look(NOON).sent == 1
    assert counts == [(0, 0, 0, 0, 0)]
    assert second.got == []


def test_jobs_that_were_given_up_and_jobs_that_no_worker_takes_are_told(database: Database, tmp_path: Path) -> None:
    desk = Desk(database, tmp_path)
    with database.write() as conn:
        ran(conn, NOON)
        for kind in ("refresh", "prune"):
            enqueue(conn, Plan(store=STORE, kind=kind, time_limit_s=60), at_ms=NOON)
        given_up = {"failures": 1, "status": "failed", "last_error": "exit 1", "next_run_at": None}
        conn.execute(update(jobs).where(jobs.c.kind == "refresh").values(given_up))
    desk.look(NOON + 14 * MINUTE)
    desk.look(NOON + 16 * MINUTE)
    assert titles(desk) == ["acme: fails again and again", "storebot: jobs wait, and no worker takes them"]
    assert desk.bodies[0].startswith("the job refresh was given up once: exit 1\n")
    assert desk.bodies[1].startswith("1 job waits for a worker, prune of acme since 2026-06-01 12:00 CEST.\n")


def test_a_message_whose_process_died_while_it_sent_it_is_sent_by_the_next(database: Database, tmp_path: Path) -> None:
    """Twice, where the service had taken it: never not at all."""
    first, second = Desk(database, tmp_path), Desk(database, tmp_path)
    with database.write() as conn:
        ran(conn, NOON, RunStatus.BLOCKED, reason="no")

    def die() -> None:
        raise SystemExit("power cut")

    first.on_send = die
    with pytest.raises(SystemExit):
        first.look(NOON)
    assert second.look(NOON + MINUTE).sent == 0, "the dead one's lease isn't over yet"
    with database.write() as conn:
        conn.execute(update(channels).values(lease_expires_at=1))
    assert second.look(NOON + 2 * MINUTE).sent == 1
    assert titles(second) == ["acme: the shop blocks"]


def test_many_that_tend_at_the_same_moment_say_it_once(database: Database, tmp_path: Path) -> None:
    desks = [Desk(database, tmp_path) for _ in range(4)]
    with database.write() as conn:
        ran(conn, NOON, RunStatus.BLOCKED, reason="no")
        for key in "abc":
            changed(conn, NOON, "price_minor", 2, 1, key)
    for minute in (0, 2, 4):  # the first looks settle which changes are there
        desks[0].look(NOON + minute * MINUTE)
    with database.write() as conn:
        changed(conn, NOON, "price_minor", 2, 1, "d")
        breakers.record(conn, STORE, Breaker(State.OPEN, NOON, NOON + HOUR, 1, "503"))
    start = threading.Barrier(len(desks))

    def work(desk: Desk) -> None:
        for minute in (62, 64, 66):
            start.wait(30)
            desk.look(NOON + minute * MINUTE)

    threads = [threading.Thread(target=work, args=(desk,)) for desk in desks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    desks[0].look(NOON + 90 * MINUTE)
    desks[0].look(NOON + 130 * MINUTE)
    assert sorted(title for desk in desks for title in titles(desk)) == [
        "acme: left alone (circuit breaker open)",
        "acme: the shop blocks",
        "acme: the shop blocks (over)",
        "changes: 1 change at acme",
    ]


def test_a_receiver_of_changes_that_is_gone_is_told_until_it_has_what_it_lacks(
    database: Database, tmp_path: Path
) -> None:
    desk = Desk(database, tmp_path)
    clock = lambda conn: NOON  # noqa: E731 - the receiver's time is the desk's
    posted: list[str] = []

    def post(url: str, headers: Mapping[str, str], body: bytes, *, allow_private: bool) -> Answer:
        posted.append(url)
        return Answer(200 if "well" in url or posted.count(url) > 1 else 410)

    _, gone = (subscribe(database, f"https://{name}.example/SECRETPATH") for name in ("well", "gone"))
    tell(database, 3)
    deliver_due(database, ENVIRON, post=post, clock=clock)
    desk.look(NOON + MINUTE)
    with database.write() as conn:
        assert subscriptions.replay(conn, gone, 0) == 3
    deliver_due(database, ENVIRON, post=post, clock=clock)
    for minute in (2, 18):
        desk.look(NOON + minute * MINUTE)
    assert titles(desk) == ["storebot: a webhook isn't taken", "storebot: a webhook isn't taken (over)"]
    text, _, advice = desk.bodies[0].splitlines()
    assert text == f"subscription {gone} (https://gone.example/***) ended, because its receiver answered 410 Gone."
    assert f"scrapy deliver replay --subscription {gone} --after 0 sends what it lacks" in advice
    assert "SECRETPATH" not in "".join(desk.bodies)


def test_what_a_receiver_takes_not_for_an_hour_or_never_is_told(database: Database, tmp_path: Path) -> None:
    desk = Desk(database, tmp_path)

    def post(url: str, headers: Mapping[str, str], body: bytes, *, allow_private: bool) -> Answer:
        return Answer(500)

    whom = f"subscription {subscribe(database, 'https://down.example/hook')} (https://down.example/***)"
    tell(database, 3)
    for hour in (*range(LEAST_ATTEMPTS - 1), 96):
        now = NOON + hour * HOUR
        deliver_due(database, ENVIRON, post=post, clock=lambda conn: now, chance=lambda: 0.0)  # noqa: B023 - used at once
        desk.look(now)
    assert [body.splitlines()[0] for body in desk.bodies] == [
        f"a message waits for {whom} since 2026-06-01 12:00 CEST: it answered 500.",
        f"1 message to {whom} was given up.",
    ]
    assert titles(desk) == ["storebot: a webhook isn't taken", "storebot: a webhook isn't taken (for 95h)"]
