"""Reading the lists of proxies that a store file names: from a file, or from the environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from storebot.core.proxy import Proxy, read_proxy
from storebot.exceptions import ConfigurationError, StoreFileError
from storebot.items import Tier
from storebot.stores.model import Store


def read_lists(store: Store, environ: Mapping[str, str]) -> dict[Tier, tuple[Proxy, ...]]:
    """Return the proxies of each tier that the store may use, in their order; empty where it names no list.

    What is fetched plainly beside the pages (robots.txt) goes through proxies, too, where a page never goes without: if
    the plain tier isn't listed and has no list of its own, through those of the cheapest tier.

    Raises StoreFileError for a list that isn't there, is empty, or has a line that can't be read or used: with the list
    and the line's number, never with the line itself, which may hold a password.
    """
    declared = store.fetch.proxies
    if declared is None:
        return {}
    found: dict[Tier, tuple[Proxy, ...]] = {}
    for tier in dict.fromkeys((*store.fetch.tiers, Tier.HTTP)):
        if (name := declared.file.get(tier)) is not None:
            path = Path(store.path).parent / Path(name).expanduser()
            found[tier] = _read(str(path), _file_lines(store, path), takes_login=_takes_login(store, tier))
        elif (name := declared.env.get(tier)) is not None:
            lines = _variable_lines(store, name, environ)
            found[tier] = _read(f"${name}", lines, takes_login=_takes_login(store, tier))
    if found and Tier.HTTP not in (*store.fetch.tiers, *found):
        found[Tier.HTTP] = next(iter(found.values()))
    return found


def read_list(path: Path) -> tuple[Proxy, ...]:
    """Return the proxies of a file that no store file names. Raises ConfigurationError likewise."""
    try:
        return _read(str(path), _lines(path), takes_login=True)
    except _Unreadable as error:
        raise ConfigurationError(str(error)) from error


def _file_lines(store: Store, path: Path) -> Iterable[tuple[int, str]]:
    try:
        yield from _lines(path)
    except _Unreadable as error:
        raise StoreFileError(store.path, "fetch.proxies.file", str(error)) from error


class _Unreadable(Exception):
    """Raised for a list that can't be opened, or is no text."""


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise _Unreadable(f"{path} can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise _Unreadable(f"{path}: expected UTF-8") from error
    for number, line in enumerate(text.splitlines(), 1):
        if (line := line.strip()) and not line.startswith("#"):
            yield number, line.split(" #", 1)[0]


def _variable_lines(store: Store, name: str, environ: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    if name not in environ:
        raise StoreFileError(store.path, "fetch.proxies.env", f"the environment variable {name} isn't set")
    yield from enumerate(environ[name].replace(",", " ").split(), 1)


def _takes_login(store: Store, tier: Tier) -> bool:
    """Whether a SOCKS5 proxy may ask for a login: Chromium knows none, and one of ours gets it from us instead."""
    attached = store.fetch.attached
    return tier is not Tier.ATTACHED or attached is None or bool(attached.vendor or attached.start)


def _read(source: str, lines: Iterable[tuple[int, str]], *, takes_login: bool) -> tuple[Proxy, ...]:
    proxies: dict[Proxy, None] = {}
    for number, line in lines:
        try:
            proxy = read_proxy(line)
        except ValueError as error:
            raise ConfigurationError(f"{source}:{number}: {error}") from None
        if proxy.scheme == "socks5" and proxy.has_login and not takes_login:
            raise ConfigurationError(
                f"{source}:{number}: {proxy} asks for a login, which an attached Chromium can't give to SOCKS5: give "
                "that tier http or https proxies"
            )
        proxies[proxy] = None
    if not proxies:
        raise ConfigurationError(f"{source}: expected at least one proxy; leave [fetch.proxies] out to fetch directly")
    return tuple(proxies)
