"""The metrics that storebot tells: their names are an interface, as docs/operating.md has them."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class MetricKind(StrEnum):
    """Whether a value only grows."""

    COUNTER = "counter"
    GAUGE = "gauge"


class Metric(NamedTuple):
    """One metric; a counter's name ends with ``_total``."""

    name: str
    labels: tuple[str, ...]
    help: str

    @property
    def kind(self) -> MetricKind:
        """What it is, by its name."""
        return MetricKind.COUNTER if self.name.endswith("_total") else MetricKind.GAUGE


class Sample(NamedTuple):
    """One value of a metric; ``labels`` are in the metric's order."""

    name: str
    labels: tuple[str, ...]
    value: float


_RUN = ("store", "kind")
METRICS = (
    Metric("storebot_up", (), "1 if the database could be read, else 0 and nothing else is there"),
    Metric("storebot_build_info", ("version", "revision"), "1; the version, and the revision of its tables"),
    Metric("storebot_disk_free_bytes", ("what",), "Free bytes where the database and the page archive are"),
    Metric("storebot_runs_total", (*_RUN, "status"), "Runs by how they ended; running ones included"),
    Metric("storebot_last_run_start_timestamp_seconds", _RUN, "When the last run that has ended began"),
    Metric("storebot_last_run_end_timestamp_seconds", _RUN, "When it ended"),
    Metric("storebot_last_run_duration_seconds", _RUN, "How long it took"),
    Metric("storebot_last_run_status", (*_RUN, "status"), "1; how it ended"),
    Metric("storebot_last_run_visits", (*_RUN, "outcome"), "What came of its visits"),
    Metric("storebot_last_run_changes", _RUN, "Change events that it published"),
    Metric("storebot_last_run_expectations_missed", _RUN, "What [expect] and the runs before expected of it in vain"),
    Metric("storebot_last_complete_run_timestamp_seconds", _RUN, "When the last complete run ended"),
    Metric("storebot_changes_total", ("store",), "Change events that runs published"),
    Metric("storebot_pages", ("store", "status"), "Pages by status"),
    Metric("storebot_pages_due", ("store",), "Pages whose next look is due"),
    Metric("storebot_listings", ("store",), "Listings on sale when the last run ended that was measured"),
    Metric("storebot_holds_open", ("store",), "Pages whose change the write gate holds"),
    Metric("storebot_holds_oldest_timestamp_seconds", ("store",), "Since when the oldest of them isn't published"),
    Metric("storebot_breaker_open", ("store",), "1 while the store is left alone"),
    Metric("storebot_requests_total", ("store", "tier", "page_type"), "Requests that were sent"),
    Metric("storebot_received_bytes_total", ("store", "tier", "page_type"), "Bytes that came in"),
    Metric("storebot_browser_seconds_total", ("store", "tier"), "Time that pages were open in a browser"),
    Metric("storebot_cost_total", ("store", "tier", "currency"), "Money, by the price table of the store file"),
    Metric("storebot_budget_used_ratio", ("store", "resource"), "Share of the month's budget that is spent"),
    Metric("storebot_audits", ("store",), "Looks at pages that were picked at random, in the last 30 days"),
    Metric("storebot_audits_stale", ("store",), "How many of these weren't any more as they were saved"),
    Metric("storebot_stale_ratio", ("store", "bound"), "Their share, and its 95 % interval: estimate, low, high"),
    Metric("storebot_signal_trusted", ("store", "signal"), "1 where lastmod, validators (304) or cards are believed"),
    Metric("storebot_lastmod_lift_ratio", ("store",), "Share of the moved lastmods that stood for a change"),
    Metric("storebot_lastmod_recall_ratio", ("store",), "Share of the changes that moved a lastmod"),
    Metric("storebot_validators_audited", ("store",), "304 answers that were audited"),
    Metric("storebot_validators_lies", ("store",), "How many of these were lies"),
    Metric("storebot_plan_changes_expected", ("store",), "Changes that the last plan expected to find"),
    Metric("storebot_plan_changes_found", ("store",), "Changes that were found by it"),
    Metric("storebot_jobs", ("kind", "status"), "Jobs by status"),
    Metric("storebot_jobs_overdue", (), "Jobs that no worker took for 15 minutes"),
    Metric("storebot_alerts_open", ("kind", "store"), "1 for each alert that is open"),
    Metric("storebot_outbox_messages", ("channel", "status"), "Messages to people: waiting, sent, dead"),
    Metric("storebot_outbox_oldest_timestamp_seconds", ("channel", "service"), "Since when one waits in vain"),
)
