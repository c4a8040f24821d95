"""A section of docs/benchmarks.md is replaced where it stands, and says nothing of whose machine it was."""

from __future__ import annotations

import json
import platform
from pathlib import Path

from bench.report import facts, machine, write


def test_a_section_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    write("crawl", "first", {"n": 1}, page)
    write("memory", r"flat \1", {"n": 2}, page)
    page.write_text(page.read_text() + "\nBy hand.\n")
    write("crawl", "second", {"n": 3}, page)
    text = page.read_text()
    assert "first" not in text
    assert text.index("second") < text.index(r"flat \1") < text.index("By hand.")
    assert json.loads((tmp_path / "benchmarks-crawl.json").read_text()) == {"n": 3}
    assert {path.name for path in tmp_path.iterdir()} == {
        "benchmarks.md",
        "benchmarks-crawl.json",
        "benchmarks-memory.json",
    }


def test_machine_facts_name_versions_but_neither_host_nor_folder() -> None:
    line = facts(machine())
    assert "scrapy 2.19" in line
    assert platform.node() not in line
    assert "/" not in line
