"""The store files, and what they need: a browser, proxies."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from storebot.core.proxy import Proxy
from storebot.doctor.check import Check, failure, ok, warning
from storebot.exceptions import ConfigurationError
from storebot.fetch.browsing.chromium import find_chromium
from storebot.items import Tier
from storebot.stores import list_stores, load_store
from storebot.stores.model import Store
from storebot.stores.proxy_lists import read_lists

_CONNECT_S = 3.0
_MOST_PROXIES = 20  # that are connected to


def examine(settings: Any, environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield the checks of all store files, and of what they need."""
    folders = [folder for folder in settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
    found: list[Store] = []
    try:
        names = list_stores(folders)
    except ConfigurationError as error:
        yield failure("store files", str(error), "correct STOREBOT_STORES")
        return
    for name in names:
        try:
            found.append(load_store(name, folders))
        except ConfigurationError as error:
            yield failure("store files", " ".join(str(error).split()), "scrapy check")
    if found:
        yield ok("store files", f"{len(found)} can be read: {', '.join(store.name for store in found)}")
    yield _browser(settings, [store.name for store in found if Tier.BROWSER in store.fetch.tiers])
    for store in found:
        yield from _proxies(store, environ)


def _browser(settings: Any, needed_by: list[str]) -> Check:
    """Start the browser to ask for its version: one that lacks a library is found, too."""
    try:
        path = find_chromium(settings.get("STOREBOT_CHROMIUM") or "")
    except ConfigurationError as error:
        if needed_by:
            return failure("browser", f"{', '.join(needed_by)}: {error}", "install Chromium, or name it")
        return ok("browser", "there is none, and no store lists the tier browser")
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
        reason = "" if said.returncode == 0 else (said.stderr.strip() or f"exit {said.returncode}")
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = str(error)
    if reason:
        report = failure if needed_by else warning
        return report(
            "browser", f"{path} doesn't start: {reason[:200]}", "install what it lacks, or set STOREBOT_CHROMIUM"
        )
    return ok("browser", f"{said.stdout.strip()} ({path})")


def _proxies(store: Store, environ: Mapping[str, str]) -> Iterator[Check]:
    try:
        lists = read_lists(store, environ)
    except ConfigurationError as error:
        yield failure("proxies", " ".join(str(error).split()), "correct the list")
        return
    proxies = list(dict.fromkeys(proxy for found in lists.values() for proxy in found))
    dead = [proxy for proxy in proxies[:_MOST_PROXIES] if not _answers(proxy)]
    asked = min(len(proxies), _MOST_PROXIES)
    if dead:
        shown = ", ".join(map(str, dead[:5]))
        text = f"{store.name}: {len(dead)} of {asked} proxies that were tried don't answer: {shown}"
        report = failure if len(dead) == asked else warning
        yield report("proxies", text, "is the address right, are they up? docs/operating.md, Proxies")
    elif proxies:
        yield ok("proxies", f"{store.name}: {asked} of {len(proxies)} were tried, and answer")
    yield from _readable_by_all(store)


def _answers(proxy: Proxy) -> bool:
    with suppress(OSError), socket.create_connection((proxy.host, proxy.port), _CONNECT_S):
        return True
    return False


def _readable_by_all(store: Store) -> Iterator[Check]:
    """Find lists of proxies, which hold passwords, that anybody on the machine can read."""
    declared = store.fetch.proxies
    for name in dict.fromkeys(declared.file.values()) if declared else ():
        path = Path(store.path).parent / Path(name).expanduser()
        if path.exists() and path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
            yield warning("permissions", f"{path} can be read by everybody", f"chmod 600 {path}")
