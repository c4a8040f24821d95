"""`[fetch.attached]` of a store file: a browser that runs elsewhere, and who starts it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from storebot.core.local_api import ASKED, named
from storebot.stores import values
from storebot.stores.headers import any_headers
from storebot.stores.locations import api_url
from storebot.stores.section import Section
from storebot.stores.texts import distinct, text_of, texts_of
from storebot.stores.wording import clipped, nearest, shown, wrong

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ENDPOINT = re.compile(r"(?:wss?|https?)://[^\s/?#@]+(?:[/?#]\S*)?", re.IGNORECASE)


def address(value: object) -> str:
    """Return the address of a browser's DevTools, or of a vendor's local API."""
    expected = 'an address such as "http://127.0.0.1:9222" or "ws://host/devtools/browser/…"'
    text = text_of(value, expected)
    if not _ENDPOINT.fullmatch(text):
        raise wrong(f"expected {expected}, got {clipped(text)}; one with a password or key belongs into endpoint_env")
    return text.rstrip("/")


def variable(value: object) -> str:
    """Return the name of an environment variable."""
    text = text_of(value, 'the name of an environment variable such as "BROWSER_ENDPOINT"')
    if not _VARIABLE.fullmatch(text):
        raise wrong(f"expected the name of an environment variable, got {len(text)} characters that are none")
    return text


def ids(value: object) -> tuple[str, ...]:
    """Return ids of profiles, or arguments of a browser."""
    return distinct(texts_of(value, 'a list of texts such as ["k1abc"]'))


def answer(value: object) -> dict[str, str | int | bool]:
    """Return what an answer that succeeded says, by path."""
    wanted = "a table of paths into the answer and their values, such as {code = 0}"
    if not isinstance(value, dict) or not value:
        raise wrong(f"expected {wanted}, got {shown(value)}")
    for said in value.values():
        if not isinstance(said, (str, int, bool)):
            raise wrong(f"expected {wanted}, got {shown(said)} in it")
    return value


def json_body(value: object) -> dict[str, Any]:
    """Return a table that can be sent as JSON."""
    if not isinstance(value, dict):
        raise wrong(f'expected a table such as {{profileId = "{{profile}}"}}, got {shown(value)}')
    return value


class Call(Section):
    """One call of a vendor's local API."""

    url: Annotated[str, BeforeValidator(api_url)] = Field(description="Its address, absolute.")
    method: Literal["GET", "POST", "PUT", "DELETE"] = Field(default="GET", description="HTTP method.")
    body: Annotated[dict[str, Any], BeforeValidator(json_body)] | None = Field(
        default=None, description="Table that is sent as JSON."
    )

    @model_validator(mode="after")
    def _placeholders_are_known(self) -> Call:
        for name in named((self.url, self.body)):
            if name not in ASKED:
                raise wrong(
                    f"has {{{name}}}: expected one of {', '.join(f'{{{known}}}' for known in ASKED)}",
                    nearest=nearest(name, ASKED),
                )
        if "key" in named(self.url) or "proxy.password" in named(self.url):
            raise wrong("has a secret in its url: addresses are logged; put it into a header or the body")
        return self


class Start(Call):
    """The call that starts a profile."""

    endpoint: str = Field(
        description="Where its DevTools are then, with paths into the answer: `{data.ws.puppeteer}`, or "
        "`http://127.0.0.1:{data.port}`."
    )


class Create(Call):
    """The call that makes a profile."""

    profile: str = Field(description="Its id, with paths into the answer: `{data.id}`.")


