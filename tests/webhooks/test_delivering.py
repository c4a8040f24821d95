"""Webhooks to a real receiver that misbehaves: all changes arrive, in their order, signed, under stable ids."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

import orjson
import pytest
from sqlalchemy import update

from storebot.core.alerts.retrying import GIVEN_UP_AFTER_MS, LEAST_ATTEMPTS
from storebot.core.webhooks.answers import Answer
from storebot.db import change_feed, deliveries, subscriptions
from storebot.db.database import Database
from storebot.db.deliveries import Standing, Status
from storebot.db.schema import deliveries as rows
from storebot.webhooks.delivering import Delivered, deliver_due
from storebot.webhooks.posting import post
from tests.webhooks.receiving import (
    ENVIRON,
    NAME,
    OTHER_SECRET,
    SECRET,
    Clock,
    Receiver,
    by_listing,
    hang_up,
    status,
    subscribe,
    tell,
    tell_in,
)

HOUR_MS = 3_600_000
on_sqlite = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def due(database: Database, clock: Clock | None = None, **options: Any) -> Delivered:
    values: dict[str, Any] = {"chance": lambda: 0.0, "clock": clock or Clock(), **options}
    return deliver_due(database, values.pop("environ", ENVIRON), **values)


def test_what_changed_is_posted_in_batches_each_signed_and_nothing_twice(
    database: Database, receiver: Receiver
) -> None:
    tell(database, 2)
    subscribe(database, receiver.url, most_changes=2)
    assert due(database) == Delivered()
    ids = tell(database, 5)
    assert due(database) == Delivered(messages=3, changes=5)
    assert due(database) == Delivered()
    assert [one["id"] for one in receiver.changes()] == ids
    first = receiver.messages()[0]
    assert (first["type"], first["timestamp"]) == ("listing.changes", "2027-01-15T08:00:00.003Z")
    assert first["data"]["store"] == "acme"
    assert first["data"]["changes"][0]["fields"] == [{"field": "price_minor", "before": 2, "after": 3}]
    assert [len(one["data"]["changes"]) for one in receiver.messages()] == [2, 2, 1]
    assert len(set(receiver.ids())) == 3


@on_sqlite
def test_a_receiver_that_times_out_fails_asks_for_time_dies_and_comes_back_gets_all_in_order(
    database: Database, receiver: Receiver
) -> None:
    subscribe(database, receiver.url, most_changes=4)
    ids, clock = tell(database, 10), Clock()
    receiver.script = [receiver.silence, status(500), status(429, Retry_After="7200"), hang_up]
    quick = partial(post, timeout_s=0.2)

    assert due(database, clock, post=quick) == Delivered(failed=1)
    receiver.wake.set()
    assert due(database, clock) == Delivered(), "not before its time"
    clock.ahead_ms += HOUR_MS
    assert due(database, clock) == Delivered(failed=1)  # 500
    clock.ahead_ms += HOUR_MS
    assert due(database, clock) == Delivered(failed=1)  # 429
    clock.ahead_ms += HOUR_MS
    assert due(database, clock) == Delivered(), "it asked for two hours"
    clock.ahead_ms += HOUR_MS
    ids += tell(database, 2)
    assert due(database, clock) == Delivered(failed=1)  # it hangs up
    receiver.die()
    clock.ahead_ms += HOUR_MS
    assert due(database, clock) == Delivered(failed=1)
    receiver.start()
    clock.ahead_ms += HOUR_MS
    assert due(database, clock) == Delivered(messages=3, changes=12)

    assert [one["id"] for one in receiver.changes()] == ids
    assert all(seqs == sorted(seqs) for seqs in by_listing(receiver.changes()).values())
    assert len(receiver.ids()) == 7
    assert len(set(receiver.ids()[:5])) == 1, "what failed comes again under its id"
    assert len({body for _, body in receiver.got[:5]}) == 1, "and says the same, whatever came meanwhile"


@on_sqlite
def test_a_process_that_dies_after_the_answer_sends_the_same_again(database: Database, receiver: Receiver) -> None:
    subscribe(database, receiver.url)
    tell(database, 3)

    def killed(*args: Any, **options: Any) -> Answer:
        post(*args, **options)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        due(database, post=killed)
    tell(database, 1)
    assert due(database).messages == 2
    first, again, last = receiver.got
    assert (first[0]["webhook-id"], first[1]) == (again[0]["webhook-id"], again[1])
    assert last[0]["webhook-id"] != first[0]["webhook-id"]


@on_sqlite
def test_one_that_answers_410_ends_and_a_replay_begins_again(database: Database, receiver: Receiver) -> None:
    number = subscribe(database, receiver.url)
    ids = tell(database, 3)
    receiver.script = [status(410)]
    assert due(database) == Delivered(ended=1)
    assert due(database) == Delivered()
    with database.write() as conn:
        assert subscriptions.find(conn)[0].ended == "its receiver answered 410 Gone"
        waiting = deliveries.waiting(conn, number)
        assert waiting is not None
        first = waiting.last_seq - 2
        assert subscriptions.replay(conn, number, first, dry_run=True) == 2
        assert subscriptions.find(conn)[0].ended, "a dry run writes nothing"
        assert subscriptions.replay(conn, number, first) == 2
    assert due(database) == Delivered(messages=1, changes=3)
    assert [one["id"] for one in receiver.changes()] == ids


def test_a_dead_letter_lets_the_next_pass_and_a_replay_brings_it_in_order(
    database: Database, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    number = subscribe(database, f"{receiver.url}/SECRETPATH", most_changes=2)
    ids, clock = tell(database, 2), Clock()
    for attempt in range(LEAST_ATTEMPTS):
        receiver.script = [status(400)]
        clock.ahead_ms = attempt * GIVEN_UP_AFTER_MS // (LEAST_ATTEMPTS - 1) + 1000 * attempt
        done = due(database, clock)
    assert done == Delivered(dead=1)
    with database.read() as conn:
        (letter,) = deliveries.dead_letters(conn, number)
        assert (letter.status, letter.http_status, letter.attempts) == (Status.DEAD, 400, LEAST_ATTEMPTS)
        assert letter.last_error == "it answered 400"
        assert deliveries.standings(conn)[number].dead == 1
    ids += tell(database, 2)
    assert due(database, clock) == Delivered(messages=1, changes=2)
    receiver.got.clear()
    with database.write() as conn:
        assert subscriptions.replay(conn, number, letter.after_seq) == 4
        assert deliveries.dead_letters(conn, number) == []
    assert due(database, clock) == Delivered(messages=2, changes=4)
    assert [one["id"] for one in receiver.changes()] == ids
    assert receiver.ids()[0] == letter.message_id
    assert "a message isn't delivered, it is dead: it answered 400" in caplog.text
    assert "SECRETPATH" not in caplog.text


@on_sqlite
def test_a_subscription_gets_what_it_asked_for_and_one_that_fails_holds_up_no_other(
    database: Database, receiver: Receiver
) -> None:
    subscribe(database, f"http://127.0.0.1:{receiver.port}/all", stores=("acme",), types=("changed",))
    subscribe(database, f"http://127.0.0.1:{receiver.port}/stock", fields=("availability",))
    subscribe(database, "http://localhost.invalid/", stores=("acme",))
    acme, _ = tell(database, 2), tell(database, 2, "bolt")
    tell(database, 1, type="delisted", id="gone")
    tell(database, 1, "bolt", fields='[{"field": "availability", "before": "InStock", "after": null}]', id="out")
    done = due(database)
    assert (done.messages, done.changes, done.failed) == (2, 3, 1)
    assert {one["id"] for one in receiver.changes()} == {*acme, "out"}
    tell(database, 600, "bolt")
    assert due(database).messages == 0
    with database.read() as conn:
        places = dict(subscriptions.places(conn, subscriptions.find(conn)[1]))
        assert places["bolt"] == change_feed.last_seq(conn, "bolt"), "what isn't wanted is passed"


@on_sqlite
def test_while_a_secret_is_replaced_both_sign_and_without_one_nothing_is_sent(
    database: Database, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    subscribe(database, receiver.url)
    tell(database, 1)
    assert due(database, environ={}) == Delivered(unsigned=1)
    assert receiver.got == []
    assert "ACME_WEBHOOK_SECRET isn't set in the environment" in caplog.text
    due(database, environ={NAME: f"{OTHER_SECRET} {SECRET}"})
    assert len(receiver.messages()) == 1
    assert len(receiver.got[0][0]["webhook-signature"].split()) == 2


def test_what_was_delivered_is_forgotten_after_a_month_and_a_dead_letter_later(
    database: Database, receiver: Receiver
) -> None:
    number, clock = subscribe(database, receiver.url), Clock()
    for stands in (Status.DELIVERED, Status.DEAD):
        tell(database, 1)
        due(database, clock)
        with database.write() as conn:
            newest = rows.c.last_seq == change_feed.last_seq(conn, "acme")
            conn.execute(update(rows).where(newest).values(status=stands))
    clock.ahead_ms = deliveries.DELIVERED_KEPT_MS + HOUR_MS
    tell(database, 1)
    due(database, clock)
    with database.read() as conn:
        assert deliveries.standings(conn)[number] == Standing(delivered=1, dead=1)


def test_one_process_sends_to_a_subscription_at_a_time_and_who_lost_it_writes_nothing(database: Database) -> None:
    number = subscribe(database, "http://127.0.0.1:9/")
    tell(database, 1)

    def replaced(*args: Any, **options: Any) -> Answer:
        with database.write() as conn:
            assert not subscriptions.take(conn, number, "second", 1000)
            subscriptions.replay(conn, number, 0)
            assert subscriptions.take(conn, number, "second", 60_000)
        return Answer(200)

    assert due(database, post=replaced) == Delivered()
    with database.read() as conn:
        assert deliveries.waiting(conn, number) is None
        assert deliveries.standings(conn) == {}
    assert due(database) == Delivered(), "it's the second one's"
    with database.write() as conn:
        assert subscriptions.remove(conn, number)
        assert not subscriptions.remove(conn, number)


def test_two_processes_at_once_post_each_message_once(database: Database, receiver: Receiver) -> None:
    for path in ("a", "b", "c"):
        subscribe(database, f"http://127.0.0.1:{receiver.port}/{path}", most_changes=2)
    tell(database, 6)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: due(database), range(2)))
    assert sum(one.messages for one in done) == 9
    assert len(receiver.ids()) == len(set(receiver.ids())) == 9


@pytest.mark.parametrize("backend", ["mariadb", "postgresql"], indirect=True)
def test_a_change_that_is_committed_after_one_of_a_higher_number_is_not_passed_over(
    database: Database, receiver: Receiver
) -> None:
    subscribe(database, receiver.url)
    tell(database, 1), tell(database, 1, "bolt")
    assert due(database).changes == 2
    with database.write() as conn:
        (early,) = tell_in(conn, 1)
        (late,) = tell(database, 1, "bolt")
        assert due(database).changes == 1
    assert due(database).changes == 1
    first, last = receiver.changes()[-2:]
    assert (first["id"], last["id"]) == (late, early)
    assert first["seq"] > last["seq"]


@on_sqlite
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_receivers_and_processes_do_all_changes_come_in_order(database: Database, seed: int) -> None:
    """After any failures and deaths each change has come, in order where it came first; an id has one body."""
    dice, clock = Random(seed), Clock()
    number = subscribe(database, "http://127.0.0.1:9/", most_changes=3)
    told: list[str] = []
    came: list[dict[str, Any]] = []
    rounds_left = 60
    bodies: dict[str, bytes] = {}

    def post(url: str, headers: Mapping[str, str], body: bytes, *, allow_private: bool) -> Answer:
        assert bodies.setdefault(headers["webhook-id"], body) == body
        luck = dice.random() if rounds_left else 1.0
        if luck > 0.4:
            came.extend(orjson.loads(body)["data"]["changes"])
        if 0.4 < luck < 0.5:
            raise KeyboardInterrupt  # it was taken, and nobody knows
        return Answer(200) if luck > 0.5 else dice.choice([Answer(500), Answer(429, "60"), Answer(error="no answer")])

    while rounds_left:
        rounds_left -= 1
        told += tell(database, dice.randrange(4), dice.choice(["acme", "bolt"]))
        clock.ahead_ms += HOUR_MS
        with suppress(KeyboardInterrupt):
            due(database, clock, post=post)
    due(database, clock, post=post)
    first: dict[str, dict[str, Any]] = {}
    for one in came:
        first.setdefault(one["id"], one)
    assert first.keys() == set(told)
    assert len(came) > len(first), "some came twice"
    assert all(seqs == sorted(seqs) for seqs in by_listing([*first.values()]).values())
    with database.read() as conn:
        assert deliveries.waiting(conn, number) is None
