"""What the operator is told, minute by minute: once, again, over; not in quiet hours, not each time it flaps."""

from __future__ import annotations

import time
from datetime import UTC

import pytest

from storebot.core.alerts.alerting import Rules, tend
from storebot.core.alerts.finding import Finding, Kind
from storebot.core.alerts.message import Severity
from storebot.core.alerts.quiet import QuietHours
from tests.core.alerts.timeline import BERLIN, MINUTE, at, finding, told

DAY = 24 * 60 * MINUTE
NIGHT = QuietHours.read("22:00-07:00", BERLIN)
RULES = Rules(zone=BERLIN)
OPEN = "acme: left alone (circuit breaker open)"


def test_it_is_told_once_then_daily_and_that_it_is_over() -> None:
    start = at("2026-06-01 10:00")
    said = told(start, start + 3 * DAY, lambda now: [finding()] if now < start + 2 * DAY + MINUTE else [], RULES)
    assert said == [
        ("01 10:00", OPEN),
        ("02 10:00", f"{OPEN} (for 24h)"),
        ("03 10:00", f"{OPEN} (for 48h)"),
        ("03 10:16", f"{OPEN} (over)"),
    ]


def test_a_message_says_what_since_when_and_what_to_do() -> None:
    start = at("2026-06-01 10:00")
    (message,) = tend({}, [finding()], start, RULES).messages
    assert message.body == "it says no\nSince 2026-06-01 10:00 CEST.\nWhat to do: wait"
    assert message.severity is Severity.FAILURE
    state = tend({}, [finding()], start, RULES).alerts
    state = tend(state, [], start + MINUTE, RULES).alerts
    (message,) = tend(state, [], start + 16 * MINUTE, RULES).messages
    assert message.body == "It was: it says no\nSince 2026-06-01 10:00 CEST, until 2026-06-01 10:01 CEST."


def test_two_findings_of_one_key_are_one_alert_and_its_newest_text_counts() -> None:
    start = at("2026-06-01 10:00")
    state = tend({}, [finding(text="a"), finding(text="b")], start, RULES)
    assert [message.body.splitlines()[0] for message in state.messages] == ["b"]
    again = tend(state.alerts, [finding(text="c")], start + MINUTE, RULES)
    assert (again.messages, again.alerts["breaker acme"].text) == ([], "c")


def test_what_flaps_is_told_a_few_times_and_then_when_it_is_steady() -> None:
    """Case N03: in and out each two minutes, for an hour."""
    start = at("2026-06-01 10:00")

    def wrong(now: int) -> list[Finding]:
        minute = (now - start) // MINUTE
        return [finding()] if minute % 4 < 2 and minute < 60 else []

    said = told(start, start + DAY, wrong, RULES)
    assert said == [("01 10:00", OPEN), ("01 10:16", f"{OPEN} (comes and goes)"), ("01 11:58", f"{OPEN} (over)")]


def test_what_comes_each_half_hour_flaps_too_and_stays_at_last() -> None:
    start = at("2026-06-01 10:00")

    def wrong(now: int) -> list[Finding]:
        minute = (now - start) // MINUTE
        return [finding()] if minute % 30 < 5 or minute > 300 else []

    said = told(start, start + 8 * 60 * MINUTE, wrong, RULES)
    comings = [(came, f"{came[:-2]}{int(came[-2:]) + 20}") for came in ("01 10:00", "01 10:30", "01 11:00", "01 11:30")]
    assert said == [
        *(one for came, over in comings for one in ((came, OPEN), (over, f"{OPEN} (over)"))),
        ("01 12:00", f"{OPEN} (comes and goes)"),
        ("01 16:00", f"{OPEN} (to stay, it seems)"),
    ]


