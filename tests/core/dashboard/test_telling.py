"""Whether somebody is told again: in step with what `core.alerts.alerting` then does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, time

from storebot.core.alerts.alerting import Alert, Rules, tend
from storebot.core.alerts.finding import Finding, Kind
from storebot.core.alerts.quiet import QuietHours
from storebot.core.dashboard.telling import telling
from tests.core.alerts.timeline import at

HOUR, MINUTE = 3_600_000, 60_000
NOW = at("2026-06-01 12:00")
RULES = Rules()
FINDING = Finding(Kind.HELD, "7 pages are held.", "decide", "acme")


def opened(rules: Rules = RULES, now: int = NOW) -> Alert:
    return tend({}, [FINDING], now, rules).alerts["held acme"]


def test_what_was_told_is_told_again_when_the_repeat_is_due() -> None:
    alert = opened()
    (said,) = telling([alert], RULES, NOW + HOUR)
    assert said == "changes are held: told 2026-06-01 10:00 UTC; again at 2026-06-02 10:00 UTC if it's still so"
    due = NOW + 24 * HOUR
    assert not tend({alert.key: alert}, [FINDING], due - 1, RULES).messages
    assert tend({alert.key: alert}, [FINDING], due, RULES).messages


def test_without_a_repeat_nobody_is_told_again() -> None:
    assert telling([opened()], replace(RULES, repeat_ms=0), NOW + HOUR)[0].endswith("and not again")


def test_in_quiet_hours_it_waits_for_their_end() -> None:
    quiet = replace(RULES, quiet=QuietHours(time(9), time(18), UTC))
    assert telling([opened(quiet)], quiet, NOW)[0].endswith("not told yet: quiet hours end at 18:00")


def test_what_is_gone_is_told_once_it_has_settled() -> None:
    alert = opened()
    gone = tend({alert.key: alert}, [], NOW + HOUR, RULES).alerts[alert.key]
    (said,) = telling([gone], RULES, NOW + HOUR + MINUTE)
    assert "that it's over is told at 2026-06-01 11:15 UTC" in said
    assert tend({gone.key: gone}, [], NOW + HOUR + RULES.settle_ms, RULES).messages


def test_what_flaps_is_told_when_it_is_steady() -> None:
    assert "comes and goes" in telling([replace(opened(), flapping=True)], RULES, NOW)[0]


def test_what_is_over_and_told_is_not_spoken_of() -> None:
    assert telling([replace(opened(), open=False)], RULES, NOW) == []
