"""Workers that are killed at random do each job exactly once, on each backend.

`python -m bench jobs` does the same for a minute.
"""

from __future__ import annotations

import pytest

from bench.job_claims import measure
from tests.db.backends import backend, empty_url

__all__ = ["backend", "empty_url"]


@pytest.mark.parametrize(("workers", "kills"), [(2, 8), (8, 5)])
def test_each_job_is_done_once_by_workers_that_are_killed(empty_url: str, workers: int, kills: int) -> None:
    """Cases Q01, Q03."""
    found = measure(empty_url, workers=workers, job_count=200, kills=kills, kill_for_s=60, seed=7)
    assert found.wrong == []
    assert found.kills == kills
    assert found.claims >= 200
