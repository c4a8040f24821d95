"""Whether somebody is told again of what is wrong, and when: the question of who was just woken up."""

from __future__ import annotations

from collections.abc import Sequence

from storebot.core.alerts.alerting import Alert, Rules
from storebot.core.alerts.message import clock
from storebot.core.pacing import as_duration


def telling(alerts: Sequence[Alert], rules: Rules, now_ms: int) -> list[str]:
    """Return a sentence for each alert that is open: what was told, and what will be."""
    return [f"{alert.kind.headline}: {_of(alert, rules, now_ms)}" for alert in alerts if alert.open]


def _of(alert: Alert, rules: Rules, now_ms: int) -> str:
    hushed = rules.quiet if rules.hushes(alert.kind, now_ms) else None
    until = f"quiet hours end at {hushed.end:%H:%M}" if hushed else ""
    if alert.gone_at:
        over = alert.gone_at + (rules.steady_ms if alert.flapping else rules.settle_ms)
        gone, told = clock(alert.gone_at, rules.zone), clock(max(over, now_ms), rules.zone)
        return f"gone since {gone}; that it's over is told at {told}"
    if alert.flapping:
        return f"it comes and goes; nothing is told until it's steady for {as_duration(rules.steady_ms / 1000)}"
    if not alert.told_at:
        return f"not told yet: {until}" if until else "not told yet: it is at the next look, within a minute"
    told = f"told {clock(alert.told_at, rules.zone)}"
    if not rules.repeat_ms:
        return f"{told}, and not again"
    again = max(alert.told_at + rules.repeat_ms, now_ms)
    return f"{told}; again at {clock(again, rules.zone)} if it's still so"
