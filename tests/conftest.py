"""What holds for all tests: fuzz is the same on every run, long files come first, and failures are named at the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

# The folders with the longest files, the longest first: `make test` gives whole files to its workers in this order, so
# that none of them has one left when the others are done.
_FIRST = ("live", "crawls", "middlewares", "bench", "reparse", "fetch", "fuzz", "spiders", "commands", "demo")
_FEW = 12  # failures that pytest's own summary, a line each, shows on one page of CI's


def pytest_configure() -> None:
    hypothesis.settings.load_profile("ci")  # no dice and no deadline, here as there


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    root = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        folder = item.path.relative_to(root).parts[0]
        return _FIRST.index(folder) if folder in _FIRST else len(_FIRST)

    items.sort(key=rank)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """Name all that failed once more, a line for each file: CI shows nothing but the last lines."""
    yield
    failed = [report.nodeid for kind in ("failed", "error") for report in terminalreporter.stats.get(kind, [])]
    if len(failed) <= _FEW:
        return
    by_file: defaultdict[str, list[str]] = defaultdict(list)
    for file, _, name in (nodeid.partition("::") for nodeid in failed):
        by_file[file].append(name)
    terminalreporter.section("failed, by file")
    for file, names in by_file.items():
        terminalreporter.write_line(f"{file}: {', '.join(names)}")
