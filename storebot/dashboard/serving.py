"""Serving the dashboard until a signal, where that is safe."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from storebot.api.serving import serve_app
from storebot.core.read_api import is_loopback
from storebot.dashboard.app import create_app
from storebot.dashboard.site import Site
from storebot.db import users
from storebot.exceptions import ConfigurationError

_ADD = "scrapy users add NAME --role operator"


def serve(site: Site, host: str, port: int, tokens: tuple[str, ...], opened: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; ``opened`` is told the address. ``tokens`` are those of the read API.

    Raises ConfigurationError where others than this machine could come in without a login, or for an address that
    can't be listened on.
    """
    check_public_url(site.public_url)
    with site.database.explaining(), site.database.read() as conn:
        has_users = users.any_user(conn)
    if not has_users and not is_loopback(host):
        raise ConfigurationError(
            f"--host {host}: without a user the dashboard is for this machine alone. Add one, {_ADD}; and put TLS in "
            "front (a reverse proxy, docs/operating.md), or passwords travel in the clear"
        )
    if not has_users and site.public_url:
        raise ConfigurationError(f"--public-url {site.public_url}: add a user first, {_ADD}")
    serve_app(create_app(site, tokens), host, port, opened)


def check_public_url(url: str) -> None:
    """Raise ConfigurationError where a URL isn't scheme and host alone."""
    try:
        parts = urlsplit(url)
        fits = not url or (parts.scheme in ("http", "https") and parts.netloc and not parts.path.strip("/"))
    except ValueError:
        fits = False
    if not fits or (url and (parts.query or parts.fragment or "@" in parts.netloc)):
        raise ConfigurationError(f"--public-url {url}: expected something like https://storebot.example.com")
