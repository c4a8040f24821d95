"""Who is told: Apprise URLs, which hold tokens and passwords, and so stand in the environment alone."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType

from storebot.core.alerts.message import Channel
from storebot.core.secrets import redacted, secret_parts
from storebot.exceptions import ConfigurationError

_CHATTY = ("apprise", "urllib3", "requests", "requests_oauthlib", "oauthlib")  # they'd log URLs with tokens
VARIABLES = {channel: f"STOREBOT_ALERTS_{channel.value.upper()}" for channel in Channel}


@dataclass(frozen=True, slots=True)
class Recipient:
    """One of them. Its ``str`` and ``repr`` hold nothing secret; only `url` does."""

    url: str = field(repr=False)
    id: str  # hash of the URL, a slow one: it's saved, and a mail password may be weak
    service: str  # mailto, slack …

    def __str__(self) -> str:
        return f"{self.service} ({self.id[:6]})"

    def without_secrets(self, text: str) -> str:
        """Return a text without any part of the URL."""
        return redacted(text, secret_parts(self.url))


def read_recipients(environ: Mapping[str, str]) -> dict[Channel, tuple[Recipient, ...]]:
    """Return who is told in each channel, in order; nobody where the variable isn't set.

    Raises ConfigurationError for a URL that Apprise can't read, with its place and never with the URL.
    """
    return {channel: _read(name, environ.get(name, "")) for channel, name in VARIABLES.items()}


def _read(variable: str, text: str) -> tuple[Recipient, ...]:
    found = {}
    for place, url in enumerate(text.split(), 1):
        with hushed():
            usable = apprise().Apprise.instantiate(url, suppress_exceptions=True) is not None
        if not usable:
            raise ConfigurationError(
                f"{variable}: number {place} is no URL that Apprise can use (its scheme, or what it needs, is wrong): "
                "expected one such as mailtos://user:password@example.com or slack://…, separated by spaces; "
                "https://appriseit.com lists them"
            )
        service = url.partition("://")[0].lower()
        identity = hashlib.scrypt(url.encode(), salt=b"storebot", n=2**14, r=8, p=1, dklen=16).hex()
        found[identity] = Recipient(url, identity, service[:32])
    return tuple(found.values())


def apprise() -> ModuleType:
    """Return Apprise, which takes half a second to import. Raises ConfigurationError where it isn't installed."""
    try:
        import apprise as module
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"{error}: alerts need it, pip install 'storebot[alerts]'") from error
    found: ModuleType = module
    return found


@contextmanager
def hushed() -> Iterator[None]:
    """Keep the logs of what speaks HTTP and SMTP out of ours; what went wrong is in the result."""
    loggers = [logging.getLogger(name) for name in _CHATTY]
    before = [(one, one.level, one.propagate) for one in loggers]
    try:
        for one in loggers:
            one.propagate = False
            if one.name != "apprise":  # whose result is made of its log
                one.setLevel(logging.CRITICAL)
        yield
    finally:
        for one, level, propagate in before:
            one.setLevel(level)
            one.propagate = propagate
