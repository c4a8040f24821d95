"""Signatures against the official library, which makes and reads them, too."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from storebot.core.webhooks.signing import read_secrets, signed
from storebot.exceptions import ConfigurationError
from tests.webhooks.receiving import OTHER_SECRET, SECRET

BODY = '{"name":"Größe 😀"}'


def test_a_signature_is_the_one_that_the_official_library_makes() -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    headers = signed("msg_1", int(now.timestamp()), BODY.encode(), read_secrets("NAME", SECRET))
    assert headers["webhook-signature"] == Webhook(SECRET).sign("msg_1", now, BODY)


def test_both_secrets_verify_while_one_is_replaced_and_no_third_one() -> None:
    headers = signed(
        "msg_1", int(datetime.now(UTC).timestamp()), BODY.encode(), read_secrets("N", f"{SECRET}\n{OTHER_SECRET}")
    )
    for secret in (SECRET, OTHER_SECRET):
        assert Webhook(secret).verify(BODY, headers) == {"name": "Größe 😀"}
    with pytest.raises(Exception, match="No matching signature"):
        Webhook(base64.b64encode(b"x" * 32).decode()).verify(BODY, headers)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "isn't set"),
        ("hunter2-hunter2-hunter2-hunter2", "secret 1 isn't whsec_"),
        ("whsec_hunter2!", "secret 1 isn't"),
        (f"{SECRET} whsec_{base64.b64encode(b'hunter2').decode()}", "secret 2 isn't whsec_ and 24 to 64 bytes"),
    ],
)
def test_a_secret_that_is_none_is_refused_without_being_told(text: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why) as caught:
        read_secrets("NAME", text)
    assert str(caught.value).startswith("NAME")
    assert "hunter" not in str(caught.value)
    assert "aHVudGVy" not in str(caught.value)
