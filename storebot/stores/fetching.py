"""`[fetch]` of a store file: by which tools its pages are fetched."""

from __future__ import annotations

from pydantic import Field

from storebot.items import Tier
from storebot.stores import values
from storebot.stores.section import Section


class Fetch(Section):
    """By which tools the pages are fetched, the cheapest first."""

    tiers: values.Tiers = Field(
        default=(Tier.HTTP,),
        description='The tools that may be used: `"http"`, `"http2"`, `"browser"`, `"attached"`, `"api"`. The '
        "cheapest is tried first; another one only where that one is blocked, or gets a page without its fields.",
    )
