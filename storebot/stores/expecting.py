"""`[expect]` of a store file: what a healthy run of the shop looks like."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, field_validator

from storebot.core.expect import Expected
from storebot.stores import values
from storebot.stores.product_section import FIELDS
from storebot.stores.section import Section
from storebot.stores.wording import nearest, shown, wrong


def _shares(value: object) -> dict[str, float]:
    """Return shares of 0 to 1 by the name of a product field."""
    expected = "a table such as {price = 0.95, brand = 0.8}"
    if not isinstance(value, dict):
        raise wrong(f"expected {expected}, got {shown(value)}")
    for name, share in value.items():
        if name not in FIELDS:
            raise wrong(f'expected names of product fields, got "{name}"', nearest=nearest(name, FIELDS))
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise wrong(f"expected {expected} with shares from 0 to 1, but {name} is {shown(share)}")
    return {name: float(share) for name, share in value.items()}


class Expect(Section):
    """What a healthy run of this shop looks like."""

    required: tuple[str, ...] = Field(
        default=("name",),
        description="Fields of `[product]` without which a listing is invalid. `name` always is one of them.",
    )
    min_listings: int | None = Field(
        default=None,
        ge=0,
        description="The fewest listings that a whole backfill of this shop finds, and that are on sale when a refresh "
        "ends; `0` if it may be empty.",
    )
    fill: Annotated[dict[str, float], BeforeValidator(_shares)] = Field(
        default_factory=dict,
        description="Table of product fields, each with the least share of the listings on sale that has it: "
        "`{price = 0.95, brand = 0.8}`.",
    )
    max_age: values.Duration | None = Field(
        default=None,
        description="How old the last look at a page may be when a refresh ends, and how long ago the end of the last "
        'run that saw the shop: `"3d"`.',
    )
    max_run_time: values.Duration | None = Field(
        default=None, description='The longest that a run takes: `"2h"`. A longer one is marked, not stopped.'
    )
    learned: bool = Field(
        default=True,
        description="Whether a run is also compared with the runs of its kind before it, five at least, in what the "
        "other keys don't say: listings, fields, time, and how often one runs.",
    )

    @field_validator("required", mode="before")
    @classmethod
    def _required_are_fields(cls, value: object) -> tuple[str, ...]:
        names = values.field_names(value)
        for name in names:
            if name not in FIELDS:
                raise wrong(f'expected names of product fields, got "{name}"', nearest=nearest(name, FIELDS))
        return names if "name" in names else ("name", *names)

    @field_validator("max_age", "max_run_time")
    @classmethod
    def _time_is_some(cls, text: str | None) -> str | None:
        if text is not None and not values.milliseconds(text):
            raise wrong(f"expected a time above nought, got {text}; leave the key out instead")
        return text

    @property
    def max_age_ms(self) -> int:
        """The age in milliseconds; 0: none is named."""
        return values.milliseconds(self.max_age) if self.max_age else 0

    def of(self, kind: str) -> Expected:
        """Return what it says of a run of a kind, as the core takes it.

        A backfill below ``min_listings`` is partial, by `storebot.core.ending`, and isn't told so twice. It looks at no
        page that was read, so that these grow old isn't its fault.
        """
        is_backfill = kind == "backfill"
        return Expected(
            min_listings=None if is_backfill else self.min_listings,
            fill=self.fill,
            max_age_ms=0 if is_backfill else self.max_age_ms,
            max_run_time_s=values.milliseconds(self.max_run_time) / 1000 if self.max_run_time else 0.0,
            learned=self.learned,
        )
