"""The arguments of a phase (``-a NAME=VALUE``), and what is said of any other name."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from storebot.exceptions import ConfigurationError
from storebot.stores.wording import nearest

ARGUMENTS = ("store", "base_url", "budget", "force")
OF_REFRESH = (*ARGUMENTS, "plan")
FULL = "full"
OF_SCRAPYD = ("_job", "_version")  # which it gives to every spider; the second where one was asked for


def check_arguments(phase: str, given: Collection[str]) -> None:
    """Raise ConfigurationError for a name that the phase doesn't know: it would change nothing, and nobody would see.

    Scrapyd's own arguments are let through.
    """
    known = OF_REFRESH if phase == "refresh" else ARGUMENTS
    unknown = sorted(set(given) - {*known, *OF_SCRAPYD})
    if unknown:
        close = nearest(unknown[0], known)
        meant = f" (did you mean {close!r}?)" if close else ""
        raise ConfigurationError(f"{phase} has no argument {unknown[0]!r}{meant}: -a takes {', '.join(known)}")


def requests_of(given: Mapping[str, str]) -> int | None:
    """Return the most requests of ``-a budget=N``, None without it. Raises ConfigurationError for what is no number."""
    text = given.get("budget")
    if text is None:
        return None
    if not text.isdecimal() or not text.isascii() or not int(text):
        raise ConfigurationError(f"-a budget={text}: expected a number of requests, 1 or more")
    return int(text)


def is_full(given: Mapping[str, str]) -> bool:
    """Whether a refresh is to visit all that is known: ``-a plan=full``. Raises ConfigurationError for another plan."""
    text = given.get("plan")
    if text not in (None, FULL):
        raise ConfigurationError(f"-a plan={text}: expected {FULL}, or no plan: then it follows [refresh] of the store")
    if text and "budget" in given:
        raise ConfigurationError("-a plan=full visits all that is known, whatever it takes: leave -a budget out")
    return bool(text)


def reason_of_force(given: Mapping[str, str]) -> str:
    """Return who lets a run ask a store whose circuit breaker is open, and why: ``-a force="who: why"``; "" for nobody.

    Raises ConfigurationError where one of the two is missing: it's kept with the run, for whoever asks later.
    """
    text = given.get("force", "")
    who, _, why = text.partition(":")
    if "force" in given and not (who.strip() and why.strip()):
        raise ConfigurationError(f'-a force={text!r}: expected who and why, such as -a force="Ann: the shop lifted it"')
    return text
