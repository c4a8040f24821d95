"""Signatures against the official library, which makes and reads them, too."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from storebot.core.export.cells import jsonable
from storebot.core.webhooks.message import body
from storebot.core.webhooks.signing import read_secrets, signed
from storebot.exceptions import ConfigurationError
from tests.webhooks.receiving import OTHER_SECRET, SECRET

BODY = '{"name":"Größe 😀"}'
NASTY = st.text(st.characters(exclude_categories=()), max_size=60)


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


@given(NASTY, NASTY)
@example("=1+1\x00\r\n\u202e😀", "\ud83d" * 40_000)
def test_any_text_is_signed_and_read_by_the_official_library_as_it_is(before: str, after: str) -> None:
    """But for half a pair of surrogates, which UTF-8 can't hold."""
    fields = [{"field": "name", "before": before, "after": after}]
    change = {
        "id": "c1",
        "seq": 1,
        "store": "acme",
        "type": "changed",
        "at": "2026-11-30T08:00:00.000Z",
        "fields": fields,
    }
    content = body([change])
    headers = signed("msg_1", int(datetime.now(UTC).timestamp()), content, read_secrets("NAME", SECRET))
    read = Webhook(SECRET).verify(content, headers)
    assert read["data"]["changes"] == [jsonable(change)]
    (field,) = read["data"]["changes"][0]["fields"]
    surrogates = {chr(code) for code in range(0xD800, 0xE000)}
    assert [field["before"], field["after"]] == [
        "".join("\ufffd" if one in surrogates else one for one in text) for text in (before, after)
    ]
