"""A store's own code at work: a page in, what the core reads out. Nothing that such code does ends a crawl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from pydantic import ValidationError

from storebot.core.page import Page
from storebot.core.parsing.offers import identify
from storebot.core.parsing.rules import PARSER, PARSER_NUMBER, Rule
from storebot.core.parsing.schemaorg import Found
from storebot.core.urls import absolute
from storebot.stores.code import RETURNS, Code
from storebot.stores.importing import first_line
from storebot.stores.parsers import Catalogue, Product, Variant
from storebot.stores.product_section import FIELDS
from storebot.stores.select import Select
from storebot.stores.wording import nearest, shown

# One thing's alone: a variant doesn't have them from its product.
_ALONE = frozenset({"variant_id", "sku", "gtin", "mpn", "url", "options", "price_min", "price_max"})


class Links(NamedTuple):
    """What a page of the catalogue names, absolute. ``failure`` is a sentence where the store's own code broke."""

    links: Sequence[str] = ()
    next_url: str | None = None
    failure: str = ""


class _Unfit(ValueError):
    """Raised here for a value that a parser returned and nobody can use; its text says what was expected."""


@dataclass(frozen=True, slots=True)
class ProductParser:
    """``product.py`` as a source of `storebot.core.parsing.reading`."""

    code: Code

    @property
    def selectors(self) -> Mapping[str, tuple[Rule, ...]]:
        return self.code.selectors

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(name for name in self.code.selectors if name in FIELDS)

    def __call__(self, page: Page) -> Found:
        """Return what the code says of a page, each field with the selector of its name that found something.

        An exception in the code, or a value of another type, is the ``failure`` of what is returned.
        """
        select = Select(page, self.code.selectors)
        try:
            records = _records(_products(self.code.function(page, select)))
            sources = {name: _source(name, records, select.won) for record in records for name in record}
        except Exception as error:  # any: it isn't our code, and the next page may be another kind of page
            return Found(PARSER, failure=failure(self.code, error))
        texts = [{name: _shown(value) for name, value in record.items()} for record in records]
        return Found(PARSER, texts, sources=sources)


def read_links(code: Code, page: Page) -> Links:
    """Return what ``catalogue.py`` says of a page, or the failure."""
    try:
        said = code.function(page, Select(page, code.selectors))
        if not isinstance(said, Catalogue):
            raise _Unfit(f"expected catalogue() to return {RETURNS['catalogue']}, got {_kind(said)}")
        next_url = absolute(str(said.next), page.base_url) if said.next else None
        if said.next and next_url is None:
            raise _Unfit(f"next: expected an address, got {shown(said.next)}")
    except Exception as error:  # any: see above
        return Links(failure=failure(code, error))
    urls = (absolute(link, page.base_url) for link in said.links)
    return Links([url for url in dict.fromkeys(urls) if url], next_url)


def failure(code: Code, error: BaseException) -> str:
    """Return one line: the file, the line of it that the exception came through, and what was wrong."""
    if isinstance(error, _Unfit):
        return f"{code.path}: {error}"
    if isinstance(error, ValidationError):
        return f"{code.where(error)}: {'; '.join(_faults(error))}"
    return f"{code.where(error)}: {type(error).__name__}: {first_line(error)}"


def _faults(error: ValidationError) -> list[str]:
    names = [*Product.model_fields, *Catalogue.model_fields]
    faults = []
    for fault in error.errors(include_url=False):
        key = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            close = nearest(str(fault["loc"][-1]), names)
            faults.append(f"{key}: unknown field" + (f" (did you mean {close!r}?)" if close else ""))
        else:
            faults.append(f"{key}: {first_line(ValueError(fault['msg']))}")
    return faults


def _kind(value: object) -> str:
    return "nothing: is there a `return`?" if value is None else f"a {type(value).__name__}"


def _products(said: object) -> Sequence[Product]:
    products = [said] if isinstance(said, Product) else said
    if not isinstance(products, (list, tuple)):
        raise _Unfit(f"expected product() to return {RETURNS['product']}, got {_kind(said)}")
    for product in products:
        if not isinstance(product, Product):
            raise _Unfit(f"expected product() to return {RETURNS['product']}; in its list is {_kind(product)}")
    return products


_Record = dict[str, object]


def _records(products: Sequence[Product]) -> list[_Record]:
    records = [record for product in products for record in _listings(product)]
    if len(records) > 1:
        _identified(records)
    return records


def _listings(product: Product) -> list[_Record]:
    """Return a record per variant, or one for a product without variants; none where nothing is said."""
    whole = _given(product)
    if not product.variants:
        return [whole] if whole else []
    shared = {name: value for name, value in whole.items() if name not in _ALONE}
    if group := product.item_group_id or product.product_id or product.sku:
        shared["item_group_id"] = group
    return [_variant(shared, _given(variant)) for variant in product.variants]


def _variant(shared: Mapping[str, object], own: _Record) -> _Record:
    """Lay a variant over what it shares; the regular price of a product doesn't belong to a variant's own price."""
    dropped = {"regular_price"} if "price" in own else set()
    return {**{name: value for name, value in shared.items() if name not in dropped}, **own}


def _given(one: Variant) -> _Record:
    said = {name: getattr(one, name) for name in type(one).model_fields if name != "variants"}
    return {name: value for name, value in said.items() if value is not None and value not in ((), [], {})}


def _identified(records: list[_Record]) -> None:
    """Give each of several records the identity that tells it apart; raises `_Unfit` where nothing does."""
    ids = [record.get("variant_id") for record in records]
    if not any(ids):
        found = identify([{name: _shown(value) for name, value in record.items()} for record in records])
        ids = list(found or ids)
    if not all(ids) or len(set(ids)) < len(ids):
        raise _Unfit(
            f"nothing tells the {len(ids)} variants apart: give each a variant_id, sku, gtin, url or options of its own"
        )
    for record, identity in zip(records, ids, strict=True):
        record["variant_id"] = identity


def _shown(value: object) -> str | list[str] | dict[str, str]:
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return list(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _source(name: str, records: Sequence[_Record], won: Mapping[str, str]) -> str:
    """Return the source of a field: a number's decimal point is a point, whatever the shop writes on its pages."""
    numbers = {isinstance(record[name], (int, Decimal)) for record in records if name in record}
    if len(numbers) > 1:
        raise _Unfit(f"{name}: expected text for all variants, or a number for all")
    source = PARSER_NUMBER if numbers == {True} else PARSER
    return f"{source} {won[name]}" if name in won else source
