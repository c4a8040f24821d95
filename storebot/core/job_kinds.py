"""The kinds of jobs, each the command that does it. A new kind is one entry here, and one key of `[schedule]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from storebot.core.secrets import has_password
from storebot.exceptions import ConfigurationError

ALL_STORES = ""


class Kind(NamedTuple):
    """What runs for a job of this kind; ``{store}`` stands for the store's name."""

    command: tuple[str, ...]  # behind `scrapy`
    arguments: tuple[str, ...] = ()  # that a job may give
    spider: str = ""  # the phase, where it's a crawl: then a Scrapyd node can run it
    exclusive: bool = False  # it takes the store's lease: one at a time
    goes_on: bool = False  # what one attempt left is worth another before the next slot
    every_store: bool = False  # it may run for all stores at once
    several: tuple[str, ...] = ()  # arguments that may have more than one value, one a line


def _crawl(phase: str, *arguments: str, goes_on: bool = False) -> Kind:
    command = ("crawl", phase, "-a", "store={store}")
    given = ("base_url", "budget", "force", *arguments)
    return Kind(command, given, spider=phase, exclusive=True, goes_on=goes_on)


KINDS: dict[str, Kind] = {
    "backfill": _crawl("backfill", goes_on=True),
    "refresh": _crawl("refresh", "plan"),
    "reparse": Kind(("reparse", "--store={store}"), ("since", "announce", "workers"), exclusive=True),
    "prune": Kind(("archive", "prune", "--store={store}")),
    "coverage": Kind(("coverage", "--store={store}")),
    "export": Kind(
        ("export", "--store={store}", "--tell"),
        ("format", "what", "columns", "filter", "since", "out", "link", "no-tell"),
        several=("filter",),
    ),
    "deliver": Kind(("deliver", "run"), every_store=True),
    "stage": Kind(("stage", "all", "--store={store}"), ("all",), every_store=True),
}


def check_job(kind: str, store: str, args: Mapping[str, str]) -> None:
    """Raise ConfigurationError for a kind, a store or an argument that no job can have."""
    if kind not in KINDS:
        raise ConfigurationError(f"there is no kind of job {kind!r}: expected one of {', '.join(KINDS)}")
    found = KINDS[kind]
    if not store and not found.every_store:
        raise ConfigurationError(f"a job of the kind {kind} needs a store: --store NAME")
    for name, value in args.items():
        if name not in found.arguments:
            known = f"it takes {', '.join(found.arguments)}" if found.arguments else "it takes none"
            raise ConfigurationError(f"a job of the kind {kind} has no argument {name!r}: {known}")
        if name == "out" and has_password(value):
            raise ConfigurationError(f"a job of the kind {kind}: out has a password, which a job's row is no place for")


def command(kind: str, store: str, args: Mapping[str, str]) -> list[str]:
    """Return the words behind ``scrapy``; an option without a value is given as ""."""
    found = KINDS[kind]
    words = [word.format(store=store) for word in found.command if store or "{store}" not in word]
    for name, value in args.items():
        if found.spider:
            words += ["-a", f"{name}={value}"]
        elif name in found.several:
            words += [f"--{name}={one}" for one in value.split("\n")]
        else:
            words.append(f"--{name}={value}" if value else f"--{name}")
    return words
