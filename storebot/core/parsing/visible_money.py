"""The price on show as a field of a record: its currency, its old price, and where it overrules the structured one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from storebot.core.money import EXPONENTS
from storebot.core.page import Page
from storebot.core.parsing import selectors
from storebot.core.parsing import visible_words as words
from storebot.core.parsing.price import parse_price
from storebot.core.parsing.rules import PARSER
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.values import Values, amounts
from storebot.core.parsing.visible_amount import Seen
from storebot.items import Problem


def currency_of(page: Page, known: Sequence[Values]) -> str | None:
    """Return the page's currency: what a source says, else that of the country whose domain it is."""
    for record in known:
        if isinstance(said := record.get("currency"), str):
            return said
    scripted = {code.decode().upper() for code in words.SCRIPTED_CURRENCY.findall(page.markup)} & EXPONENTS.keys()
    if len(scripted) == 1:
        return str(scripted.pop())
    host = urlsplit(page.url).hostname or ""
    return words.CURRENCY_OF_DOMAIN.get(host.rpartition(".")[2])


def _is_us_dollar(page: Page, price: Seen) -> bool:
    """Say whether "$42.00" stands on an English page of no country that speaks of no other dollar."""
    language = (page.root.get("lang") or "en").lower() if page.root is not None else ""
    generic = (urlsplit(page.url).hostname or "").endswith((".com", ".net", ".org"))
    shape = re.fullmatch(r"\$\d[\d,]*\.\d\d", price.text) is not None
    return shape and generic and language.startswith("en") and words.OTHER_DOLLARS.search(page.markup) is None


def add_price(
    page: Page,
    found: Found,
    record: Values,
    price: Seen,
    beside: Sequence[Seen],
    hint: str | None,
    known: Sequence[Values],
) -> None:
    """Add the price, with a currency where neither its text nor a source names one."""
    if price.kind != "exact" and any("price" in one for one in known):
        return  # the lowest of several says nothing against a source that knows the one
    record["price"] = price.text
    found.sources["price"] = f"{found.source}:price"
    plain = parse_price(price.text)
    is_named = (plain is not None and plain.currency is not None) or any("currency" in one for one in known)
    if hint is not None and not is_named:
        record["currency"] = hint
        found.sources["currency"] = f"{found.source}:country"
    elif not is_named and _is_us_dollar(page, price):
        record["currency"] = "USD"
        found.sources["currency"] = f"{found.source}:sign"
        reason = f"{price.text!r} is taken for US dollars, for nothing on the page names a country: declare `currency`"
        found.problems.append(Problem("currency", reason))
    struck = {one.amount: one.text for one in beside if one.is_struck and one.amount > price.amount}
    if len(struck) == 1:
        record["regular_price"] = next(iter(struck.values()))
        found.sources["regular_price"] = f"{found.source}:price"


def overrule(found: Found, structured: Sequence[Found], price: Seen, beside: Sequence[Seen]) -> None:
    """Let the price on show win where the structured one is crossed out beside it, or is several amounts in one.

    What the sources said stays on the record as a disagreement.
    """
    if price.kind != "exact":
        return
    struck = {one.amount for one in beside if one.is_struck and one.amount > price.amount}
    speaking = [source for source in structured if source.records and isinstance(source.records[0].get("price"), str)]
    if not speaking or any(len(source.records) > 1 for source in structured):
        return
    if any(source.source in (selectors.SOURCE, PARSER) for source in speaking):
        return  # the store's owner has said where the price stands
    first = parse_price(str(speaking[0].records[0]["price"]), machine=True)
    is_old = first is not None and first.is_price and first.amount in struck
    is_muddled = first is not None and not first.is_price and first.amount is not None and first.amount > 0
    if not (is_old or is_muddled):
        return
    said = {source.source: str(source.records[0].pop("price")) for source in speaking}
    found.conflicts["price"] = {**said, f"{found.source}:price": price.text}


def contradict(found: Found, structured: Sequence[Found], price: Seen | None, beside: Sequence[Seen]) -> None:
    """Note where none of the amounts on show is one that the sources give, though none of them may be the price.

    Only what isn't compared anyway, listing by listing: several amounts that nothing decides between, or one beside a
    product of several variants.
    """
    speaking = [source for source in structured if any(isinstance(one.get("price"), str) for one in source.records)]
    if not speaking or any(source.source in (selectors.SOURCE, PARSER) for source in speaking):
        return
    if price is not None and all(len(source.records) == 1 for source in speaking):
        return
    shown = [price] if price is not None else [one for one in beside if not one.is_struck]
    texts = [text for source in speaking for one in source.records if isinstance(text := one.get("price"), str)]
    known = frozenset().union(*map(amounts, texts))
    if shown and all(one.kind == "exact" and one.amount not in known for one in shown):
        said = {source.source: str(source.records[0].get("price", "")) for source in speaking}
        found.conflicts["price"] = {**said, f"{found.source}:price": " | ".join(sorted({one.text for one in shown}))}
