"""The rule that finds the link to the next page of a list, worked out from one of its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.links import next_link
from storebot.core.parsing.rules import compile_rule
from storebot.core.parsing.values import shown
from storebot.core.urls import absolute

_REL = '[rel~="next"]::attr(href)'
_CLASS = re.compile(r"(?:[a-z]+[-_]+)*next(?:[-_]+[a-z]+)*", re.IGNORECASE)
_TEXTS = frozenset(
    {"next", "next page", "next »", "next ›", "next >", "›", "»", "→", ">", "weiter", "nächste seite", "nächste"}
    | {"suivant", "page suivante", "siguiente", "próxima", "próximo", "successivo", "volgende", "následující", "další"}
    | {"ďalej", "następna", "następny", "nästa", "næste", "neste", "seuraava", "вперед", "далее", "следующая", "次へ"}
    | {"下一页", "下一頁", "다음", "sonraki", "následujúca", "berikutnya", "selanjutnya"}
)


class NextLink(NamedTuple):
    """A rule, and the absolute address that it finds; both empty where nothing says which link goes on."""

    rule: str = ""
    url: str = ""


NO_NEXT = NextLink()


def find_next(page: Page) -> NextLink:
    """Return what leads to the next page of a list; what would select several addresses is passed over."""
    if page.root is None:
        return NO_NEXT
    for text in _candidates(page.root):
        rule = compile_rule(text)
        found = next_link(page, rule)
        if found and found != page.url and _is_one(page, text):
            return NextLink(text, found)
    return NO_NEXT


def _candidates(root: etree._Element) -> Iterator[str]:
    if root.find('.//a[@rel="next"]') is not None or root.find('.//link[@rel="next"]') is not None:
        yield _REL
    for link in root.iter("a"):
        if not link.get("href"):
            continue
        if (name := _class(link)) is not None:
            yield f"a.{name}::attr(href)"
        parent = link.getparent()
        if parent is not None and parent.tag in ("li", "span", "div", "p") and (name := _class(parent)) is not None:
            yield f"{parent.tag}.{name} > a::attr(href)"
    for link in root.iter("a"):
        text = shown(link)
        if link.get("href") and text.lower() in _TEXTS and '"' not in text:
            yield f'xpath://a[normalize-space()="{text}"]/@href'


def _class(element: etree._Element) -> str | None:
    return next((name for name in (element.get("class") or "").split() if _CLASS.fullmatch(name)), None)


def _is_one(page: Page, text: str) -> bool:
    """Say whether all that a rule selects is one address: two "next" arrows may be a slide show's."""
    rule = compile_rule(text)
    assert page.root is not None
    assert not isinstance(rule.compiled, re.Pattern)
    found = rule.compiled(page.root)
    addresses = {absolute(str(one), page.base_url) for one in found} if isinstance(found, list) else set()
    return len(addresses - {None}) == 1 and None not in addresses
