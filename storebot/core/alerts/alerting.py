"""What the operator is told of what is wrong: once, again after a while, and that it is over.

Why so: docs/decisions/0039-alerts.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import NamedTuple

from storebot.core.alerts.finding import Finding, Kind
from storebot.core.alerts.message import Channel, Message, Severity, clock
from storebot.core.alerts.quiet import QuietHours
from storebot.core.pacing import as_duration

_MINUTE_MS, _HOUR_MS = 60_000, 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How often is told what. Times are milliseconds."""

    repeat_ms: int = 24 * _HOUR_MS  # 0: never again
    settle_ms: int = 15 * _MINUTE_MS  # so long it has to be gone before that is told
    flaps: int = 4  # comings within the window that are told one by one; beyond them it flaps
    window_ms: int = 6 * _HOUR_MS
    steady_ms: int = _HOUR_MS  # so long what flaps has to be there, or gone, before that is told
    quiet: QuietHours | None = None
    urgent: frozenset[Kind] = field(default_factory=frozenset)  # kinds that don't mind quiet hours
    zone: tzinfo = UTC  # in which messages tell the time

    def hushes(self, kind: Kind, now_ms: int) -> bool:
        """Whether a kind of thing isn't told now."""
        return self.quiet is not None and kind not in self.urgent and self.quiet.cover(now_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """What is known of one thing that is, or was of late, wrong. Times are milliseconds; 0 is never."""

    key: str
    kind: Kind
    store: str
    text: str
    advice: str
    since: int  # when it came
    gone_at: int = 0  # since when it isn't there; 0: it is
    told_at: int = 0  # the last message of this coming
    open: bool = True  # False: that it's over is told
    flapping: bool = False
    starts: tuple[int, ...] = ()  # when it came of late

    @property
    def subject(self) -> str:
        """The title of its messages."""
        return f"{self.store or 'storebot'}: {self.kind.headline}"


class Tended(NamedTuple):
    """What came of one look: all alerts that are still of interest, and what is to be said."""

    alerts: dict[str, Alert]
    messages: list[Message]


def tend(
    alerts: Mapping[str, Alert],
    findings: Iterable[Finding],
    now_ms: int,
    rules: Rules,
    undelivered: Collection[str] = (),
    unobserved: Collection[tuple[Kind, str]] = (),
    *,
    mute: bool = False,
) -> Tended:
    """Take what is wrong now, beside what was.

    ``undelivered`` are the keys of alerts whose last message still waits for its recipient: they aren't repeated. Of
    what is ``unobserved`` (kind and store) nobody could tell this time: it isn't over for that. ``mute``: there is
    nobody to tell; who comes later is told what is still wrong then.
    """
    there = {finding.key: finding for finding in findings}
    kept: dict[str, Alert] = {}
    messages: list[Message] = []
    for key in sorted(alerts.keys() | there.keys()):
        if key not in there and (alerts[key].kind, alerts[key].store) in unobserved:
            kept[key] = alerts[key]
            continue
        alert = _looked(alerts.get(key), there.get(key), now_ms, rules)
        if mute:
            alert = replace(alert, open=not alert.gone_at or now_ms - alert.gone_at < rules.settle_ms)
        elif not rules.hushes(alert.kind, now_ms):
            alert, said = _told(alert, now_ms, rules, waits=key in undelivered)
            messages += said
        if alert.open or alert.starts:
            kept[key] = alert
    return Tended(kept, messages)


def _looked(alert: Alert | None, finding: Finding | None, now_ms: int, rules: Rules) -> Alert:
    """Return the alert with what was seen of it now."""
    if finding is None:
        assert alert is not None
        starts = tuple(at for at in alert.starts if at > now_ms - rules.window_ms)
        return replace(alert, gone_at=alert.gone_at or now_ms, starts=starts)
    if alert is None:
        alert = Alert(
            key=finding.key, kind=finding.kind, store=finding.store, text="", advice="", since=now_ms, starts=(now_ms,)
        )
    alert = replace(alert, text=finding.text, advice=finding.advice)
    starts = tuple(at for at in alert.starts if at > now_ms - rules.window_ms)
    if not alert.gone_at:
        return replace(alert, starts=starts)
    returned = replace(alert, gone_at=0, starts=(*starts, now_ms))
    return returned if alert.open else replace(returned, since=now_ms, told_at=0, open=True, flapping=False)


def _told(alert: Alert, now_ms: int, rules: Rules, *, waits: bool) -> tuple[Alert, list[Message]]:
    """Return the alert after what is said of it now, and that."""
    if alert.gone_at:
        return _ended(alert, now_ms, rules)
    if alert.flapping:
        if now_ms - max(alert.starts, default=0) < rules.steady_ms:
            return alert, []
        steady = replace(alert, flapping=False, starts=alert.starts[-1:], told_at=now_ms)
        return steady, [_message(steady, " (to stay, it seems)", Severity.FAILURE, now_ms, rules)]
    if len(alert.starts) > rules.flaps:
        flapping = replace(alert, flapping=True, told_at=now_ms)
        return flapping, [
            _message(flapping, " (comes and goes)", Severity.WARNING, now_ms, rules, _flaps(alert, rules))
        ]
    if not alert.told_at:
        return replace(alert, told_at=now_ms), [_message(alert, "", Severity.FAILURE, now_ms, rules)]
    if rules.repeat_ms and now_ms - alert.told_at >= rules.repeat_ms and not waits:
        still = f" (for {as_duration((now_ms - alert.since) / 1000)})"
        return replace(alert, told_at=now_ms), [_message(alert, still, Severity.FAILURE, now_ms, rules)]
    return alert, []


def _ended(alert: Alert, now_ms: int, rules: Rules) -> tuple[Alert, list[Message]]:
    """Tell that it's over, when it has been for long enough; what nobody was told of in quiet hours is told once."""
    gone_ms = rules.steady_ms if alert.flapping else rules.settle_ms
    if not alert.open or now_ms - alert.gone_at < gone_ms:
        return alert, []
    ended = replace(alert, open=False, flapping=False)
    return ended, [_message(alert, " (over)", Severity.SUCCESS, now_ms, rules)]


def _message(alert: Alert, suffix: str, severity: Severity, now_ms: int, rules: Rules, more: str = "") -> Message:
    since = f"Since {clock(alert.since, rules.zone)}"
    if alert.gone_at:
        lines = [f"It was: {alert.text}", f"{since}, until {clock(alert.gone_at, rules.zone)}."]
    else:
        lines = [alert.text, *filter(None, [more]), f"{since}.", f"What to do: {alert.advice}"]
    return Message(Channel.OPERATOR, alert.key, severity, alert.subject + suffix, "\n".join(lines))


def _flaps(alert: Alert, rules: Rules) -> str:
    window, steady = as_duration(rules.window_ms / 1000), as_duration(rules.steady_ms / 1000)
    return (
        f"It came {len(alert.starts)} times in {window}. The next message comes when it has been there, or gone, for "
        f"{steady}."
    )
