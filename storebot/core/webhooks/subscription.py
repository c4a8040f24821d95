"""Who gets which changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from storebot.exceptions import ConfigurationError

TYPES = ("new", "changed", "delisted", "relisted", "missing", "returned", "corrected")
MOST_CHANGES = 500
DEFAULT_CHANGES = 100


class Wanted(NamedTuple):
    """Conditions on a change; it has to meet each of them. An empty one is met by all."""

    stores: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()  # one of them at least has changed; a delisting changes `status`

    @property
    def is_choosy(self) -> bool:
        """Whether it may pass over changes of the stores that it names."""
        return bool(self.types or self.fields)

    def admits(self, change: Mapping[str, Any]) -> bool:
        """Whether a change, as `db.change_feed` gives it, meets them."""
        return (
            _meets(self.stores, [change["store"]])
            and _meets(self.types, [change["type"]])
            and _meets(self.fields, [one["field"] for one in change["fields"]])
        )


class Subscription(NamedTuple):
    """One receiver. Its secrets aren't here: ``secret_env`` names the variable of the environment that has them."""

    id: int
    url: str
    secret_env: str
    wanted: Wanted = Wanted()
    most_changes: int = DEFAULT_CHANGES  # in one message
    allow_private: bool = False
    ended: str = ""  # why nothing is sent any more; "" while it's active


def check_url(url: str, *, allow_private: bool) -> None:
    """Raise ConfigurationError for a URL that nothing may be sent to."""
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0 and url.isascii() and not set(url) & set(" \r\n\t")
    except ValueError:
        usable = False
    if not usable or parts.scheme not in ("https", "http"):
        raise ConfigurationError("--url: expected the https:// address of a receiver, in ASCII and without spaces")
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError("--url: a user or password in an address isn't kept; the signature says who sends")
    if parts.scheme == "http" and not allow_private:
        raise ConfigurationError("--url: http:// can be read on its way; only a private network may (--allow-private)")


def _meets(condition: Collection[str], values: Collection[str]) -> bool:
    return not condition or any(value in condition for value in values)
