"""Which generations go, and that their bodies go with them."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.archive.retention import DAY_MS, Mark, Retention, expired

NOW = 100 * DAY_MS
MARKS = [Mark(NOW - days * DAY_MS, content) for days, content in ((40, "a"), (30, "a"), (20, "b"), (1, "b"))]


@pytest.mark.parametrize(
    ("retention", "gone"),
    [
        (Retention(), []),
        (Retention(last=1), [0, 1, 2]),
        (Retention(last=2), [0, 1]),
        (Retention(days=25), [0, 1]),
        (Retention(changed=True), [1]),
        (Retention(last=1, changed=True), [1]),
        (Retention(days=0), [0, 1, 2]),
    ],
    ids=["no rule keeps all", "last 1", "last 2", "days", "changed", "rules add up", "the newest never goes"],
)
def test_a_generation_goes_when_no_rule_asks_for_it(retention: Retention, gone: list[int]) -> None:
    assert expired(MARKS, retention, NOW) == [MARKS[place].fetched_at_ms for place in gone]


@pytest.mark.parametrize("wrong", [{"last": 0}, {"days": -1}])
def test_a_rule_that_would_keep_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Retention(**wrong)


def test_what_the_record_was_read_from_never_goes_however_many_came_since() -> None:
    marks = [Mark(1, "a"), Mark(2, "a"), Mark(3, "x"), Mark(4, "x"), Mark(5, "x")]
    assert expired(marks, Retention(last=1), NOW, record_at_ms=2) == [1]
    assert expired(marks, Retention(last=1), NOW, record_at_ms=None) == [1, 2, 3, 4]