class Attached(Section):
    """A browser that somebody else has started, or starts when asked. `[fetch.browser]` says how it renders."""

    endpoint: Annotated[str, BeforeValidator(address)] | None = Field(
        default=None,
        description='Where its DevTools are: `"http://127.0.0.1:9222"` for a Chromium started with '
        "`--remote-debugging-port=9222`. For Kameleo the address of its Local API; without the key "
        "`http://localhost:5050`.",
    )
    endpoint_env: Annotated[str, BeforeValidator(variable)] | None = Field(
        default=None, description="Name of an environment variable that holds the address, where it has a key in it."
    )
    vendor: Literal["kameleo"] | None = Field(
        default=None,
        description='`"kameleo"`: profiles are started by Kameleo\'s own client, which is the extra `kameleo`. Other '
        "anti-detect browsers are described by the sections below.",
    )
    profiles: Annotated[tuple[str, ...], BeforeValidator(ids)] = Field(
        default=(),
        description="Ids of the vendor's profiles, one for each identity in turn. Without them each identity gets a "
        "new profile, deleted at the end: with Kameleo, and with a `create` section.",
    )
    arguments: Annotated[tuple[str, ...], BeforeValidator(ids)] = Field(
        default=(), description='Arguments with which Kameleo starts a browser, such as `["--mute-audio"]`.'
    )
    concurrency: int = Field(
        default=1, ge=1, description="Pages open at once, and profiles that run at once: what the vendor's plan allows."
    )
    key_env: Annotated[str, BeforeValidator(variable)] | None = Field(
        default=None, description="Name of the environment variable that holds the local API's key: `{key}` below."
    )
    headers: Annotated[dict[str, str], BeforeValidator(any_headers)] = Field(
        default_factory=dict, description='Table of headers for the calls, such as `Authorization = "Bearer {key}"`.'
    )
    expect: Annotated[dict[str, str | int | bool], BeforeValidator(answer)] = Field(
        default_factory=dict,
        description="What an answer says of a call that succeeded, by path: `{code = 0}`. Without the key the HTTP "
        "status decides.",
    )
    timeout: values.Duration = Field(
        default="90s", description="How long a call may take: starting a profile can load a browser first."
    )
    create: Create | None = Field(
        default=None,
        description="The call that makes a profile for an identity. In it, `{name}` is a name for it, and "
        "`{proxy.scheme}`, `{proxy.host}`, `{proxy.port}`, `{proxy.username}`, `{proxy.password}` its proxy.",
    )
    start: Start | None = Field(default=None, description="The call that starts a profile: `{profile}` is its id.")
    stop: Call | None = Field(default=None, description="The call that stops it.")
    delete: Call | None = Field(default=None, description="The call that deletes what `create` made.")

    @model_validator(mode="after")
    def _somebody_has_the_browser(self) -> Attached:
        ways = [self.start is not None, self.vendor is not None]
        plain = self.endpoint is not None or self.endpoint_env is not None
        if not any(ways) and not plain:
            raise wrong("expected an endpoint, a vendor, or a start section", key="fetch.attached")
        if all(ways) or (self.start and plain):
            raise wrong(
                "has no effect beside the start section, which says where the browser is; leave one out",
                key="fetch.attached.vendor" if self.vendor else "fetch.attached.endpoint",
            )
        if self.endpoint and self.endpoint_env:
            raise wrong("has no effect beside endpoint; leave one out", key="fetch.attached.endpoint_env")
        return self

    @model_validator(mode="after")
    def _calls_fit_together(self) -> Attached:
        if self.start is None:
            for name in ("create", "stop", "delete"):
                if getattr(self, name) is not None:
                    raise wrong("has no effect without a start section", key=f"fetch.attached.{name}")
            return self
        if self.stop is None:
            raise wrong("is missing: a profile that is started has to be stopped", key="fetch.attached.stop")
        if not self.profiles and self.create is None:
            raise wrong("is missing: expected ids of profiles, or a create section", key="fetch.attached.profiles")
        if self.create is not None and self.delete is None:
            raise wrong("is missing: a profile that is made has to be deleted", key="fetch.attached.delete")
        uses_key = "key" in named((self.headers, *(call.body for call in self.calls)))
        if uses_key != (self.key_env is not None):
            problem = "has no effect, because nothing says {key}" if self.key_env else "is missing: {key} is used"
            raise wrong(problem, key="fetch.attached.key_env")
        return self

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of the local API that are described."""
        return tuple(call for call in (self.create, self.start, self.stop, self.delete) if call is not None)

    @property
    def timeout_s(self) -> float:
        """How long a call may take, in seconds."""
        return values.milliseconds(self.timeout) / 1000
