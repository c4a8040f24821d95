"""What a buyer reads on a page that tells machines little: name, price, stock and codes, as the last source."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing import selectors
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.values import Values
from storebot.core.parsing.visible_labels import read_labels
from storebot.core.parsing.visible_money import add_price, currency_of, overrule
from storebot.core.parsing.visible_name import find_heading, name_of
from storebot.core.parsing.visible_price import amounts_of, nearest, settle, without_tiles
from storebot.core.parsing.visible_stock import is_buy, stock_line
from storebot.core.parsing.visible_tree import Path, ancestors, on_show, shared

SOURCE = "visible"


def read(page: Page, structured: Sequence[Found]) -> Found:
    """Return what is on show beside the product's name; nothing for a page that shows no product.

    Where the page declares no product, there must be a name, one price beside it and a button to buy it: a
    category, a start page or an error page has no such three. ``field_source`` names the kind of evidence:
    ``visible:h1``, ``visible:price``, ``visible:label``, ``visible:stock``, ``visible:button``.
    """
    found = Found(SOURCE)
    if page.root is None:
        return found
    elements = list(on_show(page.root))
    known = [record for source in structured for record in source.records]
    heading = find_heading(page.root, elements)
    if heading is None:
        return _labels_alone(found, elements) if known else found
    path = ancestors(heading)
    buys = [ancestors(one) for one in elements if is_buy(one)]
    hint = currency_of(page, known)
    title = name_of(heading).casefold()
    seen = [one for one in amounts_of(elements, hint) if one.text.casefold() not in title and heading not in one.path]
    beside = nearest(without_tiles([one for one in seen if buys or one.is_marked], path), path)
    price = settle(beside, buys)
    declared = any(source.records for source in structured if source.source != selectors.SOURCE)
    if not declared and (price is None or not buys):
        return found
    if price is not None:
        overrule(found, structured, price, beside)
    record: Values = {"name": name_of(heading)}
    found.sources["name"] = f"{SOURCE}:{heading.tag}"
    if price is not None and len(known) <= len([source for source in structured if source.records]):
        add_price(page, found, record, price, beside, hint, known)
    _add_stock(found, record, elements, [path, *_nearest(path, buys), *([price.path] if price else [])])
    if "availability" not in record and price is not None and buys and not any("availability" in one for one in known):
        # Only where nobody says anything: a button that can be pressed may also take orders in advance.
        record["availability"] = "InStock"
        found.sources["availability"] = f"{SOURCE}:button"
    _add_labels(found, record, elements)
    found.records = [record]
    return found


def _labels_alone(found: Found, elements: Sequence[etree._Element]) -> Found:
    """Return the labelled codes of a page whose product other sources know and no heading names."""
    record: Values = {}
    _add_labels(found, record, elements)
    found.records = [record] if record else []
    return found


def _nearest(path: Path, buys: Sequence[Path]) -> list[Path]:
    """Return the first buy buttons of those that stand nearest to the name."""
    depth = max((shared(path, one) for one in buys), default=0)
    return [one for one in buys if shared(path, one) == depth][:3]


def _add_stock(found: Found, record: Values, elements: Sequence[etree._Element], places: Sequence[Path]) -> None:
    if (line := stock_line(elements, places)) is not None:
        record["availability"] = line
        found.sources["availability"] = f"{SOURCE}:stock"


def _add_labels(found: Found, record: Values, elements: Sequence[etree._Element]) -> None:
    for name, text in read_labels(elements).items():
        record.setdefault(name, text)
        found.sources.setdefault(name, f"{SOURCE}:label")
