"""Switches of the environment: words are read as they're meant, and others refused (case G02)."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SETTINGS = Path(__file__).resolve().parents[1] / "storebot" / "settings.py"


@pytest.mark.parametrize("name", ["STOREBOT_FAST", "STOREBOT_LOG_JSON"])
def test_a_switch_is_what_its_word_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for word, switched in {"false": False, "0": False, "no": False, "": False, "True": True, "1": True}.items():
        monkeypatch.setenv(name, word)
        assert runpy.run_path(str(SETTINGS))[name] is switched
    monkeypatch.setenv(name, "nope")
    with pytest.raises(ValueError, match=rf"{name}: expected one of 1, true, yes, on, 0, false, no, off, got 'nope'"):
        runpy.run_path(str(SETTINGS))
