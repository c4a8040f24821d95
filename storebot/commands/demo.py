"""The command ``scrapy demo``: a shop to crawl on this machine."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from storebot.exceptions import ConfigurationError, ExitCode

if TYPE_CHECKING:
    from storebot.demo.options import ShopOptions
    from storebot.demo.server import Opened

# The demo store is imported where it is used: every `scrapy` command loads all of them, and a web server costs 0.3 s.
_PORT = 8400


class Command(ScrapyCommand):
    """Serves the demo store until SIGINT or SIGTERM, and then exits 0; 2 for a bad option or a port in use."""

    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def short_desc(self) -> str:
        """Return the line for ``scrapy``'s list of commands."""
        return "Serve the demo store: a shop to crawl on this machine"

    def long_desc(self) -> str:
        """Return the text for ``scrapy demo -h``."""
        return (
            "Serve a believable shop, the same for the same seed, with a clock and a switchboard of lies below "
            "/_demo/. It listens on this machine only, unless --host says otherwise."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""
        super().add_options(parser)
        from storebot.demo.options import CURRENCIES, GUARDS, MARKUPS, PAST_ENDS, ShopOptions

        defaults = ShopOptions()
        group = parser.add_argument_group("Demo store")
        add = group.add_argument
        add("--products", type=int, default=defaults.products, metavar="N", help="how many (default: %(default)s)")
        add("--seed", type=int, default=defaults.seed, help="same seed, same shop (default: %(default)s)")
        add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        add("--port", type=int, default=_PORT, help="port, 0 for any free one (default: %(default)s)")
        add("--markup", default=defaults.markup, help=f"{', '.join(MARKUPS)} (default: %(default)s)")
        add("--page-size", type=int, default=defaults.page_size, metavar="N", help="cards on a catalogue page")
        add("--sitemap-size", type=int, default=defaults.sitemap_size, metavar="N", help="URLs in a sitemap child")
        add("--past-end", default=defaults.past_end, help=f"past the last page: {', '.join(PAST_ENDS)}")
        add("--variants", type=float, default=defaults.variant_share, metavar="SHARE", help="share with variants")
        add("--currency", default=defaults.currency, help=", ".join(CURRENCIES))
        add("--gzip", action="store_true", help="compress when asked to")
        add("--https", action="store_true", help="HTTP/1.1 and HTTP/2 over TLS; needs storebot[demo]")
        add("--guard", default="", metavar="LIE", help=f"let in only who fetches so: {', '.join(GUARDS)}")
        add("--guarded", default=defaults.guarded, metavar="REGEX", help="paths it guards (default: %(default)s)")
        add("--etag-gzip-suffix", action="store_true", help='end the ETag of a compressed page with "-gzip"')

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Serve, or say in one line why not."""
        from storebot.demo.running import run

        try:
            if args:
                raise ConfigurationError(f"scrapy demo takes no argument {' '.join(args)!r}: see scrapy demo -h")
            run(_options(opts), opts.host, _port(opts.port), _announce)
        except ConfigurationError as error:
            self._refuse(str(error))
        except OSError as error:
            # negative numbers are those of name look-ups, which os.strerror doesn't know
            reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
            self._refuse(f"can't listen on {opts.host}:{opts.port} ({reason}): choose another --port or --host")

    def _refuse(self, sentence: str) -> None:
        print(f"scrapy demo: {sentence}", file=sys.stderr)
        self.exitcode = ExitCode.USAGE


def _options(opts: argparse.Namespace) -> ShopOptions:
    from storebot.demo.options import ShopOptions

    return ShopOptions(
        products=opts.products,
        seed=opts.seed,
        markup=opts.markup,
        page_size=opts.page_size,
        currency=opts.currency,
        variant_share=opts.variants,
        sitemap_size=opts.sitemap_size,
        past_end=opts.past_end,
        gzip=opts.gzip,
        etag_gzip_suffix=opts.etag_gzip_suffix,
        https=opts.https,
        guard=opts.guard,
        guarded=opts.guarded,
    )


def _port(port: int) -> int:
    if not 0 <= port <= 65_535:
        raise ConfigurationError(f"port is {port}: give a number from 0 to 65535")
    return port


def _announce(opened: Opened) -> None:
    url = opened.url
    lines = [
        f"The demo store is open at {url}/ (Ctrl-C closes it).",
        f"  sitemap   {url}/sitemap.xml",
        f"  next day  curl -X POST '{url}/_demo/advance?changed=11'",
        f"  a lie     curl -X POST '{url}/_demo/lie?name=challenge&times=20'   ({url}/_demo/lies lists them)",
        f"  requests  curl {url}/_demo/requests",
    ]
    if opened.certificate:
        lines.append(f"  trust     curl --cacert {opened.certificate} …")
    print("\n".join(lines), flush=True)
