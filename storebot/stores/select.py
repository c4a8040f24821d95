"""The selectors of a store's own code, at work on one page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing import lenient, selectors
from storebot.core.parsing.rules import Rule
from storebot.core.parsing.values import shown
from storebot.stores.wording import nearest


class Select:
    """``select("price")``: what the first selector of that name in SELECTORS that finds anything found.

    The selectors of one name are tried in order, as in store.toml. ``each`` gives a Select for every element, which
    looks inside that element alone.
    """

    def __init__(
        self,
        page: Page,
        rules: Mapping[str, tuple[Rule, ...]],
        within: etree._Element | None = None,
        won: dict[str, str] | None = None,
    ) -> None:
        self._page, self._rules, self._within = page, rules, within
        self.won: dict[str, str] = {} if won is None else won  # name -> the selector that found something

    def __call__(self, name: str) -> str | None:
        """Return the first text, or None."""
        return next(iter(self.all(name)), None)

    def all(self, name: str) -> list[str]:
        """Return all texts that the first selector that finds any finds, in page order, none of them blank."""
        for rule in self._rules_of(name):
            texts = selectors.select(self._page, rule, selectors.LINK_ATTRIBUTES.get(name, ()), self._within)
            if texts:
                self.won[name] = rule.source
                return texts
        return []

    def each(self, name: str) -> list[Select]:
        """Return a Select for each element that is found."""
        for rule in self._rules_of(name):
            found = selectors.matches(self._page, rule, self._within)
            elements = [item for item in found if isinstance(item, etree._Element)]
            if elements:
                self.won[name] = rule.source
                return [Select(self._page, self._rules, element, self.won) for element in elements]
        return []

    def json(self, name: str) -> Any:
        """Return the JSON that is found as text: a script's, or what a regular expression cuts out of the source.

        It is read as shops write it (comments, trailing commas); numbers with a fraction come back as text. Raises
        ValueError for text that isn't JSON; None where nothing is found.
        """
        for rule in self._rules_of(name):
            for text in selectors.raw(self._page, rule, self._within):
                self.won[name] = rule.source
                return lenient.load(text.encode("utf-8", "replace"))
        return None

    @property
    def text(self) -> str:
        """The text of the element, white space collapsed; of the whole page, where this isn't one of ``each``."""
        element = self._page.root if self._within is None else self._within
        return "" if element is None else shown(element)

    def attribute(self, name: str) -> str | None:
        """Return an attribute of the element; None where it has none, and for the whole page."""
        return None if self._within is None else self._within.get(name)

    def _rules_of(self, name: str) -> tuple[Rule, ...]:
        if name not in self._rules:
            close = nearest(name, self._rules)
            hint = f" (did you mean {close!r}?)" if close else ""
            raise LookupError(f"SELECTORS has no {name!r}{hint}")
        return self._rules[name]
