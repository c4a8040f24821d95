"""``scrapy probe``: a shop's address becomes a store file, with the evidence for each line of it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.core.probing import report
from storebot.core.probing.draft import Draft, draft
from storebot.core.probing.explore import Findings, Plan, explore
from storebot.core.probing.naming import store_name
from storebot.core.probing.seen import Kind, RobotsSaid
from storebot.core.probing.store_toml import store_toml
from storebot.core.proxy import Proxy
from storebot.exceptions import ExitCode, StorebotError
from storebot.guest import Guest
from storebot.items import Tier
from storebot.stores import list_stores, load_store
from storebot.stores.proxy_lists import read_list, read_lists
from storebot.stores.writing import checked, refuse_existing, store_path, write

DELAY_S = 1.0
PAGES = 12


class Command(ScrapyCommand):
    """Probe a shop and write its store file; exits 0 written, 2 usage, 3 nothing usable or only a guess, 4 blocked."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "URL [--name NAME] [--out DIR] [--pages N] [--delay S] [--proxies FILE] [--dry-run] [--json] [--force]"

    def short_desc(self) -> str:
        return "Write the store file of a shop from a look at it"

    def long_desc(self) -> str:
        return (
            "Look at a shop politely (its robots.txt, its sitemaps, some lists, a sample of its products, one request "
            "at a time) and write stores/NAME/store.toml from what was found. URL is the shop's start page; a list of "
            "products or a product does, too."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group("Probe").add_argument
        add("--name", help="the store's name, and its folder's (default: made from the host)")
        add("--out", metavar="DIR", help="folder of store folders (default: the first of STOREBOT_STORES, or ./stores)")
        add("--pages", type=int, default=PAGES, metavar="N", help="product pages in the sample (default: %(default)s)")
        add("--delay", type=float, default=DELAY_S, metavar="S", help="seconds between requests (default: %(default)s)")
        add("--proxies", metavar="FILE", help="a list of proxies, one a line (default: those of the store NAME)")
        add("--dry-run", action="store_true", help="print the store file instead of writing it")
        add("--json", action="store_true", help="print what was found as JSON")
        add("--force", action="store_true", help="overwrite a store file that is there")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or not args[0].startswith(("http://", "https://")):
            raise UsageError("one URL, with http:// or https://: scrapy probe https://shop.example")
        if opts.pages < 1 or opts.delay < 0:
            raise UsageError("--pages must be at least 1, and --delay can't be negative")
        try:
            self.exitcode = int(self._probe(args[0], opts))
        except (StorebotError, OSError) as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code) if isinstance(error, StorebotError) else ExitCode.INTERNAL_ERROR
        except KeyboardInterrupt:
            print("interrupted: nothing was written", file=sys.stderr)
            self.exitcode = ExitCode.SIGINT

    def _probe(self, url: str, opts: argparse.Namespace) -> ExitCode:
        folders = self._folders()
        if opts.name:
            self._check_name(store_path(opts.name, opts.out, folders), opts)
        guest = self._guest(opts)
        findings = probe(guest, url, opts.pages, _say)
        robots = guest.robots(findings.base_url).said
        if report.unusable(findings):
            return self._nothing(findings, robots, opts)
        name = opts.name or store_name(findings.base_url)
        path = store_path(name, opts.out, folders)
        self._check_name(path, opts)
        made = draft(findings, name, crawl_delay_s=robots.crawl_delay_s)
        text = store_toml(made)
        checked(name, text)
        if not opts.dry_run:
            write(path, text, force=opts.force)
        code = ExitCode.PARTIAL if findings.is_assumed else ExitCode.COMPLETE
        self._show(
            findings,
            made,
            robots,
            opts,
            {"store": name, "toml": text, "written": None if opts.dry_run else str(path)},
        )
        if not opts.json:
            print(f"\n{text}" if opts.dry_run else f"\n{_what_next(path, name, folders)}")
        return code

    def _check_name(self, path: Path, opts: argparse.Namespace) -> None:
        if not opts.dry_run and not opts.force:
            refuse_existing(path)

    def _nothing(self, findings: Findings, robots: RobotsSaid, opts: argparse.Namespace) -> ExitCode:
        reason = report.reason_for_nothing(findings)
        is_blocked = findings.start.kind is Kind.BLOCKED or findings.book.blocked
        self._show(findings, None, robots, opts, {"store": None, "toml": None, "written": None, "reason": reason})
        print(f"nothing was written: {reason}", file=sys.stderr)
        return ExitCode.BLOCKED if is_blocked else ExitCode.PARTIAL

    def _show(
        self,
        findings: Findings,
        made: Draft | None,
        robots: RobotsSaid,
        opts: argparse.Namespace,
        more: dict[str, Any],
    ) -> None:
        if opts.json:
            found = report.as_json(findings, made, robots) | more
            print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
        else:
            print(report.report(findings, made, robots))

    def _folders(self) -> list[str]:
        assert self.settings is not None
        return [folder for folder in self.settings.get("STOREBOT_STORES").split(os.pathsep) if folder]

    def _guest(self, opts: argparse.Namespace) -> Guest:
        assert self.settings is not None
        contact = self.settings.get("STOREBOT_CONTACT")
        agent = f"storebot/0.1 (+{contact})" if contact else self.settings["USER_AGENT"]
        return Guest(agent, self.settings["ROBOTSTXT_USER_AGENT"] or agent, opts.delay, proxies=self._proxies(opts))

    def _proxies(self, opts: argparse.Namespace) -> Sequence[Proxy]:
        """Return the proxies of a list that was named, else those of the store, where it's one that there is already.

        Without either the guest goes as the environment says.
        """
        if opts.proxies:
            return read_list(Path(opts.proxies).expanduser())
        folders = self._folders()
        if opts.name and opts.name in list_stores(folders):
            return read_lists(load_store(opts.name, folders), os.environ).get(Tier.HTTP, ())
        return ()


def probe(guest: Guest, url: str, pages: int, say: Callable[[str], None]) -> Findings:
    """Look at a shop; the whole of a probe but for the store file."""
    url = url if urlsplit(url).path else f"{url}/"
    first = guest.get(url)
    start = first.page.url if first.page else url
    if start != url:
        say(f"{url} redirects to {start}")
    robots = guest.robots(start)
    steps = explore(Plan(url=start, pages=pages, sitemaps=robots.sitemaps))
    ask = next(steps)
    answer = first  # the start page, which is what the first step asks for
    try:
        while True:
            ask = steps.send(answer)
            say(f"{ask.why}: {ask.url}")
            answer = guest.get(ask.url)
            if answer.problem:
                say(f"  {answer.problem}")
    except StopIteration as end:
        findings: Findings = end.value
        return findings


def _say(text: str) -> None:
    print(f"probe: {text}", file=sys.stderr)


def _what_next(path: Path, name: str, folders: list[str]) -> str:
    root = path.parents[1]
    known = any(Path(folder).resolve() == root.resolve() for folder in folders)
    prefix = "" if known else f"STOREBOT_STORES={root.resolve()} "
    return f"written: {path}\nnext:    {prefix}scrapy crawl backfill -a store={name}"
