"""Which address tells a watchdog that a run began, and how it ended: as healthchecks.io and its likes have it."""

from __future__ import annotations

from enum import StrEnum
from urllib.parse import quote, urlsplit, urlunsplit

from storebot.exceptions import ExitCode


class Beat(StrEnum):
    """What is told; its value is what is put behind the address. https://healthchecks.io/docs/http_api/"""

    START = "/start"
    SUCCESS = ""
    FAILURE = "/fail"


_ENDED_WELL = (ExitCode.COMPLETE, ExitCode.PARTIAL, ExitCode.HELD, ExitCode.BUDGET)
_ENDED_BADLY = (ExitCode.INTERNAL_ERROR, ExitCode.USAGE, ExitCode.BLOCKED, ExitCode.DATABASE)


def beat_of(code: ExitCode) -> Beat | None:
    """Return what a run's end is told as; None for one that was interrupted (the next resumes) or turned away.

    A watchdog asks whether runs still come: one that saw less than it should is an alert's business, not its.
    """
    return Beat.SUCCESS if code in _ENDED_WELL else Beat.FAILURE if code in _ENDED_BADLY else None


def address(template: str, beat: Beat, store: str, kind: str) -> str:
    """Return the URL to call; ``{store}`` and ``{kind}`` of the template are filled in.

    Raises ValueError for what is no http(s) URL, without a part of it: it's a secret.
    """
    filled = template.replace("{store}", quote(store)).replace("{kind}", quote(kind))
    parts = urlsplit(filled)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("expected an http:// or https:// URL")
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + beat.value))
