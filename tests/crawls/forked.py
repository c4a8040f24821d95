"""Starts ``scrapy crawl`` in processes forked from one that has imported it all: dozens of starts in little time."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import NamedTuple

from tests.crawls.scrapy_process import ROOT, Crawl, pairs

_FORK = multiprocessing.get_context("forkserver")
# Not storebot.settings, which reads the environment: each crawl has its own. And nothing that installs a reactor.
_IMPORTED = [
    "alembic.command",
    "scrapy.cmdline",
    "scrapy.commands.check",
    "scrapy.commands.shell",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.engine",
    "scrapy.downloadermiddlewares.cookies",
    "scrapy.downloadermiddlewares.robotstxt",
    "scrapy.extensions.remote_control",
    "scrapy.extensions.telnet",
    "scrapy.robotstxt",
    "storebot.commands.crawl",
    "storebot.commands.inspect",
    "storebot.extensions",
    "storebot.middlewares.blocks",
    "storebot.middlewares.redirects",
    "storebot.pipelines",
    "storebot.spiders.backfill",
    "storebot.spiders.refresh",
    "twisted.internet.asyncioreactor",
]


class Options(NamedTuple):
    """One crawl of the demo store: what it prints is appended to the file ``output``.

    ``settings`` are given by ``-s``; those with a name in lower case are arguments of the phase, by ``-a``.
    """

    phase: str
    base_url: str
    database_url: str
    output: Path
    settings: Mapping[str, object]
    stores: Path | None = None


def start(options: Options) -> ForkServerProcess:
    """Start a crawl; the caller joins it, or kills it."""
    argv = ["scrapy", "crawl", options.phase, "-a", "store=demo", "-a", f"base_url={options.base_url}"]
    for name, value in options.settings.items():
        argv += ["-a" if name.islower() else "-s", f"{name}={value}"]
    env = {
        **os.environ,  # as it is now: the server that forks has that of its own start
        "STOREBOT_DATABASE_URL": options.database_url,
        "STOREBOT_STORES": str(options.stores or ""),
        "STOREBOT_ARCHIVE": str(options.output.with_suffix(".pages")),
        "STOREBOT_PROGRESS": "off",
        "STOREBOT_SUMMARY": "",
    }
    _FORK.set_forkserver_preload(_IMPORTED)
    process = _FORK.Process(target=_crawl, args=(argv, env, str(options.output)))
    process.start()
    return process


def crawl(options: Options, timeout_s: float = 120) -> Crawl:
    """Run `start` to its end; ``stderr`` is all that it printed. One that takes too long is killed, and raises."""
    output = options.output
    before = output.stat().st_size if output.exists() else 0
    process = start(options)
    process.join(timeout_s)
    code = process.exitcode
    if code is None:
        process.kill()
        process.join()
    process.close()
    printed = output.read_bytes()[before:].decode()
    if code is None:
        raise TimeoutError(f"the crawl ran longer than {timeout_s} s:\n{printed}")
    lines = [line for line in printed.splitlines() if line.startswith(f"{options.phase}: ")]
    line = lines[-1] if lines else ""
    return Crawl(code, line, printed, pairs(line))


def _crawl(argv: list[str], env: dict[str, str], output: str) -> None:
    from scrapy.cmdline import execute

    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(env)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(file, stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the server that forks ignores it
    execute(argv)
