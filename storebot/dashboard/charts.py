"""Charts as SVG, by pygal: each colour has a meaning, in light and dark, and each series a name of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pygal
from lxml import etree

from storebot.dashboard.chart_style import ID, OUTCOMES, PALETTE, config

__all__ = ["OUTCOMES", "PALETTE", "Line", "Series", "Step", "bars", "lines", "stacked", "steps", "timeline"]

# pygal finds its maps by an import hook of Python 2's kind, which each later import warns of; we draw none.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "PluginImportFixer"]

_HOURS_UNTIL_S = 3 * 86_400  # below it, the axis of time shows hours

Point = tuple[float, float | None]


class Series(NamedTuple):
    """One series: a value for each label, None where nothing is known. ``role`` is a key of `PALETTE`."""

    name: str
    role: str
    values: Sequence[float | None]


class Line(NamedTuple):
    """One line over time: (milliseconds, value); a value of None breaks it. ``filled``: an area, down to the axis."""

    name: str
    role: str
    points: Sequence[tuple[int, float | None]]
    filled: bool = False


class Step(NamedTuple):
    """A value that held from one time to another, both in milliseconds."""

    since: int
    until: int
    value: float


def stacked(labels: Sequence[str], series: Sequence[Series], *, narrow: bool = False, unit: str = "") -> bytes:
    """Return bars, those of one label on each other."""
    return _drawn(pygal.StackedBar, labels, series, narrow, unit)


def bars(labels: Sequence[str], series: Sequence[Series], *, narrow: bool = False, unit: str = "") -> bytes:
    """Return bars, those of one label side by side."""
    return _drawn(pygal.Bar, labels, series, narrow, unit)


def lines(labels: Sequence[str], series: Sequence[Series], *, narrow: bool = False, unit: str = "") -> bytes:
    """Return a line for each series, broken where a value is None."""
    return _drawn(pygal.Line, labels, series, narrow, unit, show_dots=len(labels) <= 40)


def steps(found: Iterable[Step]) -> list[tuple[int, float | None]]:
    """Return the points of a line that goes in steps; between steps that don't touch it is broken."""
    points: list[tuple[int, float | None]] = []
    for one in found:
        if points and points[-1][0] != one.since:
            points.append((points[-1][0], None))
        points += [(one.since, one.value), (one.until, one.value)]
    return points


def timeline(
    found: Sequence[Line],
    *,
    narrow: bool = False,
    unit: str = "",
    least: float | None = None,
    most: float | None = None,
) -> bytes:
    """Return lines over time, point by point (`steps` makes those of steps), from the value ``least`` to ``most``."""
    values = [value for one in found for _, value in one.points if value is not None]
    low = least if least is not None else min(values, default=0)
    high = most if most is not None else max(values, default=1)
    times = [at_ms / 1000 for one in found for at_ms, _ in one.points] or [0]
    first, last = min(times), max(*times, min(times) + 1)
    chart = pygal.XY(
        **config([one.role for one in found], narrow, unit, grounds=[one.filled for one in found]),
        show_dots=False,
        range=(low, high if high > low else low + 1),
        zero=low,
        allow_interruptions=True,
        xrange=(first, last),
        show_x_labels=len(times) > 1,
        x_value_formatter=_clock if last - first < _HOURS_UNTIL_S else _day,
        margin_right=45,  # half of the last label
    )
    if len(times) > 1:
        chart.x_labels = _ticks(first, last, 3 if narrow else 7)
    for one in found:
        points = _seen_once([(at_ms / 1000, value) for at_ms, value in one.points], (last - first) / 400)
        chart.add(one.name, _closed(points, low) if one.filled else points, fill=one.filled, allow_interruptions=True)
    return _svg(chart)


def _ticks(first: float, last: float, count: int) -> list[float]:
    return [first + (last - first) * place / (count - 1) for place in range(count)]


def _seen_once(points: Sequence[Point], width: float) -> list[Point]:
    """Give a value of one moment, between two breaks, so much of the axis that one sees it."""
    found = list(points)
    for place, (at, value) in enumerate(points):
        ends = place + 1 == len(points) or points[place + 1][1] is None
        begins = place < 2 or points[place - 2][1] is None
        if value is not None and begins and ends and place and points[place - 1] == (at, value):
            found[place - 1], found[place] = (at - width, value), (at + width, value)
    return found


def _closed(points: Sequence[Point], low: float) -> list[Point]:
    """Have each piece of an area begin and end at its lowest value: else it would be closed by a slope."""
    found: list[Point] = []
    for place, (at, value) in enumerate(points):
        if value is None:
            found.append((at, None))
            continue
        if place == 0 or points[place - 1][1] is None:
            found.append((at, low))
        found.append((at, value))
        if place == len(points) - 1 or points[place + 1][1] is None:
            found.append((at, low))
    return found


def _drawn(
    kind: Any, labels: Sequence[str], series: Sequence[Series], narrow: bool, unit: str, **options: Any
) -> bytes:
    every = max(1, len(labels) // (6 if narrow else 15))
    chart = kind(
        **config([one.role for one in series], narrow, unit),
        x_labels_major_every=every,
        show_minor_x_labels=False,
        **options,
    )
    chart.x_labels = list(labels)
    for one in series:
        chart.add(one.name, list(one.values), allow_interruptions=True)
    return _svg(chart)


def _svg(chart: Any) -> bytes:
    """Return the picture without the script that pygal puts into each: nothing runs it, and it's half of the bytes."""
    chart.uuid = ID
    root = chart.render_tree()
    for script in root.findall(".//{*}script"):
        script.getparent().remove(script)
    title = root.find("{*}title")
    if title is not None:
        root.remove(title)  # it says "Pygal"; the page says what it shows
    made: bytes = etree.tostring(root, encoding="utf-8", xml_declaration=True)
    return made


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%m-%d %H:%M")
