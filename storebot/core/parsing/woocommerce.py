"""The variations that WooCommerce writes into the form of a variable product (``data-product_variations``).

A list as JSON in an attribute, or "false" where there are more than the shop loads at once (30, as a rule).
https://developer.woocommerce.com, `WC_Product_Variable::get_available_variations`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storebot.core.availability import read_availability
from storebot.core.page import Page
from storebot.core.parsing.lenient import Broken, load
from storebot.core.parsing.schemaorg import MAX_VARIANTS, Found
from storebot.core.parsing.tags import MAX_TAG_BYTES, attributes_of, is_commented, text_of_part
from storebot.core.parsing.values import Values, from_dom, is_amount, is_placeholder, many, squash, text_of
from storebot.core.parsing.variants import told_apart
from storebot.core.scan import holds
from storebot.core.text import unescape
from storebot.core.urls import absolute
from storebot.items import VARIANTS, Problem

SOURCE = "woocommerce"
_MARK = b"data-product_variations"
_MAX_FORMS = 50
_MAX_FORM = 2_000_000  # bytes
_FORM = re.compile(rb"<form\b(?:[^<>\"']++|\"[^\"]*\"|'[^']*')*+>", re.IGNORECASE)
# What is never closed goes to the end, so that nothing is searched twice.
_SELECT = re.compile(r"<select\b([^<>]*)>(.*?)(?:</select|\Z)", re.IGNORECASE | re.DOTALL)
_OPTION = re.compile(r"<option\b([^<>]*)>([^<]*)", re.IGNORECASE)
_LABEL = re.compile(r"<label\b([^<>]*)>(.*?)(?:</label|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_MAX_LINE = 1_000
_PREFIXES = ("attribute_", "pa_")

Variation = Mapping[str, Any]


def read(page: Page) -> Found:
    """Return the variations of the page's product; nothing where its form has none. Builds no tree."""
    found = Found(SOURCE)
    if not holds(page.markup, _MARK):
        return found
    form = _main_form(page)
    if form is None:
        return found
    start, tag = form
    text = attributes_of(tag).get("data-product_variations", "")
    if text == "false":
        reason = "the shop loads the variants of this product by script: they are unknown"
        found.problems.append(Problem(VARIANTS, reason))
        return found
    try:
        variations = load(text.encode("utf-8", "replace"))
    except Broken as error:
        found.problems.append(Problem(VARIANTS, f"the variations of the form at byte {start} can't be read: {error}"))
        return found
    words = _Words(page, start)
    known = [one for one in many(variations) if isinstance(one, dict)][:MAX_VARIANTS]
    found.records = told_apart(list(_records(known, words)))
    return found


def _main_form(page: Page) -> tuple[int, str] | None:
    """Return where the product's form begins and its tag: the only one, or the one that leads to this page."""
    forms = [(at, text_of_part(tag, page)) for at, tag in _forms(page.markup)]
    if len(forms) > 1:
        here = {page.url, page.requested_url, page.canonical_url}
        forms = [one for one in forms if absolute(attributes_of(one[1]).get("action", ""), page.url) in here]
    return forms[0] if len(forms) == 1 else None


def _forms(markup: bytes) -> Iterator[tuple[int, bytes]]:
    at = -1
    for _ in range(_MAX_FORMS):
        at = markup.find(_MARK, at + 1)
        if at < 0:
            return
        floor = max(0, at - MAX_TAG_BYTES)
        start = max(markup.rfind(b"<form", floor, at), markup.rfind(b"<FORM", floor, at))
        match = _FORM.match(markup, start) if start >= 0 else None
        if match is not None and match.end() > at and not is_commented(markup, start, match.end()):
            yield start, match[0]


class _Words:
    """What a form calls its attributes and their values, beside the slugs that the variations have."""

    def __init__(self, page: Page, start: int) -> None:
        end = page.markup.find(b"</form", start)
        text = text_of_part(page.markup[start : min(end, start + _MAX_FORM) if end >= 0 else start], page)
        self.labels = {
            attributes_of(tag).get("for", "").lower(): squash(unescape(_TAG.sub("", inner))).rstrip(": ")
            for tag, inner in _LABEL.findall(text)
        }
        self.values: dict[str, dict[str, str]] = {}
        for tag, inner in _SELECT.findall(text):
            about = attributes_of(tag)
            name = about.get("data-attribute_name") or about.get("name") or ""
            self.values[name] = {
                attributes_of(one).get("value", ""): squash(unescape(shown)) for one, shown in _OPTION.findall(inner)
            }

    def option(self, name: str, value: str) -> tuple[str, str]:
        """Return an attribute's name and value as the buyer reads them; the slugs where the form has no words."""
        short = name.removeprefix(_PREFIXES[0])
        plain = short.removeprefix(_PREFIXES[1]).replace("-", " ").replace("_", " ")
        return self.labels.get(short.lower()) or plain, self.values.get(name, {}).get(value) or value


def _records(variations: Sequence[Variation], words: _Words) -> Iterator[Values]:
    for variation in variations:
        if variation.get("variation_is_active") is False or variation.get("variation_is_visible") is False:
            continue
        price = _amount(variation.get("display_price"))
        regular = _amount(variation.get("display_regular_price"))
        code = text_of(variation.get("sku"), from_dom) or ""
        values: dict[str, Any] = {
            "price": price,
            "regular_price": regular if price and regular != price else None,
            "availability": _availability(variation),
            "sku": None if is_placeholder(code) else code,
            "options": _options(variation.get("attributes"), words),
            "variant_id": text_of(variation.get("variation_id"), from_dom),
        }
        yield {name: value for name, value in values.items() if value}


def _amount(value: Any) -> str | None:
    text = text_of(value, from_dom)
    return text if text and is_amount(text) else None


def _availability(variation: Variation) -> str | None:
    """Return the line that the shop shows for a variation where it says more than in or out of stock."""
    stocked = variation.get("is_in_stock")
    markup = variation.get("availability_html")
    line = squash(unescape(_TAG.sub(" ", markup[:_MAX_LINE]))) if isinstance(markup, str) else ""
    if stocked is False:
        return "OutOfStock"
    return line if line and read_availability(line) is not None else "InStock" if stocked is True else None


def _options(attributes: Any, words: _Words) -> dict[str, str]:
    if not isinstance(attributes, dict):
        return {}
    given = {str(name): text_of(value, from_dom) for name, value in attributes.items()}
    return dict(words.option(name, value) for name, value in given.items() if value)  # "" stands for any value
