"""``scrapy metrics``: the metrics for Prometheus, printed, served or written into a file."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from storebot.exceptions import ConfigurationError, StorebotError
from storebot.metrics import read, registry, write_textfile
from storebot.notify.tending import disks

if TYPE_CHECKING:
    from prometheus_client.registry import CollectorRegistry


class Command(ScrapyCommand):
    """Tell the metrics that docs/operating.md lists. Exit 2 for wrong use."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[--port N [--address A] | --textfile PATH]"

    def short_desc(self) -> str:
        return "Print, serve or write metrics for Prometheus"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--port", type=int, metavar="N", help="serve them at /metrics, until a signal comes")
        parser.add_argument("--address", default="127.0.0.1", help="where to listen (default 127.0.0.1)")
        parser.add_argument("--textfile", metavar="PATH", help="write them for node_exporter's textfile collector")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        settings = self.settings
        try:
            if args or (opts.port is not None and opts.textfile):
                raise ConfigurationError("scrapy metrics: expected --port N, or --textfile PATH, or neither")
            folders = [folder for folder in settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
            made = registry(partial(read, settings.get("STOREBOT_DATABASE_URL"), folders, disks(settings)))
            if opts.textfile:
                write_textfile(Path(opts.textfile), made)
            elif opts.port is not None:
                _serve(made, opts.address, opts.port)
            else:
                from prometheus_client import generate_latest

                print(generate_latest(made).decode(), end="")
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)


def _serve(made: CollectorRegistry, address: str, port: int) -> None:
    from prometheus_client import start_http_server

    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    try:
        server, thread = start_http_server(port, address, registry=made)
    except (OSError, OverflowError) as error:
        raise ConfigurationError(f"{address}:{port}: can't be listened at: {error}") from error
    print(f"http://{address}:{server.server_port}/metrics", flush=True)
    over.wait()
    server.shutdown()
    server.server_close()
    thread.join()
