"""Messages by Apprise to a real mail server, and to an HTTP receiver that is down and comes back; and no secrets."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import requests

from storebot.core.alerts.message import Channel, Message, Severity
from storebot.db import outbox
from storebot.db.database import Database
from storebot.exceptions import ConfigurationError
from storebot.items import RunStatus
from storebot.notify.alerts_file import AlertsFile
from storebot.notify.recipients import Recipient, read_recipients
from storebot.notify.sending import deliver
from storebot.notify.tending import Tending, tend
from tests.core.alerts.timeline import MINUTE, at
from tests.notify.receiving import http_receiver, smtp_receiver
from tests.notify.standing import STORE, ran
from tests.stores.writing import LEAST, written

NAME = "USB_C hub [2*4] <b>&"
BODY = f"{NAME}: 1.00 → 0.90 €\n  https://s.example/p/usb_c?x_y=1&a=b"
MESSAGE = Message(Channel.OPERATOR, "k", Severity.WARNING, f"acme: {NAME}", BODY)


def recipient(url: str) -> Recipient:
    return read_recipients({"STOREBOT_ALERTS_OPERATOR": url})[Channel.OPERATOR][0]


def test_a_mail_arrives_whole() -> None:
    with smtp_receiver() as (port, mails):
        url = f"mailto://127.0.0.1:{port}?from=storebot@s.example&to=ann@s.example&mode=insecure"
        assert deliver(recipient(url), MESSAGE) == ""
    (mail,) = mails
    assert mail["Subject"] == MESSAGE.title
    assert mail["To"] == "ann@s.example"
    plain = mail.get_body(("plain",))
    html = mail.get_body(("html",))
    assert plain is not None or html is not None
    text = plain.get_content() if plain else html.get_content()  # type: ignore[union-attr]  # one of the two is there
    assert ("USB_C hub [2*4] <b>&: 1.00 → 0.90 €" in text) or ("USB_C hub [2*4] &lt;b&gt;&amp;: 1.00 → 0.90 €" in text)


def test_a_channel_that_is_down_gets_its_messages_when_it_comes_back(database: Database, tmp_path: Path) -> None:
    written(tmp_path, LEAST, STORE)
    noon = at("2026-06-01 12:00")
    with database.write() as conn:
        ran(conn, noon, RunStatus.BLOCKED, reason="it says no")
    with http_receiver() as before:
        port = before.port
    url = f"json://127.0.0.1:{port}/hook/SECRETTOKEN"
    recipients = {Channel.OPERATOR: (recipient(url),), Channel.BUSINESS: ()}
    tending = Tending(file=AlertsFile(), recipients=recipients, folders=(str(tmp_path),))
    assert tend(database, tending, at_ms=noon)[3:] == (0, 1)
    with http_receiver(port) as receiver:
        receiver.status = 429  # it's up, and wants fewer: case N03
        assert tend(database, tending, at_ms=noon + MINUTE)[3:] == (0, 1)
        receiver.status = 200
        assert tend(database, tending, at_ms=noon + 2 * MINUTE)[3:] == (0, 0)  # not before two minutes
        assert tend(database, tending, at_ms=noon + 3 * MINUTE)[3:] == (1, 0)
        assert tend(database, tending, at_ms=noon + 4 * MINUTE)[3:] == (0, 0)
    (got,) = receiver.got
    assert got["title"] == "acme: the shop blocks"
    assert "was blocked: it says no\nSince 2026-06-01 10:00 UTC.\nWhat to do: " in got["message"]
    assert receiver.paths == ["/hook/SECRETTOKEN"] * 2


def test_no_secret_is_in_an_error_a_log_or_the_database(
    database: Database, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Case N07: a webhook that answers 404, at DEBUG."""
    caplog.set_level(logging.DEBUG)
    with http_receiver() as receiver:
        receiver.status = 404
        one = recipient(f"json://user:PASSW%40RD@127.0.0.1:{receiver.port}/T000/SECRETTOKEN?+X-Key=HEADERTOKEN")
        error = deliver(one, MESSAGE)
    with database.write() as conn:
        outbox.put(conn, [MESSAGE], [(one.id, one.service)], 1)
        (letter,) = outbox.due(conn, Channel.OPERATOR, one.id, 1, 9)
        outbox.failed(conn, letter, error, 1)
        kept = repr(outbox.newest(conn, 9)) + repr(outbox.backlogs(conn))
    assert "404" in error
    out = capfd.readouterr()
    for secret in ("SECRETTOKEN", "T000", "PASSW", "HEADERTOKEN"):
        assert secret not in error + kept + caplog.text + out.out + out.err + repr(one) + str(one)


@pytest.mark.parametrize("text", ["nonsense", "https-typo://x", "json://ok.example  tgram://SECRETTOKEN"])
def test_a_url_that_apprise_does_not_know_is_refused_by_its_place_and_not_named(text: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        read_recipients({"STOREBOT_ALERTS_BUSINESS": text})
    assert f"STOREBOT_ALERTS_BUSINESS: number {len(text.split())} is no URL" in str(error.value)
    assert "SECRETTOKEN" not in str(error.value)


class _Answer:
    """An answer of requests, as Apprise reads it."""

    status_code, content, text = 200, b"ok", "ok"

    def json(self) -> dict[str, Any]:
        return {"ok": True}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("tgram://123456789:ABCdefghijklmnopqrstuvwxyz-1234567/12315544", "USB_C hub [2*4] &lt;b&gt;&amp;: 1.00"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "USB_C hub [2*4] &lt;b&gt;&amp;: 1.00"),
        ("discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js", r"USB\\_C hub [2\\*4] <b>&: 1.00"),
        ("gotify://s.example/tokentoken", "USB_C hub [2*4] <b>&: 1.00"),
    ],
    ids=["telegram", "slack", "discord", "gotify"],
)
def test_a_name_is_escaped_as_its_service_needs_it_and_no_further(url: str, shown: str) -> None:
    """Cases N01 and N02. These services are on other machines: what is sent is looked at where it leaves."""
    sent: list[str] = []

    def post(*args: object, **options: object) -> _Answer:
        sent.append(str(options.get("data") or options.get("json")))
        return _Answer()

    with mock.patch.object(requests, "post", post), mock.patch.object(requests, "request", post):
        deliver(recipient(url), MESSAGE)
    assert shown in sent[0]


def test_a_long_message_comes_in_parts_that_the_service_takes() -> None:
    lines = [f"acme: Product number {number}: price 2.00 → 1.00" for number in range(200)]
    sent: list[str] = []

    def post(*args: object, **options: Any) -> _Answer:
        sent.append(json.loads(options["data"])["text"])
        return _Answer()

    with mock.patch.object(requests, "post", post):
        telegram = recipient("tgram://123456789:ABCdefghijklmnopqrstuvwxyz-1234567/12315544")
        assert deliver(telegram, MESSAGE._replace(body="\n".join(lines))) == ""
    assert len(sent) > 1
    assert max(map(len, sent)) <= 4096, "https://core.telegram.org/bots/api#sendmessage"
    whole = " ".join(" ".join(sent).split())
    places = [whole.index(f"number {number}:") for number in range(200)]
    assert places == sorted(places)
