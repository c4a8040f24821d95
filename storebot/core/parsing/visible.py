"""What a buyer reads on a page that tells machines little: name, price, stock and codes, as the last source."""

from __future__ import annotations

from collections.abc import Sequence

from storebot.core.page import Page
from storebot.core.parsing import selectors
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.values import Values
from storebot.core.parsing.visible_amount import Seen
from storebot.core.parsing.visible_bytes import corroborates
from storebot.core.parsing.visible_labels import read_labels
from storebot.core.parsing.visible_money import add_price, contradict, currency_of, overrule
from storebot.core.parsing.visible_name import find_heading, name_of
from storebot.core.parsing.visible_price import differing, is_in_tile, prices_near, settle
from storebot.core.parsing.visible_stock import buy_buttons, is_product_page, said_by_button, shows_stock, stock_line
from storebot.core.parsing.visible_tree import Path, View, ancestors, look, shared

__all__ = ["SOURCE", "corroborates", "read"]

SOURCE = "visible"


def read(page: Page, structured: Sequence[Found]) -> Found:
    """Return what is on show beside the product's name; nothing for a page that shows no product.

    Where the page declares no product, there must be a name, one price beside it and a button to buy it, or what
    stands in for it (a marked line of stock, the body's class): a category, a start page or an error page has no such
    three. ``field_source`` names the kind of evidence: ``visible:h1``, ``visible:price``, ``visible:label``,
    ``visible:stock``, ``visible:button``.
    """
    found = Found(SOURCE)
    if page.root is None:
        return found
    view = look(page.root)
    known = [record for source in structured for record in source.records]
    heading = find_heading(page, view)
    if heading is None:
        return _labels_alone(found, view) if known else found
    path = ancestors(heading)
    buys = [ancestors(one) for one in buy_buttons(view)]
    hint = currency_of(page, known)
    name = name_of(heading)
    beside = prices_near(view, path, hint, marked_only=not buys, title=name.casefold())
    price = _agreed(view, settle(beside, buys), beside, path, buys, hint)
    declared = any(source.records for source in structured if source.source != selectors.SOURCE)
    if not declared and (price is None or not (buys or is_product_page(page.root) or shows_stock(view, [price.path]))):
        return found
    contradict(found, structured, price, beside)
    if price is not None:
        overrule(found, structured, price, beside)
    record: Values = {"name": name}
    found.sources["name"] = f"{SOURCE}:{heading.tag}"
    if price is not None and len(known) <= len([source for source in structured if source.records]):
        add_price(page, found, record, price, beside, hint, known)
    _add_stock(found, record, view, [path, *_nearest(path, buys), *([price.path] if price else [])])
    if "availability" not in record and price is not None and buys and not any("availability" in one for one in known):
        # Only where nobody says anything, and what the button itself says ("Pre-order") before that it can be pressed.
        record["availability"] = said_by_button(one[-1] for one in _nearest(path, buys)) or "InStock"
        found.sources["availability"] = f"{SOURCE}:button"
    _add_labels(found, record, view)
    found.records = [record]
    return found


def _agreed(
    view: View, price: Seen | None, beside: Sequence[Seen], path: Path, buys: Sequence[Path], hint: str | None
) -> Seen | None:
    """Return the price where what stands by the buy button says nothing else: it may stand further off than that."""
    button = next(iter(_nearest(path, buys)), None)
    if price is None or button is None or is_in_tile(button[shared(button, path) :]):
        return price
    if shared(button, path) >= max(shared(one.path, path) for one in beside):
        return price
    return None if any(differing(price, prices_near(view, button, hint, marked_only=False))) else price


def _labels_alone(found: Found, view: View) -> Found:
    """Return the labelled codes of a page whose product other sources know and no heading names."""
    record: Values = {}
    _add_labels(found, record, view)
    found.records = [record] if record else []
    return found


def _nearest(path: Path, buys: Sequence[Path]) -> list[Path]:
    """Return the first buy buttons of those that stand nearest to the name."""
    depth = max((shared(path, one) for one in buys), default=0)
    return [one for one in buys if shared(path, one) == depth][:3]


def _add_stock(found: Found, record: Values, view: View, places: Sequence[Path]) -> None:
    if (line := stock_line(view, places)) is not None:
        record["availability"] = line
        found.sources["availability"] = f"{SOURCE}:stock"


def _add_labels(found: Found, record: Values, view: View) -> None:
    for name, text in read_labels(view).items():
        record.setdefault(name, text)
        found.sources.setdefault(name, f"{SOURCE}:label")
