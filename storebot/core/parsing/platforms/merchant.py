"""Products as shops hand them to price comparisons: the attributes of a Google Merchant feed, whatever its format.

https://support.google.com/merchants/answer/7052112 names the attributes. One item is one variant; those of one page
become one product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from storebot.core.parsing.platforms.carried import Carried, CarriedProduct, is_too_many, record
from storebot.core.parsing.platforms.document import plain
from storebot.core.parsing.values import is_placeholder, squash
from storebot.items import Disagreement, Extracted

NAME = "merchant"

Item = Mapping[str, list[str]]  # attribute, without "g:", in lower case -> its values
Key = Callable[[str], str]

_OPTIONS = ("color", "size", "material", "pattern")


class _Placed(NamedTuple):
    page: str
    item: Item


def products_of(items: Iterable[Item], key: Key, now_ms: int) -> Carried:
    """Return the products of a feed, in its order; ``key`` says which addresses are one page.

    ``now_ms`` decides whether a sale is on. An item without an address or a title is lost.
    """
    found, lost = [], 0
    for item in items:
        if _first(item, "link") and _first(item, "title"):
            found.append(item)
        else:
            lost += 1
    pages: dict[str, list[_Placed]] = {}
    for placed in _placed(found):
        pages.setdefault(key(placed.page), []).append(placed)
    products = tuple(CarriedProduct(url=one[0].page, extracted=_records(one, now_ms)) for one in pages.values())
    return Carried(products=products, lost=lost)


def _records(placed: list[_Placed], now_ms: int) -> tuple[Extracted, ...]:
    return () if is_too_many(placed) else tuple(_record(one, len(placed) > 1, now_ms) for one in placed)


def _placed(items: list[Item]) -> list[_Placed]:
    """Say which page each item stands on: the variants of a group on the one that their addresses have in common."""
    groups: dict[str, list[str]] = {}
    for item in items:
        if group := _first(item, "item_group_id"):
            groups.setdefault(group, []).append(_first(item, "link"))
    shared = {group: _in_common(links) for group, links in groups.items()}

    def page(item: Item) -> str:
        return _first(item, "canonical_link") or shared.get(_first(item, "item_group_id")) or _first(item, "link")

    return [_Placed(page(item), item) for item in items]


def _in_common(links: list[str]) -> str | None:
    """Return the address without the parameters that tell the variants apart; None where their paths differ."""
    try:
        parts = [urlsplit(link) for link in dict.fromkeys(links)]
    except ValueError:  # "https://[": an address that nobody can take apart has nothing in common with others
        return None
    if len({(part.netloc, part.path) for part in parts}) != 1:
        return None
    parameters = [parse_qsl(part.query, keep_blank_values=True) for part in parts]
    common = set(parameters[0]).intersection(*parameters[1:])
    kept = [pair for pair in parameters[0] if pair in common]
    first = parts[0]
    return urlunsplit((first.scheme, first.netloc, first.path, urlencode(kept), ""))


def _record(placed: _Placed, has_siblings: bool, now_ms: int) -> Extracted:
    item = placed.item
    group, brand = _first(item, "item_group_id"), _first(item, "brand")
    variant = bool(group) or has_siblings
    pictures = [*item.get("image_link", []), *item.get("additional_image_link", [])]
    price, regular, disagreement = _money(item, now_ms)
    found = record(
        NAME,
        name=squash(_first(item, "title")),
        brand="" if is_placeholder(brand) else brand,
        product_id=group or _first(item, "id"),
        item_group_id=group,
        variant_id=_first(item, "id") if variant else None,
        url=_first(item, "link"),
        canonical_url=_first(item, "canonical_link") or placed.page,
        gtin=_first(item, "gtin"),
        mpn=_first(item, "mpn"),
        price=price,
        regular_price=regular,
        availability=_first(item, "availability").replace("_", " "),
        condition=_first(item, "condition"),
        options={name: value for name in _OPTIONS if (value := _first(item, name))} if variant else None,
        category_path=_category_path(item),
        main_image=_first(item, "image_link"),
        images=pictures,
        description=plain(_first(item, "description")),
    )
    return replace(found, disagreements=(disagreement,)) if disagreement else found


def _money(item: Item, now_ms: int) -> tuple[str, str, Disagreement | None]:
    """Return price, price before the sale, and a disagreement where nobody can tell whether the sale is on."""
    price, sale = _first(item, "price"), _first(item, "sale_price")
    if not sale:
        return price, "", None
    on = _is_on(_first(item, "sale_price_effective_date"), now_ms)
    if on is None:
        return price, "", Disagreement("price", {NAME: price, f"{NAME}:sale_price": sale})
    return (sale, price, None) if on else (price, "", None)


def _is_on(period: str, now_ms: int) -> bool | None:
    """Say whether now lies in "start/end", both with their offset; without a period a sale is on. None: unreadable."""
    if not period:
        return True
    try:
        start, end = (datetime.fromisoformat(part.strip()).timestamp() * 1000 for part in period.split("/"))
    except (ValueError, OverflowError, OSError):
        return None
    return start <= now_ms <= end


def _category_path(item: Item) -> list[str]:
    """Return the shop's own category, else Google's where it is written out and not a number."""
    for name in ("product_type", "google_product_category"):
        path = [part.strip() for part in _first(item, name).split(">") if part.strip()]
        if path and not path[0].isdigit():
            return path
    return []


def _first(item: Item, name: str) -> str:
    return next((value for value in item.get(name, []) if value), "")
