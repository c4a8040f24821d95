"""The archive benchmark: what it promises is judged for each shop, and a round of the demo store is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import archive
from bench.archive import Round, judged, shops


def made(shop: str = "demo store", **changed: float) -> Round:
    values = {
        "pages": 100,
        "html_bytes": 6_000,
        "file_bytes": 100,
        "keep_ms": 0.2,
        "crawl_s": 0.01,
        "reparse_s": 0.001,
    }
    return Round(shop=shop, **{**values, **changed})  # type: ignore[arg-type]


def test_promises_are_judged_by_the_medians_of_each_shop() -> None:
    text, kept = judged([made(), made(), made(keep_ms=9.0), made("another")])
    assert kept
    assert text.count("| ok") == 6


@pytest.mark.parametrize(
    "changed", [{"file_bytes": 200}, {"keep_ms": 0.31}, {"reparse_s": 0.0021}], ids=["size", "cost", "speed"]
)
def test_a_promise_that_is_missed_is_told(changed: dict[str, float]) -> None:
    text, kept = judged([made(), made("another", **changed)])
    assert not kept
    assert text.count("MISSED") == 1


def test_a_run_crawls_reads_again_and_prints_a_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(archive, "SITES", Path("not-beside-this-checkout"))
    assert shops() == ["demo store"]
    archive.archive(pages=12, rounds=1, write=False)
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| demo store")]
    assert row.split("|")[2].strip() == "12"
