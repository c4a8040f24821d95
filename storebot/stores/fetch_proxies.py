"""`[fetch.proxies]` of a store file: the lists of proxies, and how long each serves and rests."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from storebot.items import Tier
from storebot.stores import values
from storebot.stores.section import Section
from storebot.stores.texts import text_of
from storebot.stores.wording import clipped, nearest, shown, wrong

PROXIED = (Tier.HTTP, Tier.HTTP2, Tier.BROWSER, Tier.ATTACHED)
"""Tiers that a proxy can stand before: a scraping API fetches from addresses of its own."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE = 'the path of a file, or a table of them such as {http = "plain.txt", browser = "homes.txt"}'
_ENV = 'the name of an environment variable, or a table of them such as {http = "PLAIN", browser = "HOMES"}'


def files(value: object) -> dict[Tier, str]:
    """Return the paths of lists by tier; one path is for every tier that can have proxies."""
    return _by_tier(value, _FILE)


def variables(value: object) -> dict[Tier, str]:
    """Return the names of environment variables that hold lists, by tier likewise."""
    found = _by_tier(value, _ENV)
    for name in found.values():
        if not _VARIABLE.fullmatch(name):
            raise wrong(f"expected {_ENV}; a proxy itself doesn't belong into the file")
    return found


def _by_tier(value: object, expected: str) -> dict[Tier, str]:
    if isinstance(value, str):
        return dict.fromkeys(PROXIED, text_of(value, expected))
    if not isinstance(value, dict) or not value:
        raise wrong(f"expected {expected}, got {shown(value)}")
    known = [tier.value for tier in PROXIED]
    for name in value:
        if name not in known:
            raise wrong(f"expected {expected}, got the tier {clipped(str(name))}", nearest=nearest(str(name), known))
    return {Tier(name): text_of(text, expected) for name, text in value.items()}


class Proxies(Section):
    """Through which proxies the pages are fetched. Where there are some, nothing of the tier goes without."""

    file: Annotated[dict[Tier, str], BeforeValidator(files)] = Field(
        default_factory=dict,
        description="Path of a list of proxies, from the store's folder: one a line, `http://`, `https://` or "
        "`socks5://`, credentials in the URL; `#` begins a comment. A table gives tiers lists of their own: `{http = "
        '"plain.txt", browser = "homes.txt"}`; a tier that it leaves out goes without a proxy.',
    )
    env: Annotated[dict[Tier, str], BeforeValidator(variables)] = Field(
        default_factory=dict,
        description="Name of an environment variable that holds such a list, separated by spaces, commas or line "
        "breaks; or a table likewise.",
    )
    rotate_after: int | None = Field(
        default=None,
        ge=1,
        description="Requests after which the next identity (proxy and cookies) takes over. Without the key one serves "
        "until it's blocked or its proxy fails.",
    )
    cool_down: values.Duration = Field(
        default="10m",
        description='How long a proxy rests that was blocked, such as `"10m"`; each further time twice as long, at '
        "most a day.",
    )

    @model_validator(mode="after")
    def _each_tier_has_one_list(self) -> Proxies:
        if not self.file and not self.env:
            raise wrong("expected a file or an env that lists proxies; leave the section out to fetch directly")
        for tier in self.file:
            if tier in self.env:
                raise wrong(
                    f"names a list for the tier {tier.value}, and so does file; leave one out", key="fetch.proxies.env"
                )
        return self

    @property
    def cool_down_s(self) -> float:
        """The first rest in seconds."""
        return values.milliseconds(self.cool_down) / 1000
