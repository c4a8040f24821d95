"""Documents that are made to fill the memory or to take for ever.

`run` reads one of them in a process of its own, with a gigabyte above what that has, and half a minute.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.bombs import reading
from tests.fuzz.bombs.feeds import FEEDS, LISTINGS
from tests.fuzz.bombs.jsonld import JSON_LD
from tests.fuzz.bombs.making import MB
from tests.fuzz.bombs.pages import NEARLY_REFUSED, REFUSED
from tests.fuzz.bombs.sitemaps import SITEMAPS
from tests.fuzz.bombs.trees import TREES

MEMORY = 1024 * MB
_FORK = multiprocessing.get_context("forkserver")


def _read(read: Callable[[bytes], str], body: Callable[[], bytes]) -> str:
    return read(body())


BOMBS: dict[str, Callable[[], str]] = {
    **{name: partial(_read, reading.product, body) for name, body in (REFUSED | NEARLY_REFUSED).items()},
    **{name: partial(_read, reading.product, body) for name, body in (JSON_LD | TREES).items()},
    **{f"sitemap_{name}": partial(_read, reading.sitemap, body) for name, body in SITEMAPS.items()},
    **{f"feed_{name}": partial(_read, reading.feed, body) for name, body in FEEDS.items()},
    **LISTINGS,
}


class Cost(NamedTuple):
    """What was said of a bomb, and what that cost: CPU seconds, megabytes above what the process had before."""

    said: str
    cpu_s: float
    megabytes: int


def run(name: str, result: Path, cpu_s: int = 30) -> Cost:
    """Read one bomb in a process of its own; raises AssertionError where that dies of its limits."""
    _FORK.set_forkserver_preload([__name__])
    process = _FORK.Process(target=_limited, args=(name, str(result), cpu_s))
    process.start()
    process.join()
    code = process.exitcode
    process.close()
    assert code == 0, f"{name}: the process ended with {code} (-24: CPU time; 1: an exception, see its output)"
    return Cost(*json.loads(result.read_text("utf-8")))


def _limited(name: str, result: str, cpu_s: int) -> None:
    virtual, resident, *_ = (int(pages) * resource.getpagesize() for pages in _memory_pages())
    resource.setrlimit(resource.RLIMIT_AS, (virtual + MEMORY, virtual + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    said = BOMBS[name]()
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - resident) // MB
    Path(result).write_text(json.dumps([said, reading.spent[-1], used]), "utf-8")


def _memory_pages() -> list[str]:
    return Path("/proc/self/statm").read_text("ascii").split()