def test_quiet_hours_are_kept_and_what_was_meanwhile_is_told_after_them() -> None:
    rules = Rules(zone=BERLIN, quiet=NIGHT, urgent=frozenset({Kind.DISK}))
    start = at("2026-06-01 21:00")
    spans = {
        "a": (at("2026-06-01 21:30"), at("2026-06-01 23:00")),  # over within the night
        "b": (at("2026-06-01 23:00"), at("2026-06-02 01:00")),  # came and went in it
        "c": (at("2026-06-02 03:00"), at("2026-06-03 00:00")),  # still there
    }

    def wrong(now: int) -> list[Finding]:
        found = [finding(store=name) for name, (since, until) in spans.items() if since <= now < until]
        return [*found, *([finding(Kind.DISK)] if now == at("2026-06-02 04:00") else [])]

    said = told(start, at("2026-06-02 08:00"), wrong, rules)
    tail = OPEN.removeprefix("acme")
    assert said == [
        ("01 21:30", f"a{tail}"),
        ("02 04:00", "acme: the disk is nearly full"),
        ("02 04:16", "acme: the disk is nearly full (over)"),
        ("02 07:00", f"a{tail} (over)"),
        ("02 07:00", f"b{tail} (over)"),
        ("02 07:00", f"c{tail}"),
    ]


@pytest.mark.parametrize(
    ("evening", "hours"), [("2026-03-28 22:00", 8), ("2026-10-24 22:00", 10), ("2026-06-01 22:00", 9)]
)
def test_quiet_hours_end_by_the_clock_on_the_wall_when_clocks_change(evening: str, hours: int) -> None:
    start = at(evening)
    covered = [minute for minute in range(12 * 60) if NIGHT.cover(start + minute * MINUTE)]
    assert covered == [*range(hours * 60)]


def test_the_clock_of_the_machine_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case I04: a worker in Tokyo and one in UTC keep the same hours."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert NIGHT.cover(at("2026-06-01 23:00"))
        assert not NIGHT.cover(at("2026-06-01 08:00"))
    finally:
        monkeypatch.undo()
        time.tzset()


def test_quiet_hours_may_lie_within_a_day() -> None:
    noon = QuietHours.read("12:00-13:30", UTC)
    times = {text: noon.cover(at(f"2026-06-01 {text}", UTC)) for text in ("11:59", "12:00", "13:29", "13:30")}
    assert times == {"11:59": False, "12:00": True, "13:29": True, "13:30": False}
    for text in ("22-7", "24:00-07:00", "07:00-07:00", ""):
        with pytest.raises(ValueError, match="expected"):
            QuietHours.read(text, UTC)


def test_what_waits_for_its_recipient_is_not_repeated() -> None:
    start = at("2026-06-01 10:00")
    back = start + 2 * DAY + 5 * MINUTE
    said = told(
        start, start + 3 * DAY, lambda now: [finding()], RULES, lambda now: ["breaker acme"] if now < back else []
    )
    assert said == [("01 10:00", OPEN), ("03 10:05", f"{OPEN} (for 48h5m)")]


def test_nothing_is_kept_of_what_is_long_over() -> None:
    start = at("2026-06-01 10:00")
    state = tend({}, [finding()], start, RULES).alerts
    for minute in range(1, 6 * 60 + 2):
        state = tend(state, [], start + minute * MINUTE, RULES).alerts
    assert state == {}


def test_what_nobody_could_look_at_is_not_over() -> None:
    start = at("2026-06-01 10:00")
    state = tend({}, [finding(), finding(store="b")], start, RULES).alerts
    for minute in range(1, 30):
        state = tend(state, [], start + minute * MINUTE, RULES, unobserved={(Kind.BREAKER, "acme")}).alerts
    assert {key: alert.open for key, alert in state.items()} == {"breaker acme": True, "breaker b": False}


def test_who_comes_later_is_told_what_is_still_wrong() -> None:
    start = at("2026-06-01 10:00")
    alerts, messages = tend({}, [finding(), finding(store="b")], start, RULES, mute=True)
    for minute in range(1, 30):
        alerts, more = tend(alerts, [finding()], start + minute * MINUTE, RULES, mute=True)
        messages += more
    assert messages == []
    (message,) = tend(alerts, [finding()], start + DAY, RULES).messages
    assert message.title == OPEN
