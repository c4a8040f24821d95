"""`[fetch.browser]` of a store file: how pages are rendered, and what of them isn't loaded."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from storebot.stores.section import Section
from storebot.stores.texts import distinct, texts_of
from storebot.stores.wording import clipped, nearest, wrong

LEFT_OUT = ("image", "media", "font", "stylesheet", "ad")
_NOT_OF_A_BROWSER = re.compile(r"::(?:text|attr)\b|^(?:xpath|re):")


def selectors(value: object) -> tuple[str, ...]:
    """Return CSS selectors as a browser knows them."""
    expected = 'a list of CSS selectors such as [".price"]'
    found = distinct(texts_of(value, expected))
    for text in found:
        if _NOT_OF_A_BROWSER.search(text):
            raise wrong(
                f"expected {expected}, got {clipped(text)}: a browser knows CSS alone, without ::text and ::attr"
            )
    return found


def left_out(value: object) -> tuple[str, ...]:
    """Return the kinds of subresources that aren't loaded; an empty list loads all of them."""
    if value == []:
        return ()
    expected = f"a list of what isn't loaded ({', '.join(LEFT_OUT)})"
    found = distinct(texts_of(value, expected))
    for name in found:
        if name not in LEFT_OUT:
            raise wrong(f"expected {expected}, got {clipped(name)}", nearest=nearest(name, LEFT_OUT))
    return found


class Browser(Section):
    """How the tiers `browser` and `attached` render a page."""

    wait_for: Annotated[tuple[str, ...], BeforeValidator(selectors)] = Field(
        default=(),
        description="CSS selectors; a product page is read when the first element of each has a text that isn't a "
        'placeholder such as "$0.00" or "Loading…". Without them: when the page is loaded and has stopped changing.',
    )
    wait_for_links: Annotated[tuple[str, ...], BeforeValidator(selectors)] = Field(
        default=(), description="The same for the pages of the catalogue."
    )
    wait_s: float = Field(
        default=15.0,
        gt=0,
        description="Seconds that `wait_for` may take; then the visit is an error, unless the page turns out to be a "
        "block page or one for a product that is gone. An error status and what surely is a block page end the wait at "
        "once; a challenge has 8 seconds to pass by itself.",
    )
    settle_s: float = Field(
        default=0.5,
        ge=0,
        description="Without `wait_for`: for how many seconds a loaded page must not have changed. A page that never "
        "rests is read after ten times that.",
    )
    timeout_s: float = Field(default=45.0, gt=0, description="Seconds for a page altogether.")
    abort: Annotated[tuple[str, ...], BeforeValidator(left_out)] = Field(
        default=("image", "media", "font", "ad"),
        description='What isn\'t loaded: `"image"`, `"media"`, `"font"`, `"stylesheet"`, `"ad"` (known hosts of '
        "advertisements and of visitor statistics). `[]` loads everything.",
    )
    concurrency: int = Field(
        default=2,
        ge=1,
        description="Pages open at once, beside `politeness.concurrency`, which holds for all tiers together. A page "
        "takes 50 to 300 MB.",
    )
    recycle_pages: int = Field(
        default=200, ge=1, description="Pages after which the browser is replaced by a new one, cookies kept."
    )

    @field_validator("timeout_s")
    @classmethod
    def _there_is_time_to_wait(cls, timeout_s: float, info: ValidationInfo) -> float:
        wait_s = info.data.get("wait_s", 0.0)
        if timeout_s <= wait_s:
            raise wrong(
                f"expected more than fetch.browser.wait_s ({wait_s:g}), which is a part of it, got {timeout_s:g}"
            )
        return timeout_s
