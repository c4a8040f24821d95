"""Texts and lists of texts in a store file: what is neither is refused, and so is what is empty."""

from __future__ import annotations

from storebot.stores.wording import clipped, shown, wrong


def text_of(value: object, expected: str) -> str:
    if not isinstance(value, str):
        raise wrong(f"expected {expected}, got {shown(value)}{_quote_it(value)}")
    if not value.strip():
        raise wrong(f"expected {expected}, got an empty text; leave the key out instead")
    return value


def texts_of(value: object, expected: str) -> list[str]:
    """Return a list of texts; an empty list is refused, because only an absent key means "unset"."""
    if not isinstance(value, list):
        raise wrong(f"expected {expected}, got {shown(value)}")
    if not value:
        raise wrong(f"expected {expected}, got an empty list; leave the key out instead")
    for number, item in enumerate(value, 1):
        if not isinstance(item, str):
            raise wrong(f"expected {expected}, but item {number} is {shown(item)}{_quote_it(item)}")
        if not item.strip():
            raise wrong(f"expected {expected}, but item {number} is an empty text")
    return value


def _quote_it(value: object) -> str:
    return "; put it in quotes" if isinstance(value, (bool, int, float)) else ""


def distinct(texts: list[str]) -> tuple[str, ...]:
    repeated = next((text for number, text in enumerate(texts) if text in texts[:number]), None)
    if repeated is not None:
        raise wrong(f"expected each item once, got {clipped(repeated)} twice")
    return tuple(texts)
