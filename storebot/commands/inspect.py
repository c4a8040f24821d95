"""``scrapy inspect``: what storebot makes of one page: its key, the block verdict, and the listings, as JSON."""

from __future__ import annotations

import argparse
import os
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.core.inspection import inspection
from storebot.core.normalise import Context
from storebot.core.page import Page
from storebot.core.parsing.rules import ProductRules
from storebot.core.urls import url_key
from storebot.exceptions import ArchiveUnusable, StorebotError
from storebot.stores import load_store, saved_pages
from storebot.stores.model import Store

TIMEOUT_S = 30


class Command(ScrapyCommand):
    """Inspect a URL (fetched once, plainly) or a saved page."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "URL | FILE [--url URL] [--status N] [--header 'K: V'] | --archived URL --store NAME | --key URL…"

    def short_desc(self) -> str:
        return "Show the key, block verdict and listings of one page as JSON"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", help="read the page with this store's file (selectors, keys, locale)")
        parser.add_argument("--url", help="where a file was fetched from, unless the one beside it says so")
        parser.add_argument("--status", type=int, default=200, help="its HTTP status (default 200)")
        parser.add_argument("--header", action="append", default=[], metavar="'K: V'", help="a header it came with")
        parser.add_argument("--archived", action="store_true", help="the page as it was kept last; fetch nothing")
        parser.add_argument("--key", action="store_true", help="print each URL's key, and fetch nothing")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        folders = [folder for folder in self.settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
        try:
            store = load_store(opts.store, folders) if opts.store else None
            if opts.key:
                self._keys(args, store)
            elif len(args) != 1:
                raise UsageError("one URL or one file")
            else:
                page = self._kept(args[0], store) if opts.archived else self._page(args[0], opts)
                print(orjson.dumps(inspect_page(page, store), option=orjson.OPT_INDENT_2).decode())
        except (StorebotError, OSError) as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code) if isinstance(error, StorebotError) else 1

    def _keys(self, urls: list[str], store: Store | None) -> None:
        if not urls:
            raise UsageError("--key needs at least one URL")
        for url in urls:
            print(url_key(url, store.key_rules) if store else url_key(url))

    def _kept(self, url: str, store: Store | None) -> Page:
        from storebot.archive import Archive, archive_path
        from storebot.archive.keeping import archive_folder
        from storebot.archive.rereading import page_of

        assert self.settings is not None
        folder = archive_folder(self.settings)
        if store is None or folder is None:
            raise UsageError("--archived needs --store, and STOREBOT_ARCHIVE")
        archive = Archive.read(archive_path(folder, store.name))
        try:
            kept = archive.latest(url_key(url, store.key_rules))
        finally:
            archive.close()
        if kept is None:
            raise ArchiveUnusable(f"{store.name}: {url} isn't in the page archive")
        return page_of(kept)

    def _page(self, source: str, opts: argparse.Namespace) -> Page:
        if source.startswith(("http://", "https://")):
            return self._fetch(source)
        path = Path(source)
        if not opts.url and saved_pages.facts_path(path).is_file():
            return saved_pages.read_page(path, saved_pages.read_facts(path))
        if not opts.url:
            raise UsageError("a saved page needs --url: where it was fetched from")
        headers = dict(_header(text) for text in opts.header)
        return Page(url=opts.url, body=saved_pages.read_body(path), status=opts.status, headers=headers)

    def _fetch(self, url: str) -> Page:
        assert self.settings is not None
        request = urllib.request.Request(url, headers={"User-Agent": self.settings["USER_AGENT"]})
        opener = urllib.request.build_opener(_AnyStatus())
        with opener.open(request, timeout=TIMEOUT_S) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Page(
                url=response.url,
                requested_url=url,
                body=response.read(),
                status=response.status,
                headers=headers,
                fetched_at_ms=int(time.time() * 1000),
            )


def inspect_page(page: Page, store: Store | None) -> dict[str, Any]:
    """Inspect one page, with the store's file where one is named."""
    if store is None:
        context = Context(store="", url_key=url_key(page.url), url=page.url)
        return inspection(page, ProductRules(), context)
    context = store.context(url=page.url, url_key=url_key(page.url, store.key_rules))
    return inspection(page, store.rules, context, store.blocks.markers)


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Take error statuses as responses: a block page is what one often wants to look at."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return super().http_response(request, response) if response.status in (301, 302, 303, 307, 308) else response

    https_response = http_response


def _header(text: str) -> tuple[str, str]:
    name, found, value = text.partition(":")
    if not found:
        raise UsageError(f"--header {text!r}: expected 'Name: value'")
    return name.strip().lower(), value.strip()
