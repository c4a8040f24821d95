"""A crawl by the browser tier survives its browser: the small version of ``python -m bench browser``."""

from __future__ import annotations

import pytest

from bench.browser import Sample, Survival, survive
from tests.vendors.chromium import chromium_path


@pytest.mark.timeout(400)  # a whole crawl, with six starts of a browser
def test_a_crawl_whose_browser_is_killed_three_times_gets_every_page() -> None:
    """Case W06, and the proof of the browser tier: 40 pages here, 2,000 in the benchmark."""
    chromium_path()
    # Between two kills no browser gets 30 pages: one that is replaced by itself at that moment isn't said to have died.
    found = survive(pages=40, kills=3, recycle_pages=30)
    assert found.exit_code == 0, found.log
    assert found.outcomes == {"new": 40}, found.log
    assert len(found.kills) == 3
    assert found.summary["status"] == "complete"
    assert found.log.count("the browser died") == 3
    assert found.left_over == 0
    assert max(sample.browser_mb for sample in found.samples) > 50


def test_memory_is_flat_where_the_second_half_holds_no_more() -> None:
    def crawl(*browser_mb: float) -> Survival:
        samples = [Sample(float(number), number * 10, 50, 50, held) for number, held in enumerate(browser_mb)]
        return Survival(pages=40, samples=samples)

    assert crawl(900, 100, 100, 110, 100).is_flat
    assert not crawl(10, 100, 100, 200, 100).is_flat
