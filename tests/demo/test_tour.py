"""The tour of ``make demo``: it keeps its promises, and says so where it doesn't."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from storebot.demo import tour


def ran(number: int, fetched: int, changes: int, *, not_modified: int = 0, rows: int | None = None) -> dict[str, Any]:
    """Return a run as ``scrapy report --json`` gives it."""
    outcomes = {"changed" if number > 1 else "new": fetched, "not_modified": not_modified, "held": 0}
    rows_written = changes if rows is None else rows
    return {"id": number, "outcomes": outcomes, "rows_written": rows_written, "change_events": changes}


KEPT = [ran(1, 500, 0, rows=560), ran(2, 11, 11), ran(3, 4, 4, not_modified=496), ran(4, 9, 9)]


def test_promises_are_kept_by_the_numbers_that_were_promised() -> None:
    assert tour._broken_promises(KEPT) == []


@pytest.mark.parametrize(
    ("number", "broken"),
    [
        (1, ran(1, 499, 0)),
        (1, ran(1, 500, 1)),
        (2, ran(2, 12, 11)),
        (2, ran(2, 11, 10, rows=11)),
        (3, ran(3, 4, 4, rows=500)),
    ],
)
def test_promise_that_is_broken_is_named_with_its_run(number: int, broken: dict[str, Any]) -> None:
    (sentence,) = tour._broken_promises([*KEPT[: number - 1], broken, *KEPT[number:]])
    assert sentence.startswith(f"run {number} fetched ")


def test_tour_of_a_small_store_ends_with_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "demo.db"
    database.write_bytes(b"of an earlier tour")
    monkeypatch.setattr(tour, "DATABASE", database)
    monkeypatch.setattr(tour, "PRODUCTS", 12)
    monkeypatch.setattr(tour, "CHANGES", (3,))
    assert tour.main() == 0
    out = capfd.readouterr().out
    assert "NOT AS PROMISED" not in out
    assert "naive: pages" in out
    assert "scrapy probe https://" in out
    assert "docs/adding-a-store.md" in out
    assert out.index("backfill: checked=12 updated=12") < out.index("refresh: checked=12 updated=3 skipped=9")
