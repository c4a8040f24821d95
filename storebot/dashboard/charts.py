"""Charts as SVG, by pygal: each colour has a meaning, in light and dark, and each series a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pygal
from pygal.style import Style

# What a series means -> its colour in light and in dark.
PALETTE = {
    "good": ("#17683a", "#74d199"),
    "calm": ("#7fb89a", "#3f7a59"),  # as before: nothing changed
    "new": ("#0b5c8a", "#7cc4f0"),
    "warn": ("#c77d00", "#f0b75e"),
    "bad": ("#b3261e", "#ff9b92"),
    "idle": ("#8b949e", "#77818c"),
    "main": ("#0b5c8a", "#7cc4f0"),
    "second": ("#8a4f9e", "#d3a3e4"),
    "third": ("#a65a00", "#e8b27a"),
    "band": ("#cfe6d8", "#1f3d2b"),
}
OUTCOMES = {
    "new": "new",
    "changed": "good",
    "unchanged": "calm",
    "not_modified": "calm",
    "held": "warn",
    "missing": "second",
    "moved": "second",
    "skipped": "idle",
    "invalid": "third",
    "error": "bad",
    "blocked": "bad",
}
_INK, _SOFT, _LINE = ("#1b1f1c", "#e7ece8"), ("#566058", "#a3aea6"), ("#d9ded9", "#333c37")


class Series(NamedTuple):
    """One series: a value for each label, None where nothing is known. ``role`` is a key of `PALETTE`."""

    name: str
    role: str
    values: Sequence[float | None]


class Line(NamedTuple):
    """One line over time: (milliseconds, value); a value of None breaks it. ``filled``: down to the axis."""

    name: str
    role: str
    points: Sequence[tuple[int, float | None]]
    filled: bool = False


def stacked(labels: Sequence[str], series: Sequence[Series], *, narrow: bool = False, unit: str = "") -> bytes:
    """Return bars, those of one label on each other."""
    return _drawn(pygal.StackedBar, labels, series, narrow, unit)


def bars(labels: Sequence[str], series: Sequence[Series], *, narrow: bool = False, unit: str = "") -> bytes:
    """Return bars, those of one label side by side."""
    return _drawn(pygal.Bar, labels, series, narrow, unit)


def lines(labels: Sequence[str], series: Sequence[Series], *, narrow: bool = False, unit: str = "") -> bytes:
    """Return a line for each series, broken where a value is None."""
    return _drawn(pygal.Line, labels, series, narrow, unit, show_dots=len(labels) <= 40)


def timeline(found: Sequence[Line], *, narrow: bool = False, unit: str = "", least: float | None = None) -> bytes:
    """Return lines over time, point by point; for steps, give both ends of each step."""
    chart = pygal.XY(
        **_config([one.role for one in found], narrow, unit),
        show_dots=False,
        x_value_formatter=_day,
        xrange=None,
        allow_interruptions=True,
        **({"range": None} if least is None else {"zero": least}),
    )
    for one in found:
        points = [(at_ms / 1000, value) for at_ms, value in one.points]
        chart.add(one.name, points, fill=one.filled, allow_interruptions=True)
    return _svg(chart)


def _drawn(
    kind: Any, labels: Sequence[str], series: Sequence[Series], narrow: bool, unit: str, **options: Any
) -> bytes:
    every = max(1, len(labels) // (6 if narrow else 15))
    chart = kind(
        **_config([one.role for one in series], narrow, unit),
        x_labels_major_every=every,
        show_minor_x_labels=False,
        **options,
    )
    chart.x_labels = list(labels)
    for one in series:
        chart.add(one.name, list(one.values), allow_interruptions=True)
    return _svg(chart)


def _svg(chart: Any) -> bytes:
    made: bytes = chart.render()
    return made


def _config(roles: Sequence[str], narrow: bool, unit: str) -> dict[str, Any]:
    return {
        "js": [],  # no scripts
        "width": 420 if narrow else 860,
        "height": 300 if narrow else 260,
        "explicit_size": False,
        "legend_at_bottom": True,
        "legend_at_bottom_columns": 2 if narrow else 6,
        "legend_box_size": 12,
        "margin": 8,
        "no_data_text": "nothing yet",
        "show_y_guides": True,
        "y_labels_major_count": 4,
        "show_minor_y_labels": False,
        "truncate_label": -1,
        "truncate_legend": -1,
        "value_formatter": lambda value: "" if value is None else f"{value:,.6g}{unit}",
        "css": ["file://style.css", "file://graph.css", f"inline:{_dark(roles)}"],
        "style": _style(roles),
    }


def _style(roles: Sequence[str]) -> Style:
    return Style(
        background="transparent",
        plot_background="transparent",
        foreground=_SOFT[0],
        foreground_strong=_INK[0],
        foreground_subtle=_LINE[0],
        font_family='system-ui, "DejaVu Sans", sans-serif',
        label_font_size=12,
        major_label_font_size=12,
        legend_font_size=12,
        no_data_font_size=16,
        opacity="1",
        opacity_hover="1",
        transition="0s",
        colors=tuple(PALETTE[role][0] for role in roles) or ("#000",),
    )


def _dark(roles: Sequence[str]) -> str:
    """Return the rules for readers who have it dark, as text between the quotes of a style element."""
    rules = [
        f".axis text, .legend text, text.no_data {{ fill: {_SOFT[1]} }}",
        f".axis text.major {{ fill: {_INK[1]} }}",
        f".axis .line, .axis .guide.line {{ stroke: {_LINE[1]} }}",
    ]
    for place, role in enumerate(roles):
        colour = PALETTE[role][1]
        rules.append(f".color-{place}, .color-{place} a:visited {{ stroke: {colour}; fill: {colour} }}")
    return "@media (prefers-color-scheme: dark) { " + " ".join(rules) + " }"


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
