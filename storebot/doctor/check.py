"""One thing that was looked at."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from storebot.exceptions import ExitCode


class Verdict(StrEnum):
    """How it is."""

    OK = "ok"
    WARNING = "warning"  # it works, but somebody should know
    FAILURE = "failure"  # something won't work


class Check(NamedTuple):
    """What was looked at, how it is, and what to do where it isn't well."""

    name: str
    verdict: Verdict
    text: str
    advice: str = ""
    code: ExitCode = ExitCode.USAGE  # of the command, where it's a failure


def ok(name: str, text: str) -> Check:
    """Return a check of what is well."""
    return Check(name, Verdict.OK, text)


def warning(name: str, text: str, advice: str) -> Check:
    """Return a check of what somebody should know."""
    return Check(name, Verdict.WARNING, text, advice)


def failure(name: str, text: str, advice: str, code: ExitCode = ExitCode.USAGE) -> Check:
    """Return a check of what won't work."""
    return Check(name, Verdict.FAILURE, text, advice, code)
