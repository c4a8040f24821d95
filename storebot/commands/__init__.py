"""Scrapy commands of the project: options, one call, an exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from scrapy.commands import ScrapyCommand

from storebot.exceptions import StorebotError


@contextmanager
def ended_by_errors(command: ScrapyCommand) -> Iterator[None]:
    """End what a command does at the first StorebotError: it's one sentence on stderr, and the exit code is its own."""
    try:
        yield
    except StorebotError as error:
        print(error, file=sys.stderr)
        command.exitcode = int(error.exit_code)
