"""Metrics for Prometheus: served, or written into a file for node_exporter's textfile collector."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from storebot.core.metrics import METRICS, MetricKind, Sample
from storebot.core.month import Month
from storebot.db import measuring, spending, standing
from storebot.db.database import Database, now_ms
from storebot.db.types import Connection
from storebot.exceptions import ConfigurationError, DatabaseError
from storebot.stores import load_store

if TYPE_CHECKING:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
    from prometheus_client.registry import CollectorRegistry

CACHED_S = 15.0  # two servers that scrape don't read the database twice


def read(url: str, folders: Sequence[str], disks: Mapping[str, Path]) -> list[Sample]:
    """Return all samples; where the database can't be read, that alone and the disks."""
    found = [
        Sample("storebot_disk_free_bytes", (what,), shutil.disk_usage(path).free)
        for what, path in disks.items()
        if path.exists()
    ]
    try:
        database = Database.open(url, create=False)
        try:
            with database.explaining(), database.read() as conn:
                at = now_ms(conn)
                return [*found, *measuring.samples(conn, at), *_budgets(conn, folders, at)]
        finally:
            database.dispose()
    except DatabaseError:
        return [*found, Sample("storebot_up", (), 0)]


def _budgets(conn: Connection, folders: Sequence[str], at_ms: int) -> Iterable[Sample]:
    month = Month.at(at_ms)
    for name in standing.known_stores(conn):
        try:
            store = load_store(name, folders)
        except ConfigurationError:  # its file is gone, or broken: an alert says so
            continue
        if (limits := store.budget.month.limits).any:
            currency = store.costs.currency if store.costs else ""
            spent = spending.spent_on(conn, name, month.days, currency)
            for resource, share in limits.shares(spent).items():
                yield Sample("storebot_budget_used_ratio", (name, resource), share)


class Collector:
    """What prometheus_client asks for the metrics; the samples are kept for `CACHED_S`."""

    def __init__(self, read: Callable[[], list[Sample]], clock: Callable[[], float] = time.monotonic) -> None:
        self._read, self._clock = read, clock
        self._lock = threading.Lock()
        self._samples: list[Sample] = []
        self._read_at: float | None = None

    def collect(self) -> Iterable[CounterMetricFamily | GaugeMetricFamily]:
        """Return the metrics, each with its samples."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        with self._lock:
            if self._read_at is None or self._clock() - self._read_at >= CACHED_S:
                self._samples, self._read_at = self._read(), self._clock()
            samples = self._samples
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for metric in METRICS:
            kind = CounterMetricFamily if metric.kind is MetricKind.COUNTER else GaugeMetricFamily
            families[metric.name] = kind(metric.name, metric.help, labels=metric.labels)
        for sample in samples:
            families[sample.name].add_metric(sample.labels, sample.value)
        return [family for family in families.values() if family.samples]


def registry(read: Callable[[], list[Sample]]) -> CollectorRegistry:
    """Return a registry with the collector alone. Raises ConfigurationError where prometheus_client isn't installed."""
    try:
        from prometheus_client.registry import CollectorRegistry
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"{error}: metrics need it, pip install 'storebot[metrics]'") from error
    made = CollectorRegistry(auto_describe=False)
    made.register(Collector(read))
    return made


def write_textfile(path: Path, made: CollectorRegistry) -> None:
    """Write the metrics beside and rename, so that nobody reads half a file. Raises ConfigurationError."""
    from prometheus_client import write_to_textfile

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_to_textfile(str(path), made)
        os.chmod(path, 0o644)  # for node_exporter, which is another user
    except OSError as error:
        raise ConfigurationError(f"{path}: can't be written: {error.strerror or error}") from error
