"""``scrapy check``: every store loads, and its saved pages still give the records that somebody reviewed.

Shadows Scrapy's command of this name, which runs contracts (docs/decisions/0017-check-shadows-scrapys.md).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.core.page import Page
from storebot.exceptions import ConfigurationError, ExitCode, StorebotError
from storebot.guest import Guest
from storebot.items import Tier
from storebot.jobs.planning import check_formats
from storebot.stores import list_stores, load_store, saved_pages
from storebot.stores.goldens import Golden, accepted, difference, goldens, pages_folder, saved
from storebot.stores.model import Store
from storebot.stores.proxy_lists import read_lists

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
DIFFERENT = ExitCode.INTERNAL_ERROR  # 1, as of a test that fails


@dataclass(slots=True)
class Report:
    """What was found wrong with one store: with its files, and with each saved page."""

    store: str
    faults: list[str] = field(default_factory=list)
    pages: dict[str, list[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return what is printed of a store."""
        if self.faults:
            return [f"{self.store}: can't be loaded", *(f"  {line}" for line in self.faults)]
        failed = {name: lines for name, lines in self.pages.items() if lines}
        count = f"{len(self.pages)} saved page{'s' if len(self.pages) != 1 else ''}"
        about = f"{count}, {len(failed)} failed" if failed else f"{count} ok" if self.pages else "no saved pages"
        return [f"{self.store}: {about}", *(f"  {name}: {line}" for name, lines in failed.items() for line in lines)]


class Command(ScrapyCommand):
    """Check stores; with --save keep a page to check from now on, with --accept say that its record is right."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[STORE…] | --save URL --store NAME | --save FILE --url URL --store NAME | --accept ID [--store NAME]"

    def short_desc(self) -> str:
        return "Check that stores load, and that their saved pages give the reviewed records"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--save", metavar="URL", help="keep this page (a URL, fetched once, or a file with --url)")
        parser.add_argument("--url", help="with --save FILE: where the file was fetched from")
        parser.add_argument("--store", help="whose page it is")
        parser.add_argument("--id", help="with --save: a name for the page's files (without it, one made of the URL)")
        parser.add_argument("--accept", metavar="ID", help="a saved page: its present record is right")
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would be saved or accepted, write nothing"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object a store")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        self.folders = [folder for folder in self.settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
        if sum(map(bool, (args, opts.save, opts.accept))) > 1:
            raise UsageError("either STORE…, or --save, or --accept")
        action = partial(self._save, opts) if opts.save else partial(self._accept, opts) if opts.accept else None
        try:
            self.exitcode = int(action() if action else self._check(args or [opts.store or ""], opts))
        except (StorebotError, OSError) as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code if isinstance(error, StorebotError) else DIFFERENT)

    # --- check ------------------------------------------------------------------------------------------------------

    def _check(self, names: Sequence[str], opts: argparse.Namespace) -> ExitCode:
        reports = [self._report(name) for name in (names if names != [""] else list_stores(self.folders))]
        for report in reports:
            if opts.json:
                print(orjson.dumps({"store": report.store, "faults": report.faults, "pages": report.pages}).decode())
            else:
                print("\n".join(report.lines()))
        if any(report.faults for report in reports):
            return ExitCode.USAGE
        return DIFFERENT if any(any(report.pages.values()) for report in reports) else ExitCode.COMPLETE

    def _report(self, name: str) -> Report:
        report = Report(name)
        try:
            store = load_store(name, self.folders)
            check_formats(store)
            for golden in goldens(store):
                report.pages[golden.id] = _verdict(golden)
        except (StorebotError, OSError) as error:
            report.faults += str(error).splitlines()
        return report

    # --- save, accept -----------------------------------------------------------------------------------------------

    def _save(self, opts: argparse.Namespace) -> ExitCode:
        if not opts.store:
            raise UsageError("--save needs --store NAME: whose page it is")
        store = load_store(opts.store, self.folders)
        page = self._page(opts, store)
        facts = saved(store, page)
        if not facts.get("listings") and not facts.get("links"):
            why = facts.get("failure") or f"HTTP {page.status}"
            raise ConfigurationError(f"{page.url}: nothing could be read, so nothing is saved: {why}")
        folder, name = _folder(store), opts.id or saved_pages.page_id(page.url)
        if not _ID.fullmatch(name):
            raise ConfigurationError(f"--id {name!r}: expected a name of a-z, 0-9, - and _")
        _show(facts)
        if not opts.dry_run:
            path = saved_pages.write(folder, name, page, facts, compress=True)
            print(f"Saved {path}, with the record above. {_how(path)}")
        return ExitCode.COMPLETE

    def _page(self, opts: argparse.Namespace, store: Store) -> Page:
        assert self.settings is not None
        if not opts.save.startswith(("http://", "https://")):
            path = Path(opts.save)
            facts = {"url": opts.url} if opts.url else saved_pages.read_facts(path)
            return saved_pages.read_page(path, facts)
        contact = self.settings.get("STOREBOT_CONTACT")
        agent = f"storebot/0.1 (+{contact})" if contact else self.settings["USER_AGENT"]
        agent, polite = store.politeness.user_agent or agent, store.politeness
        proxies = read_lists(store, os.environ).get(Tier.HTTP, ())
        name = self.settings["ROBOTSTXT_USER_AGENT"]
        guest = Guest(agent, name, polite.delay_s, obeys=polite.robots, proxies=proxies)
        answer = guest.get(opts.save)
        if answer.page is None:
            raise ConfigurationError(f"{opts.save}: {answer.problem}; nothing was saved")
        return answer.page

    def _accept(self, opts: argparse.Namespace) -> ExitCode:
        store_name, _, name = opts.accept.rpartition("/")
        wanted = store_name or opts.store
        found = [
            golden
            for store in ([wanted] if wanted else list_stores(self.folders))
            for golden in goldens(load_store(store, self.folders))
            if golden.id == name
        ]
        if len(found) != 1:
            said = f"{len(found)} stores have it; add --store NAME" if found else "there is none; see scrapy check"
            raise ConfigurationError(f"saved page {name!r}: {said}")
        facts = accepted(found[0])
        for line in difference(found[0].facts, facts) if found[0].reviewed else ():
            print(line)
        _show(facts)
        if not opts.dry_run:
            saved_pages.write_facts(found[0].path, facts)
        return ExitCode.COMPLETE


def _verdict(golden: Golden) -> list[str]:
    """Return what is wrong with one saved page, a line each."""
    found = golden.differences()
    if not golden.reviewed:
        found.append(f"nobody has reviewed it. {_how(golden.path)}")
    return found


def _how(path: Path) -> str:
    return f"If all of {saved_pages.facts_path(path)} is right: scrapy check --accept {saved_pages.name_of(path)}"


def _folder(store: Store) -> Path:
    folder = pages_folder(store)
    if folder is None:
        raise ConfigurationError(
            f"{store.name}: comes with the package, and its pages are kept in a checkout's tests; copy its folder into "
            "one of STOREBOT_STORES to keep pages beside it"
        )
    return folder


def _show(facts: dict[str, Any]) -> None:
    print(orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode())
