"""The extraction benchmark: every reader reads every page, and a promise is judged where that can be done."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import extraction
from bench.extraction import Cost, available_readers, page_sets


@pytest.fixture(autouse=True)
def _few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "DEMO_PAGES", 2)
    monkeypatch.setattr(extraction, "_CORPUS", Path("not-beside-this-checkout"))


def test_the_demo_pages_hold_a_product_in_every_markup() -> None:
    sets = page_sets()
    assert {name: len(saved) for name, saved in sets.items()} == dict.fromkeys(
        ("demo jsonld", "demo microdata", "demo plain"), 2
    )
    full = dict(available_readers())["storebot, full"]
    for saved in sets.values():
        assert all(full(page).extracted for page in saved)  # type: ignore[attr-defined]


def test_the_second_reading_of_a_json_ld_page_finds_it_unchanged() -> None:
    unchanged = dict(available_readers())["storebot, unchanged"]
    page = page_sets()["demo jsonld"][0]
    assert not unchanged(page).unchanged  # type: ignore[attr-defined]
    assert unchanged(page).unchanged  # type: ignore[attr-defined]


def test_a_run_prints_a_row_for_each_reader(capsys: pytest.CaptureFixture[str]) -> None:
    extraction.extraction(rounds=1, write=False)
    printed = capsys.readouterr().out
    assert all(f"| {name}" in printed for name, _ in available_readers())


@pytest.mark.parametrize(("ours", "kept"), [(1.0, True), (1.1, False)])
def test_a_third_of_extruct_is_the_limit(ours: float, kept: bool) -> None:
    costs = [
        Cost("storebot, full", "demo jsonld", (ours, ours)),
        Cost("extruct, the same four syntaxes", "demo jsonld", (3.0, 3.0)),
    ]
    text, judged = extraction._promises(costs)
    assert judged is kept
    assert ("MISSED" in text) is not kept


def test_without_extruct_the_promise_is_not_called_kept_silently() -> None:
    text, _ = extraction._promises([Cost("storebot, full", "demo jsonld", (1.0,))])
    assert "not measured" in text
