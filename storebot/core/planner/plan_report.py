"""What ``scrapy plan`` says: what a refresh would fetch and why, what it takes, and what it's expected to find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from storebot.core.costs import money
from storebot.core.month import day_name
from storebot.core.pacing import as_duration
from storebot.core.planner.allowance import DAY_MS
from storebot.core.planner.floor import Floor, days, refusal
from storebot.core.planner.lanes import Lane
from storebot.core.planner.prospect import Counts, Prospect
from storebot.core.planner.reasons import LANES
from storebot.core.planner.terms import Orders, Terms
from storebot.core.planner.truth import Truth
from storebot.core.sizes import size
from storebot.core.summary import table

_FIRST = "first pages"


class First(NamedTuple):
    """One of the pages that come first."""

    url: str
    lane: Lane
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    """All that is told of one plan."""

    store: str
    known: int  # pages that can be fetched
    orders: Orders
    terms: Terms | None  # None: nothing limits the run
    lanes: Mapping[Lane, int]  # product pages
    counts: Counts
    prospect: Prospect
    delay_s: float  # between two requests, as it is kept
    own_delay_s: float  # as the store file has it
    currency: str  # "": nothing is priced
    waiting: float  # pages with a change that nobody has seen, by the model
    found: float  # of these, where the plan looks
    truth: Truth
    first: Sequence[First]

    @property
    def floor(self) -> Floor | None:
        """The promise, if there is one."""
        return self.terms.floor if self.terms else None

    @property
    def refusal(self) -> str:
        """Why the refresh would be refused; "" where it isn't."""
        return refusal(self.floor) if self.floor is not None and self.terms and self.terms.is_refused else ""

    @property
    def share(self) -> float:
        """Share of the waiting changes that the plan finds."""
        return min(self.found / self.waiting, 1.0) if self.waiting > 0 else 1.0


def render(report: PlanReport) -> str:
    """Return the report for a person."""
    lines = [_title(report), ""]
    if report.refusal:
        return "\n".join([*lines, f"refused: {report.refusal}"])
    if report.terms is not None and report.terms.must_wait:
        return "\n".join([*lines, waits(report.terms)])
    lines += [_lanes(report), "", *_facts(report)]
    if report.first:
        lines += ["", _table_of_first(report)]
    return "\n".join(lines)


def waits(terms: Terms) -> str:
    """Return the sentence for a run that has too little of the day's budget yet to look at any page."""
    return (
        f"nothing is fetched yet: this run's share is {int(terms.allowance):,} requests, and finding pages alone takes "
        f"{terms.discovery:,}; the share is saved for the next run"
    )


def _title(report: PlanReport) -> str:
    orders, head = report.orders, f"{report.store}: {report.known:,} pages known"
    if orders.full:
        return f"{head}; plan=full: all of them are fetched, whatever it takes"
    if report.terms is None:
        return f"{head}; no budget, so all that is due is visited"
    if orders.once:
        return f"{head}; {orders.once:,} requests for this run"
    share = int(report.terms.allowance)
    return f"{head}; a budget of {orders.per_day:,} requests a day, of which this run has {share:,}"


def _lanes(report: PlanReport) -> str:
    rows = [["(discovery)", f"{report.counts.discovery:,}", "robots.txt, sitemaps, the first pages of the catalogue"]]
    if report.counts.views:
        rows.append([Lane.LISTING.value, f"{report.counts.views:,}", LANES[Lane.LISTING]])
    for lane in Lane:
        if count := report.lanes.get(lane, 0):
            rows.append([lane.value, f"{count:,}", LANES[lane]])
    rows.append(["total", f"{report.counts.requests:,}", ""])
    return table(["lane", "requests", "why"], rows)


def _facts(report: PlanReport) -> list[str]:
    facts = [f"takes: {_takes(report)}", f"finds: {_finds(report)}"]
    if report.floor is not None and report.terms is not None:
        facts.append(f"floor: {_kept(report.floor, report.terms)}")
    facts += [f"trust: {sentence}" for sentence in report.truth.trust.sentences()]
    if since_ms := report.truth.trust.since_ms:
        facts.append(f"       (learned since {day_name(since_ms // DAY_MS)})")
    facts.append(f"stale: {report.truth.stale_of_late()}")
    return facts


def _takes(report: PlanReport) -> str:
    took = report.prospect
    parts = [f"{took.requests:,} requests", f"{as_duration(took.seconds)} {_pace(report)}"]
    if not took.basis:
        return f"{', '.join(parts)}; bytes and money aren't known before the first visits"
    parts.insert(1, f"about {size(took.size_bytes)}")
    if report.currency:
        parts.append(f"{money(took.cost_micro)} {report.currency}")
    told = ", ".join(parts)
    if took.not_modified:
        told += f"; {took.not_modified:.0%} of the pages answer 304, as of late"
    return told


def _pace(report: PlanReport) -> str:
    if report.delay_s <= report.own_delay_s:
        return "at the store's delay"
    return f"at {report.delay_s:g} s a request (its robots.txt, or its answers, ask for more than delay_s)"


def _finds(report: PlanReport) -> str:
    if report.waiting < 0.05:
        return "no change is expected by now"
    return (
        f"{report.share:.0%} of the changes that wait to be seen ({report.found:,.1f} of {report.waiting:,.1f} pages); "
        "this is the model's word, the audits below are what was found"
    )


def _kept(floor: Floor, terms: Terms) -> str:
    return (
        f"every page is looked at within {days(floor.max_age_h)}, which takes {terms.sweep:.0%} of the requests for "
        f"pages; this budget could promise {days(floor.shortest_h, up=True)}"
    )


def _table_of_first(report: PlanReport) -> str:
    rows = [[one.url, one.lane.value, one.reason] for one in report.first]
    return table([_FIRST, "lane", "why"], rows)


def as_json(report: PlanReport) -> dict[str, Any]:
    """Return the report as one object; money is text, times are seconds."""
    took, floor, terms = report.prospect, report.floor, report.terms
    return {
        "store": report.store,
        "pages_known": report.known,
        "plan": "full" if report.orders.full else "due" if terms is None else "budget",
        "budget_per_day": report.orders.budget,
        "share": int(terms.allowance) if terms else None,
        "refused": report.refusal or None,
        "requests": took.requests,
        "discovery": report.counts.discovery,
        "views": report.counts.views,
        "lanes": {lane.value: report.lanes[lane] for lane in Lane if report.lanes.get(lane)},
        "bytes": took.size_bytes if took.basis else None,
        "not_modified": took.not_modified,
        "seconds": took.seconds,
        "delay_s": report.delay_s,
        "cost": money(took.cost_micro) if report.currency else None,
        "currency": report.currency or None,
        "waiting": report.waiting,
        "found": report.found,
        "caught": report.share,
        "floor": None
        if floor is None or terms is None
        else {
            "max_age_h": floor.max_age_h,
            "feasible": floor.is_feasible,
            "sweep": terms.sweep,
            "shortest_h": floor.shortest_h if floor.for_pages else None,
            "least_budget": floor.least_budget,
        },
        **report.truth.as_dict(),
        "first": [{"url": one.url, "lane": one.lane.value, "reason": one.reason} for one in report.first],
    }
