"""Samples to medians, ratios of paired rounds, and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from bench.roster import PEAK_RSS_LIMIT_MB, REFERENCE, Contender, Target
from bench.rounds import Sample

_BAR_CELLS = 30
_MB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """The median over the rounds in which both ran, and its quartiles."""

    median: float
    low: float
    high: float
    rounds: int

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}–{self.high:.2f})"


def of(samples: Iterable[Sample], name: str) -> dict[int, Sample]:
    """Return the samples of one contender by round."""
    return {sample.round: sample for sample in samples if sample.contender == name}


def ratio(samples: Sequence[Sample], who: str, over: str) -> Ratio | None:
    """Return how the CPU per page of one contender compares with another's, paired by round; None without a pair."""
    ours, theirs = of(samples, who), of(samples, over)
    pairs = [_ms(ours[number]) / _ms(theirs[number]) for number in ours.keys() & theirs.keys()]
    if not pairs:
        return None
    low, _, high = quantiles(pairs, n=4, method="inclusive") if len(pairs) > 1 else pairs * 3
    return Ratio(median=median(pairs), low=low, high=high, rounds=len(pairs))


def results(
    samples: Sequence[Sample], starts: Sequence[Sample], contenders: Sequence[Contender], absent: Mapping[str, str]
) -> str:
    """Return one row per contender; ``absent`` says of those without a sample why."""
    rows = []
    for contender in contenders:
        mine = of(samples, contender.name).values()
        if not mine:
            why = absent.get(contender.name, "no round was finished")
            rows.append([contender.what, "–", f"not measured: {why}", "", "", "", ""])
            continue
        start_s = median(sample.cpu_s for sample in of(starts, contender.name).values())
        rows.append(
            [
                contender.what,
                f"{median(map(_ms, mine)):.2f}",
                str(ratio(samples, contender.name, REFERENCE) or "–"),
                f"{start_s:.2f}",
                f"{median((sample.cpu_s - start_s) * 1000 / sample.pages for sample in mine):.2f}",
                f"{median(sample.pages / sample.wall_s for sample in mine):.0f}",
                f"{median(sample.peak_rss_bytes for sample in mine) / _MB:.0f}",
            ]
        )
    headers = ["crawler", "CPU ms/page", "× bare Scrapy (quartiles)", "start s", "ms after start", "pages/s", "peak MB"]
    return markdown(headers, rows)


def bars(samples: Sequence[Sample], contenders: Sequence[Contender]) -> str:
    """Return CPU per page as bars of text, the cheapest first."""
    costs = {}
    for contender in contenders:
        if mine := of(samples, contender.name):
            costs[contender.what] = median(_ms(sample) for sample in mine.values())
    if not costs:
        return ""
    most, width = max(costs.values()), max(map(len, costs))
    lines = [
        f"{what.ljust(width)}  {'█' * max(1, round(cost / most * _BAR_CELLS))} {cost:.2f} ms"
        for what, cost in sorted(costs.items(), key=lambda pair: pair[1])
    ]
    return "\n".join(["```text", *lines, "```"])


def targets(samples: Sequence[Sample], wanted: Sequence[Target]) -> tuple[str, bool]:
    """Return the promises beside what was measured, and whether all that could be judged are kept."""
    rows, kept = [], True
    for target in wanted:
        measured = ratio(samples, target.who, target.over)
        verdict = "not measured" if measured is None else "ok" if measured.median <= target.limit else "MISSED"
        kept &= verdict != "MISSED"
        rows.append([f"{target.who} / {target.over}", f"≤ {target.limit:.2f}", str(measured or "–"), verdict])
    for name in sorted({target.who for target in wanted}):
        if mine := of(samples, name):
            peak = max(sample.peak_rss_bytes for sample in mine.values()) / _MB
            verdict = "ok" if peak <= PEAK_RSS_LIMIT_MB else "MISSED"
            kept &= verdict != "MISSED"
            rows.append([f"{name}: peak MB", f"≤ {PEAK_RSS_LIMIT_MB}", f"{peak:.0f}", verdict])
    return markdown(["promise", "limit", "measured", ""], rows), kept


def markdown(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose columns are aligned in the source, too; numbers stand to the right."""
    widths = [max(len(row[column]) for row in (headers, *rows)) for column in range(len(headers))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (headers, *rows)]
    rule = " | ".join("-" * max(3, width - 1) + (":" if column else "-") for column, width in enumerate(widths))
    return "\n".join(f"| {line} |" for line in (lines[0], rule, *lines[1:]))


def _ms(sample: Sample) -> float:
    return sample.cpu_s * 1000 / sample.pages
