"""Where the tests find the corpus of real inputs, which lies beside the checkout and is not part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def shared(name: str) -> Path:
    """Return the path of one file of the corpus, or skip the test, saying so, where the corpus isn't there."""
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"shared/data/{name} is not beside this checkout: the corpus of real inputs isn't published")
    return path
