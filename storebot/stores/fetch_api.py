"""`[fetch.api]` of a store file: how a scraping API is asked for a page, and where its answer says what."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from storebot.core.scraping_api import PLACEHOLDERS, Paths, placeholders
from storebot.stores import values
from storebot.stores.headers import any_headers
from storebot.stores.locations import api_url
from storebot.stores.section import Section
from storebot.stores.texts import distinct, text_of, texts_of
from storebot.stores.wording import clipped, nearest, shown, wrong

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATH = re.compile(r"[^\s.]+(?:\.[^\s.]+)*")

# https://finedata.ai: the endpoint, the key's variable and the answer's fields are those of its own MCP client,
# github.com/quality-network/finedata-mcp.
PRESETS: dict[str, dict[str, Any]] = {
    "finedata": {
        "url": "https://api.finedata.ai/api/v1/scrape",
        "key_env": "FINEDATA_API_KEY",
        "headers": {"Authorization": "Bearer {key}"},
        "body": {
            "url": "{url}",
            "formats": ["rawHtml"],
            "use_js_render": "{render}",
            "only_main_content": False,
        },
        "html": ["data.rawHtml", "body"],
        "status": "status_code",
        "final_url": "meta.final_url",
        "cost": "tokens_used",
    }
}


def _variable(value: object) -> str:
    expected = 'the name of an environment variable such as "SCRAPING_KEY"'
    text = text_of(value, expected)
    if not _VARIABLE.fullmatch(text):
        raise wrong(f"expected {expected}, got {len(text)} characters that are none: is it the key itself?")
    return text


def _path(value: object) -> str:
    expected = 'a dotted path into the answer such as "data.html"'
    text = text_of(value, expected)
    if not _PATH.fullmatch(text):
        raise wrong(f"expected {expected}, got {clipped(text)}")
    return text


def _paths(value: object) -> tuple[str, ...]:
    expected = 'a dotted path into the answer such as "data.html", or a list of them'
    return distinct([_path(text) for text in texts_of([value] if isinstance(value, str) else value, expected)])


def _json(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise wrong(f'expected a table such as {{url = "{{url}}"}}, got {shown(value)}')
    _check_json(value)
    return value


def _check_json(value: object) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            _check_json(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_json(inner)
    elif not isinstance(value, (str, bool, int, float)):
        raise wrong(f"has {shown(value)}, which JSON doesn't know")


class Api(Section):
    """A scraping API: it fetches the page, for money, and answers with JSON that holds the HTML."""

    preset: Literal["finedata"] | None = Field(
        default=None,
        description='The API, where it is one that storebot knows: `"finedata"`. It sets the keys below, and each of '
        "them can still be given.",
    )
    url: Annotated[str, BeforeValidator(api_url)] = Field(
        description="Address of the API, absolute. It can hold `{url}`, never `{key}`: addresses are logged.",
    )
    key_env: Annotated[str, BeforeValidator(_variable)] | None = Field(
        default=None, description="Name of the environment variable that holds the key, which is `{key}` below."
    )
    method: Literal["POST", "GET"] = Field(default="POST", description="HTTP method.")
    headers: Annotated[dict[str, str], BeforeValidator(any_headers)] = Field(
        default_factory=dict, description='Table of headers, such as `Authorization = "Bearer {key}"`.'
    )
    body: Annotated[dict[str, Any], BeforeValidator(_json)] = Field(
        default_factory=dict,
        description="Table that is sent as JSON. In its texts `{url}` is the page's address, `{key}` the key, "
        "`{country}` and `{language}` are those of `[fetch]`, and `{render}` is the key below, as true or false.",
    )
    html: Annotated[tuple[str, ...], BeforeValidator(_paths)] = Field(
        description="Where the answer has the page's HTML: a path of keys with dots between them, such as "
        '`"data.html"`, or a list of them, of which the first that leads to a text counts.'
    )
    status: Annotated[str, BeforeValidator(_path)] | None = Field(
        default=None, description="Where it has the status that the shop answered. Without the key: 200."
    )
    final_url: Annotated[str, BeforeValidator(_path)] | None = Field(
        default=None, description="Where it has the address at which redirects ended."
    )
    cost: Annotated[str, BeforeValidator(_path)] | None = Field(
        default=None,
        description="Where it has what the call cost, in the API's own units. These are counted as billed then, "
        "instead of one a call, and the price of the tier is that of one unit.",
    )
    render: bool = Field(default=False, description="Whether the page's scripts are to run: `{render}` in `body`.")
    timeout: values.Duration = Field(default="120s", description='How long an answer may take, such as `"90s"`.')
    bills_failures: bool = Field(
        default=True,
        description="Whether the API is paid for a call that brought no page, where its answer doesn't say.",
    )

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, given: Any) -> Any:
        preset = PRESETS.get(given["preset"]) if isinstance(given, dict) and _is_known(given.get("preset")) else None
        return {**preset, **given} if preset else given

    @model_validator(mode="after")
    def _placeholders_have_values(self) -> Api:
        in_url, elsewhere = placeholders(self.url), placeholders((self.headers, self.body))
        for name in in_url | elsewhere:
            if name not in PLACEHOLDERS:
                expected = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
                raise wrong(f"has {{{name}}}: expected one of {expected}", nearest=nearest(name, PLACEHOLDERS))
        if "key" in in_url:
            raise wrong(
                "must not hold {key}: addresses are logged; put it into a header or the body", key="fetch.api.url"
            )
        if "url" not in in_url | placeholders(self.body):
            raise wrong("never says {url}: the API has to learn which page is asked for", key="fetch.api.body")
        if ("key" in elsewhere) != (self.key_env is not None):
            problem = (
                "has no effect, because nothing says {key}" if self.key_env else "is missing, because {key} is used"
            )
            raise wrong(problem, key="fetch.api.key_env")
        if self.body and self.method == "GET":
            raise wrong("has no effect, because fetch.api.method is GET; put {url} into the url", key="fetch.api.body")
        return self

    @property
    def paths(self) -> Paths:
        """Where an answer says what, as the core takes it."""
        return Paths(self.html, self.status, self.final_url, self.cost)

    @property
    def timeout_s(self) -> float:
        """How long an answer may take, in seconds."""
        return values.milliseconds(self.timeout) / 1000

    @property
    def used(self) -> set[str]:
        """The placeholders that stand anywhere."""
        return placeholders((self.url, self.headers, self.body))


def _is_known(preset: object) -> bool:
    return isinstance(preset, str) and preset in PRESETS
