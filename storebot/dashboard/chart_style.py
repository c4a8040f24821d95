"""How charts look: what each colour means, in light and dark, and the rules that pygal's own are replaced by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    "band": ("#d5eadd", "#1d3828"),  # grounds: light beside the lines on them
    "gap": ("#e6e8eb", "#2d343b"),
    "gone": ("#efe0f4", "#3a2a42"),
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
ID = "0"  # the picture is a document of its own: the same name for all
_NAME = f"chart-{ID}"  # as pygal makes it
_LEGEND_ROW = 20  # its height
_INK, _SOFT, _LINE = ("#1b1f1c", "#e7ece8"), ("#566058", "#a3aea6"), ("#d9ded9", "#333c37")


def config(roles: Sequence[str], narrow: bool, unit: str, grounds: Sequence[bool] = ()) -> dict[str, Any]:
    """Return pygal's options for series of these roles; ``grounds`` says which of them are areas."""
    most = 2 if narrow else 6
    forgotten = int(len(roles) % most > 0)  # pygal makes no room for a row of the legend that isn't full
    return {
        "js": [],  # no scripts
        "width": 420 if narrow else 860,
        "height": 300 if narrow else 260,
        "explicit_size": False,
        "legend_at_bottom": True,
        "legend_at_bottom_columns": most,
        "legend_box_size": 12,
        "margin": 8,
        "margin_bottom": 8 + _LEGEND_ROW * forgotten,
        "no_data_text": "nothing yet",
        "show_y_guides": True,
        "y_labels_major_count": 4,
        "show_minor_y_labels": False,
        "truncate_label": -1,
        "truncate_legend": -1,
        "value_formatter": lambda value: "" if value is None else f"{value:,.6g}{unit}",
        "css": ["file://style.css", "file://graph.css", f"inline:{_shapes(grounds)}", f"inline:{_dark(roles)}"],
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
        guide_stroke_dasharray="none",
        guide_stroke_color=_LINE[0],
        major_guide_stroke_dasharray="none",
        major_guide_stroke_color=_LINE[0],
        label_font_size=12,
        major_label_font_size=12,
        legend_font_size=12,
        no_data_font_size=16,
        opacity="1",
        opacity_hover="1",
        stroke_opacity="1",
        stroke_opacity_hover="1",
        transition="0s",
        colors=tuple(PALETTE[role][0] for role in roles) or ("#000",),
    )


def _shapes(grounds: Sequence[bool]) -> str:
    """Return the rules for lines: two wide, with round ends, so that a value seen once is a dot; areas have none.

    Each is as specific as the rule of pygal that it comes after.
    """
    rules = [
        f"#{_NAME} .axis .line {{ stroke: {_LINE[0]}; stroke-width: .7 }}",
        f"#{_NAME} .series .line.reactive.nofill {{ stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }}",
    ]
    rules += [
        f"#{_NAME} .serie-{place} .line.reactive {{ stroke: none }}" for place, ground in enumerate(grounds) if ground
    ]
    return " ".join(rules)


def _dark(roles: Sequence[str]) -> str:
    """Return the rules for readers who have it dark, each as specific as the rule for light that it replaces."""
    rules = [
        f"#{_NAME} .axis text, #{_NAME} .legends .legend text {{ fill: {_SOFT[1]} }}",
        f"#{_NAME} text.no_data, #{_NAME} .axis text.major {{ fill: {_INK[1]} }}",
        f"#{_NAME} .axis .line, #{_NAME} .axis .guide.line, #{_NAME} .axis .major.guide.line {{ stroke: {_LINE[1]} }}",
    ]
    for place, role in enumerate(roles):
        colour = PALETTE[role][1]
        rules.append(f"#{_NAME} .color-{place} {{ stroke: {colour}; fill: {colour} }}")
    return "@media (prefers-color-scheme: dark) { " + " ".join(rules) + " }"
