"""The table as a picture: one bar a policy, as an SVG file that a browser and a repository page show."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

from bench import report
from bench.shop import ROOT

FILE = ROOT / "docs" / "freshness.svg"
_BAR, _GAP, _LEFT, _WIDTH, _TOP = 20, 8, 210, 420, 34


def draw(shares: Mapping[str, float], file: Path = FILE) -> None:
    """Write bars of shares (0 to 1), in their order."""
    height = _TOP + len(shares) * (_BAR + _GAP) + 10
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 70}" height="{height}" '
        'font-family="sans-serif" font-size="13" role="img">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-weight="bold">changes seen within a day, 10 % of the pages a day</text>',
    ]
    for place, (name, share) in enumerate(shares.items()):
        top = _TOP + place * (_BAR + _GAP)
        colour = "#1b7f5c" if name.startswith("full policy") else "#8aa4b8"
        lines += [
            f'<text x="{_LEFT - 8}" y="{top + 15}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{_LEFT}" y="{top}" width="{share * _WIDTH:.1f}" height="{_BAR}" fill="{colour}"/>',
            f'<text x="{_LEFT + share * _WIDTH + 6:.1f}" y="{top + 15}">{share:.1%}</text>',
        ]
    report.replace(file, "\n".join([*lines, "</svg>", ""]))
