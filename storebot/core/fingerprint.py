"""What makes two visits equal: hashes over the tracked fields of a listing, over its details, over a page's variants.

A change of anything here that changes a hash raises `HASH_VERSION`, so that pages are re-based silently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import cast
from urllib.parse import parse_qsl

import orjson

from storebot.core.text import comparable_text
from storebot.items import Listing

HASH_VERSION = 1

# What a market move is. Left out: what changes by itself (rating, reviews), what is hashed apart (description, images),
# ids that some shops invent on every visit, and addresses.
TRACKED: tuple[str, ...] = (
    "name",
    "brand",
    "gtin",
    "mpn",
    "sku",
    "price_minor",
    "regular_price_minor",
    "currency",
    "price_min_minor",
    "price_max_minor",
    "availability",
    "condition",
    "options",
    "category_path",
    "seller",
)

_PICTURE = re.compile(r"\.(?:jpe?g|png|webp|avif|gif|svg|bmp|jfif|heic|tiff?)$", re.IGNORECASE)
# Parameters that say which picture it is where the path doesn't: /image.php?id=5, /_next/image?url=…
_IDENTIFYING = frozenset({"id", "url", "src", "file", "path", "image", "img", "name", "u", "filename"})


def tracked_values(listing: Listing) -> dict[str, object]:
    """Return what is hashed and compared: the tracked fields that have a value, each in its comparable form.

    A field without a value is left out, so that a new optional field changes no hash. Lists are sets here: breadcrumbs
    come in another order by another way through the shop.
    """
    found: dict[str, object] = {}
    for name in TRACKED:
        value = getattr(listing, name)
        if value is None or value == "" or value == () or value == {}:
            continue
        found[name] = _comparable(value)
    return found


def record_hash(listing: Listing) -> str:
    """Return SHA-256 (hex) over canonical JSON ``{field: value}`` of the tracked fields. Text must be clean."""
    return _digest(tracked_values(listing))


def details_hash(listing: Listing) -> str:
    """Return SHA-256 (hex) over description and images: a set, without what a CDN puts into the query."""
    images = {picture_address(address) for address in listing.images}
    if listing.main_image:
        images.add(picture_address(listing.main_image))
    details: dict[str, object] = {}
    if listing.description:
        details["description"] = comparable_text(listing.description)
    if images:
        details["images"] = sorted(images)
    return _digest(details)


def page_hash(hashes_by_variant: Mapping[str, str]) -> str:
    """Return SHA-256 (hex) over the hashes of a page's variants, whatever their order; the ids are hashed with them."""
    return _digest(dict(hashes_by_variant))


def picture_address(address: str) -> str:
    """Return an image address without what changes from visit to visit: scheme, fragment, CDN parameters."""
    _, _, rest = address.partition("://")
    rest = (rest or address).partition("#")[0]
    path, mark, query = rest.partition("?")
    if not mark or _PICTURE.search(path):
        return path
    kept = [f"{name}={value}" for name, value in parse_qsl(query) if name.lower() in _IDENTIFYING]
    return f"{path}?{'&'.join(kept)}" if kept else path


def _comparable(value: object) -> object:
    if isinstance(value, str):
        return comparable_text(value)
    if isinstance(value, tuple):
        return sorted({comparable_text(part) for part in cast("tuple[str, ...]", value)})
    if isinstance(value, dict):
        return {comparable_text(name): comparable_text(text) for name, text in cast("dict[str, str]", value).items()}
    return value


def _digest(values: dict[str, object] | dict[str, str]) -> str:
    return sha256(orjson.dumps(values, option=orjson.OPT_SORT_KEYS)).hexdigest()
