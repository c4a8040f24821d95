"""Metrics: what rows give them, how they're told, and that rules, dashboard and documentation name those there are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from storebot.core.alerts.alerting import Rules, tend
from storebot.core.alerts.message import Channel
from storebot.core.breaker import Breaker, State
from storebot.core.expect import Measures
from storebot.core.metrics import METRICS, Sample
from storebot.db import alerts, breakers, measuring, outbox, runs, spending
from storebot.db.database import Database
from storebot.db.dialects import now_ms
from storebot.items import Expense, Outcome, Outlay, PageType, RunStatus, Tier
from storebot.metrics import CACHED_S, Collector, read, registry, write_textfile
from tests.core.alerts.timeline import finding
from tests.db.backends import backend, database, kept_databases
from tests.db.shop import NOW, STORE, Worker
from tests.db.test_truth import visited
from tests.stores.writing import LEAST, written

__all__ = ["backend", "database", "kept_databases"]

ROOT = Path(__file__).resolve().parents[1]
RULES_FILE = ROOT / "deploy" / "prometheus" / "storebot-rules.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "storebot.json"
BY_NAME = {metric.name: metric for metric in METRICS}
_NAME = re.compile(r"\bstorebot_[a-z0-9_]+")
_LABEL = re.compile(r"(\w+)=~?\"")


def told(found: list[Sample]) -> dict[tuple[str, ...], float]:
    return {(sample.name.removeprefix("storebot_"), *sample.labels): sample.value for sample in found}


def fill(database: Database) -> None:
    """Make a run that ended, one page that is due, an open breaker, and some spending."""
    shop = Worker(database)
    shop.known("a", "b")
    with database.write() as conn:
        counts = {Outcome.NEW: 2, Outcome.ERROR: 1}
        measured = Measures(listings=2, elapsed_s=1)
        runs.finish(
            conn,
            shop.run.run_id,
            RunStatus.PARTIAL,
            "",
            outcomes=counts,
            change_events=4,
            measured=measured,
            missed=("few",),
        )
        breakers.record(conn, STORE, Breaker(State.OPEN, NOW, NOW, 1, "503"))
        spent = Expense(requests=3, size_bytes=500, cost_micro=250_000)
        outlay = Outlay(store=STORE, at_ms=now_ms(conn), tier=Tier.API, page_type=PageType.PRODUCT, expense=spent)
        spending.add(conn, STORE, {Tier.API: "EUR"}, [outlay])


def test_rows_become_samples_of_known_metrics(database: Database) -> None:
    fill(database)
    with database.read() as conn:
        found = list(measuring.samples(conn, NOW + 400 * 86_400_000))
    values = told(found)
    assert values[("runs_total", STORE, "refresh", "partial")] == 1
    assert values[("last_run_visits", STORE, "refresh", "error")] == 1
    assert values[("last_run_expectations_missed", STORE, "refresh")] == 1
    assert values[("changes_total", STORE)] == 4
    assert values[("pages", STORE, "parsed")] == values[("pages_due", STORE)] == values[("listings", STORE)] == 2
    assert values[("breaker_open", STORE)] == 1
    assert values[("requests_total", STORE, "api", "product")] == 3
    assert values[("cost_total", STORE, "api", "EUR")] == 0.25
    assert values[("jobs_overdue",)] == 0
    assert len(values) == len(found), "no series twice"
    for sample in found:
        assert len(sample.labels) == len(BY_NAME[sample.name].labels), sample.name


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_planners_truth_alerts_and_the_outbox_are_in_them(database: Database) -> None:
    with database.read() as conn:
        now = now_ms(conn)
    visited(database, Outcome.CHANGED, Outcome.UNCHANGED, Outcome.UNCHANGED, at=now, store=STORE)
    with database.write() as conn:
        tended = tend({}, [finding(store=STORE)], NOW, Rules())
        alerts.save(conn, {}, tended.alerts)
        outbox.put(conn, tended.messages, [("ann", "json")], NOW)
        (letter,) = outbox.due(conn, Channel.OPERATOR, "ann", NOW, 1)
        outbox.failed(conn, letter, "HTTP 500", NOW)
        values = told(list(measuring.samples(conn, now_ms(conn))))
    assert values[("alerts_open", "breaker", STORE)] == 1
    assert values[("outbox_messages", "operator", "waiting")] == 1
    assert values[("outbox_oldest_timestamp_seconds", "operator", "json")] == NOW / 1000
    assert 0 <= values[("stale_ratio", STORE, "low")] < values[("stale_ratio", STORE, "estimate")]
    assert values[("stale_ratio", STORE, "estimate")] < values[("stale_ratio", STORE, "high")] <= 1
    assert {key[2] for key in values if key[0] == "signal_trusted"} == {"lastmod", "validators", "cards"}


@pytest.fixture
def url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    database = Database.open(url)
    fill(database)
    database.dispose()
    return url


def test_a_textfile_is_whole_and_says_the_budget_and_the_disk(tmp_path: Path, url: str) -> None:
    written(tmp_path, f"{LEAST}[budget.month]\nrequests = 12\n", STORE)
    path = tmp_path / "textfiles" / "storebot.prom"
    write_textfile(path, registry(lambda: read(url, [str(tmp_path)], {"database": tmp_path})))
    families = {family.name: family for family in text_string_to_metric_families(path.read_text(encoding="utf-8"))}
    assert families["storebot_budget_used_ratio"].samples[0][1:3] == ({"store": STORE, "resource": "requests"}, 0.25)
    assert families["storebot_disk_free_bytes"].samples[0].value > 0
    assert families["storebot_runs"].type == "counter"
    assert {path.name for path in path.parent.iterdir()} == {"storebot.prom"}
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_database_that_is_not_there_is_told_by_up(tmp_path: Path) -> None:
    text = generate_latest(registry(lambda: read(f"sqlite:///{tmp_path / 'none.db'}", [], {}))).decode()
    assert "\nstorebot_up 0.0\n" in text
    assert "runs" not in text


def test_the_database_is_not_read_for_each_scrape() -> None:
    clock, reads = [0.0], []

    def reading() -> list[Sample]:
        reads.append(clock[0])
        return [Sample("storebot_up", (), 1)]

    collector = Collector(reading, lambda: clock[0])
    for clock[0] in (0.0, 1.0, CACHED_S, CACHED_S + 1):
        assert [family.name for family in collector.collect()] == ["storebot_up"]
    assert reads == [0.0, CACHED_S]


def expressions(value: Any) -> list[str]:
    """Return what stands under ``expr`` or ``query`` anywhere in a document."""
    if isinstance(value, list):
        return [found for one in value for found in expressions(one)]
    if not isinstance(value, dict):
        return []
    own = [value[name] for name in ("expr", "query") if isinstance(value.get(name), str)]
    return own + [found for one in value.values() for found in expressions(one)]


@pytest.mark.parametrize("path", [RULES_FILE, DASHBOARD], ids=lambda path: path.name)
def test_rules_and_dashboard_ask_for_metrics_and_labels_that_there_are(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    document = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    asked = expressions(document)
    assert len(asked) > 10
    for expression in asked:
        names = set(_NAME.findall(expression))
        assert names <= BY_NAME.keys(), expression
        known = {label for name in names for label in BY_NAME[name].labels}
        assert set(_LABEL.findall(expression)) <= known, expression


def test_rules_are_valid_and_each_says_what_to_do() -> None:
    rules = [rule for group in yaml.safe_load(RULES_FILE.read_text())["groups"] for rule in group["rules"]]
    for rule in rules:
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"].keys() == {"summary", "description"}
        templated = re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values()))
        known = {label for name in _NAME.findall(rule["expr"]) for label in BY_NAME[name].labels}
        assert set(templated) <= known, rule["alert"]
    if promtool := shutil.which("promtool"):
        subprocess.run([promtool, "check", "rules", str(RULES_FILE)], check=True, capture_output=True, timeout=60)


def test_panels_of_the_dashboard_stand_beside_each_other() -> None:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for place in (panel["gridPos"] for panel in panels):
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_every_metric_is_documented() -> None:
    text = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    rows = [
        tuple(cell.strip() for cell in line.strip("|").split("|"))
        for line in text.splitlines()
        if line.startswith("| `storebot_")
    ]
    assert rows == [(f"`{one.name}`", ", ".join(one.labels) or "", one.help) for one in METRICS]
