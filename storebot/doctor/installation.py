"""Versions, what is installed, and what the environment says."""

from __future__ import annotations

import importlib
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import storebot
from storebot.core.heartbeat import Beat, address
from storebot.db.schema import REVISION
from storebot.doctor.check import Check, failure, ok, warning

_SCRAPY = "2.19"
_OLDEST = (3, 11)
# module -> the extra that brings it, and what isn't there without it
_EXTRAS = {
    "pymysql": ("mysql", "MySQL and MariaDB"),
    "psycopg": ("postgresql", "PostgreSQL"),
    "httpx2": ("http2", "the tier http2, and proxies by https:// or socks5://"),
    "apprise": ("alerts", "scrapy alerts"),
    "prometheus_client": ("metrics", "scrapy metrics"),
    "pythonjsonlogger": ("logs", "STOREBOT_LOG_JSON"),
}
_FOR_SETTINGS = {
    "apprise": ("STOREBOT_ALERTS_OPERATOR", "STOREBOT_ALERTS_BUSINESS"),
    "pythonjsonlogger": ("STOREBOT_LOG_JSON",),
}


def examine(settings: Any, environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield a check each of versions, extras and variables."""
    yield _versions()
    yield from _extras(settings, environ)
    if environ.get("STOREBOT_HEARTBEAT"):
        yield _heartbeat(environ["STOREBOT_HEARTBEAT"])
    if not settings.get("STOREBOT_CONTACT"):
        yield warning(
            "contact",
            "the user agent doesn't say whom a shop's owner can reach",
            "set STOREBOT_CONTACT to your page or mail address",
        )


def _versions() -> Check:
    try:
        scrapy = version("scrapy")
    except PackageNotFoundError:
        scrapy = "not installed as a package"
    text = (
        f"storebot {storebot.__version__} (tables {REVISION}), Scrapy {scrapy}, Python {platform.python_version()} on "
        f"{platform.system()}"
    )
    if sys.version_info < _OLDEST or not scrapy.startswith(f"{_SCRAPY}."):
        return failure("versions", text, f"storebot needs Scrapy {_SCRAPY}.* and Python 3.11 or newer")
    return ok("versions", text)


def _extras(settings: Any, environ: Mapping[str, str]) -> Iterator[Check]:
    missing = {}
    for module, (extra, what) in _EXTRAS.items():
        try:
            importlib.import_module(module)
        except ImportError:
            missing[extra] = what
            wanted = [name for name in _FOR_SETTINGS.get(module, ()) if environ.get(name) or settings.get(name)]
            if wanted:
                yield failure("extras", f"{', '.join(wanted)} needs {module}", f"pip install 'storebot[{extra}]'")
    absent = "; ".join(f"{what} ({extra})" for extra, what in missing.items())
    yield ok("extras", f"all but: {absent}" if absent else "all are installed")


def _heartbeat(template: str) -> Check:
    try:
        address(template, Beat.START, "store", "refresh")
    except ValueError as error:
        return failure("heartbeat", f"STOREBOT_HEARTBEAT: {error}", "correct the variable, or unset it")
    return ok("heartbeat", "STOREBOT_HEARTBEAT is a URL; each run calls it")
