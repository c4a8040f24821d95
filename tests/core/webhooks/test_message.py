"""Which changes make one message."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.webhooks.message import MOST_BYTES, cut, message_id
from storebot.core.webhooks.subscription import Subscription, Wanted, check_url
from storebot.exceptions import ConfigurationError


def change(seq: int, field: str = "price_minor", after: Any = 1, **values: Any) -> dict[str, Any]:
    fields = [{"field": field, "before": None, "after": after}]
    return {"seq": seq, "id": f"id{seq}", "store": "acme", "type": "changed", "fields": fields, **values}


def subscription(most: int = 100, **wanted: Any) -> Subscription:
    return Subscription(1, "https://x.example", "X", Wanted(**wanted), most)


def test_a_message_ends_at_its_number_of_changes_and_passes_what_is_not_wanted() -> None:
    changes = [change(1, "name"), change(2), change(3, type="new"), change(4), change(5, "name"), change(6)]
    found = cut(subscription(2, types=("changed",), fields=("price_minor",)), changes)
    assert [one["seq"] for one in found.changes] == [2, 4]
    assert found.through == 5, "the sixth begins the next"
    assert cut(subscription(fields=("brand",)), changes) == ([], 6)


def test_a_message_is_bounded_and_a_change_that_is_too_large_goes_alone() -> None:
    large = "\ud83d" + "x" * MOST_BYTES
    changes = [change(1), change(2, after=large), change(3)]
    for seq in (1, 2, 3):
        found = cut(subscription(), changes[seq - 1 :])
        assert [one["seq"] for one in found.changes] == [seq]
        assert found.through == seq


def test_an_id_stands_for_its_receiver_and_its_changes() -> None:
    ids = {message_id(number, changes) for number in (1, 2) for changes in ([change(1)], [change(1), change(2)])}
    assert len(ids) == 4
    assert message_id(1, [change(1)]) == message_id(1, [change(1)])


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://x.example/", "expected the https://"),
        ("https:///hook", "expected the https://"),
        ("https://x.example/a b", "without spaces"),
        ("https://x.example:99999/", "expected the https://"),
        ("https://ann:hunter2@x.example/", "a user or password"),
        ("http://x.example/", "--allow-private"),
    ],
)
def test_an_address_that_nothing_may_be_sent_to_is_refused(url: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why) as caught:
        check_url(url, allow_private=False)
    assert "hunter2" not in str(caught.value)
