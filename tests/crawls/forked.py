"""Starts ``scrapy crawl`` in processes forked from one that has imported it all: dozens of starts in little time."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Mapping
from importlib import import_module
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from pkgutil import iter_modules
from typing import NamedTuple

from tests.crawls.scrapy_process import ROOT, Crawl, pairs

_FORK = multiprocessing.get_context("forkserver")
# Not storebot.settings, which reads the environment: each crawl has its own. And nothing that installs a reactor.
# Scrapy looks for its commands and spiders in all modules of these packages, whatever is run.
_WALKED = ["scrapy.commands", "storebot.commands", "storebot.middlewares", "storebot.spiders"]
_IMPORTED = [
    *(f"{package}.{module.name}" for package in _WALKED for module in iter_modules(import_module(package).__path__)),
    "alembic.command",
    "encodings.charmap",
    "encodings.utf_8_sig",
    "scrapy.cmdline",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.engine",
    "scrapy.downloadermiddlewares.cookies",
    "scrapy.downloadermiddlewares.retry",
    "scrapy.downloadermiddlewares.robotstxt",
    "scrapy.downloadermiddlewares.stats",
    "scrapy.dupefilters",
    "scrapy.extensions.closespider",
    "scrapy.extensions.logcount",
    "scrapy.extensions.memusage",
    "scrapy.extensions.remote_control",
    "scrapy.extensions.telnet",
    "scrapy.pqueues",
    "scrapy.robotstxt",
    "scrapy.squeues",
    "scrapy.utils.test",
    "storebot.db.planning",
    "storebot.extensions",
    "storebot.fetch.http11",
    "storebot.pipelines",
    "twisted.internet.asyncioreactor",
]


class Options(NamedTuple):
    """One crawl, of the demo store if of no other: what it prints is appended to the file ``output``.

    ``settings`` are given by ``-s``; those with a name in lower case are arguments of the phase, by ``-a``.
    """

    phase: str
    base_url: str
    database_url: str
    output: Path
    settings: Mapping[str, object]
    stores: Path | None = None
    store: str = "demo"


def start(options: Options) -> ForkServerProcess:
    """Start a crawl; the caller joins it, or kills it."""
    argv = ["scrapy", "crawl", options.phase, "-a", f"store={options.store}", "-a", f"base_url={options.base_url}"]
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


def crawl_store(phase: str, store: str, *, database: Path, stores: Path, base_url: str) -> Crawl:
    """Run `crawl` without delays on a store of the folder ``stores``; ``database`` is a SQLite file."""
    settings = {"DOWNLOAD_DELAY": 0, "LOG_LEVEL": "WARNING"}
    output = database.with_suffix(".log")
    return crawl(Options(phase, base_url, f"sqlite:///{database}", output, settings, stores, store))


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
