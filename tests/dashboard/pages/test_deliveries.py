"""Deliveries: how subscriptions stand, what wasn't delivered, and having it sent again."""

from __future__ import annotations

from starlette.testclient import TestClient

from storebot.core.alerts.message import Channel, Message, Severity
from storebot.core.webhooks.answers import Answer
from storebot.core.webhooks.subscription import Subscription
from storebot.db import audit, deliveries, outbox, subscriptions
from storebot.db.database import Database
from storebot.db.dialects import now_ms
from storebot.db.outbox import Status
from storebot.db.schema import outbox as outbox_table
from tests.dashboard.asking import post
from tests.db.shop import STORE, Worker, listing, parsed


def subscribed(database: Database) -> int:
    """Have a receiver that refuses the one message that there is."""
    worker = Worker(database, announce_new=True)
    worker.discover("1")
    worker.save(*(parsed(target, listing("<b>Mug</b>")) for target in worker.pending()))
    with database.write() as conn:
        one = Subscription(0, "https://receiver.example/hook?token=secret", "HOOK_SECRET")
        one = one._replace(id=subscriptions.add(conn, one, by="test", after=0))
        batch = deliveries.next_batch(conn, one)
        assert batch is not None
        deliveries.put(conn, one, batch, now_ms(conn))
        waiting = deliveries.waiting(conn, one.id)
        assert waiting is not None
        deliveries.failed(conn, waiting, Answer(status=500), now_ms(conn), 0.0)
    return one.id


def last_deed(database: Database) -> audit.Deed:
    with database.read() as conn:
        return audit.listed(conn, {}, None, descending=True, limit=1)[0]


def test_a_receiver_that_does_not_take_messages_is_seen(client: TestClient, local_database: Database) -> None:
    number = subscribed(local_database)
    facts = client.get("/deliveries.json").json()
    (one,) = facts["subscriptions"]
    assert (one["id"], one["delivered"], one["dead"], one["waiting"]["attempts"]) == (number, 0, 0, 1)
    assert "secret" not in one["url"]
    (row,) = facts["list"]["rows"]
    assert (row["store"], row["status"], row["http_status"], row["attempts"]) == (STORE, "waiting", 500, 1)
    page = client.get("/deliveries").text
    assert "it doesn&#39;t take them" in page
    assert "Send again" in page


def test_messages_are_filtered(client: TestClient, local_database: Database) -> None:
    number = subscribed(local_database)
    for query, count in (
        (f"subscription={number}", 1),
        ("subscription=99", 0),
        ("status=dead", 0),
        (f"store={STORE}", 1),
    ):
        assert len(client.get(f"/deliveries.json?{query}").json()["list"]["rows"]) == count, query
    assert client.get("/deliveries.json?subscription=x").status_code == 400


def test_changes_are_sent_again(client: TestClient, local_database: Database) -> None:
    number = subscribed(local_database)
    post(client, f"/deliveries/{number}/replay", {"after": "0"}, page="/deliveries")
    deed = last_deed(local_database)
    assert (deed.verb, deed.result) == ("replay_deliveries", "done")
    assert deed.text.startswith("1 changes are looked through again")
    with local_database.read() as conn:
        assert deliveries.waiting(conn, number) is None  # made anew by who delivers
    for fields in ({"after": ""}, {"after": "-1"}, {"after": "9" * 30}):
        assert post(client, f"/deliveries/{number}/replay", fields).status_code == 400
    assert post(client, "/deliveries/99/replay", {"after": "0"}).status_code == 400


def test_alerts_that_were_given_up_are_tried_again(client: TestClient, local_database: Database) -> None:
    with local_database.write() as conn:
        outbox.put(conn, [Message(Channel.OPERATOR, "k", Severity.INFO, "t", "b")], [("r", "mailto")], now_ms(conn))
        conn.execute(outbox_table.update().values(status=Status.DEAD.value))
    assert "Alerts that were given up" in client.get("/deliveries").text
    post(client, "/deliveries/messages/retry", {}, page="/deliveries")
    assert last_deed(local_database).text.startswith("1 messages are tried again")
    with local_database.read() as conn:
        assert outbox.waiting(conn) == {Channel.OPERATOR}
