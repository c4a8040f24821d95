"""Which of the products that a page describes is the one that the page sells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from storebot.core.parsing.offers import Node
from storebot.core.parsing.schemaorg import Candidate
from storebot.core.parsing.values import many, squash
from storebot.core.text import unescape

MAX_CANDIDATES = 100
_MAX_NAME = 500  # characters that are compared
_MAX_URLS = 20  # of one node


def choose_main(
    candidates: Sequence[Candidate], urls: Iterable[str], titles: Callable[[], Sequence[str]]
) -> list[list[Node]] | None:
    """Return the nodes that describe the page's product, in page order; None where no unique choice is possible.

    One list holds nodes that describe the same thing; several lists are variants of one product.

    By this order: the only one; what the page calls its main entity; whose URL, ``@id`` or ``mainEntityOfPage`` is one
    of ``urls``; whose name is a heading, then is part of one (``titles``, asked for only then, best first). Never by
    position or price.
    """
    if len(candidates) > MAX_CANDIDATES:
        return None
    groups = _grouped(candidates)
    named = [group for group in groups if any(_name(candidate.node) for candidate in group)]
    groups = named or groups  # what has no name beside what has one is a fragment of something
    if len(groups) > 1:
        groups = _narrowed(groups, [url for url in urls if url], titles)
    if len(groups) == 1 or (groups and _is_one_family(groups)):
        return [[candidate.node for candidate in group] for group in groups]
    return None


Group = list[Candidate]


def _grouped(candidates: Sequence[Candidate]) -> list[Group]:
    """Put nodes together that describe the same thing: same ``@id``, or same name and nothing that sets them apart."""
    groups: list[Group] = []
    for candidate in candidates:
        home = next((group for group in groups if _same(group[0].node, candidate.node)), None)
        if home is None:
            groups.append([candidate])
        else:
            home.append(candidate)
    return groups


def _same(left: Node, right: Node) -> bool:
    if _text(left, "@id") and _text(left, "@id") == _text(right, "@id"):
        return True
    if _name(left) and _name(right) and _name(left) != _name(right):
        return False
    skus = _text(left, "sku"), _text(right, "sku")
    if all(skus):
        return skus[0] == skus[1]
    urls = _text(left, "url"), _text(right, "url")
    if all(urls) and urls[0] != urls[1]:
        return False
    return bool(_name(left)) and _name(left) == _name(right)


def _narrowed(groups: list[Group], urls: list[str], titles: Callable[[], Sequence[str]]) -> list[Group]:
    mains = [group for group in groups if any(candidate.is_main for candidate in group)]
    if len(mains) == 1:
        return mains
    base = urls[0] if urls else ""
    for key in (_exact_key, _path_key):
        wanted = {key(base, url) for url in urls}
        if matching := [
            group for group in groups if any(key(base, url) in wanted for c in group for url in _urls(c.node))
        ]:
            groups = matching
            break
    if len(groups) == 1 or _is_one_family(groups):
        return groups
    for title in (squash(title).casefold() for title in titles()):
        for matches in (_equals, _is_part):
            if len(named := [group for group in groups if matches(_name(group[0].node), title)]) == 1:
                return named
    return groups


def _is_one_family(groups: list[Group]) -> bool:
    """Say whether groups are variants of one product: same name, different SKUs, and the same place to buy."""
    names = {_name(group[0].node) for group in groups}
    skus = {_text(group[0].node, "sku") for group in groups}
    places = {
        tuple(sorted(url.partition("?")[0].partition("#")[0] for url in _urls(group[0].node))) for group in groups
    }
    return len(names) == 1 and "" not in names and len(skus) == len(groups) and "" not in skus and len(places) == 1


def _group_urls(group: Group) -> list[str]:
    return [url for candidate in group for url in _urls(candidate.node)]


def _urls(node: Node) -> list[str]:
    found: list[str] = []
    sources = [node.get("url"), node.get("@id"), node.get("mainEntityOfPage")]
    offers = [offer for offer in many(node.get("offers")) if isinstance(offer, dict)]
    sources.extend(offer.get("url") for offer in offers[:1] if len(offers) == 1)
    for source in sources:
        for value in islice(many(source), _MAX_URLS):
            text = value.get("@id") or value.get("url") if isinstance(value, dict) else value
            if isinstance(text, str) and text:
                found.append(text)
    return found


def _exact_key(base: str, url: str) -> tuple[str, ...]:
    try:
        parts = urlsplit(urljoin(base, url.strip()))
    except ValueError:
        return ("", url)
    return (parts.netloc.lower().removeprefix("www."), unquote(parts.path).rstrip("/"), parts.query)


def _path_key(base: str, url: str) -> tuple[str, ...]:
    return _exact_key(base, url)[:2]


def _equals(name: str, title: str) -> bool:
    return bool(name) and name == title


def _is_part(name: str, title: str) -> bool:
    return len(name) >= 4 and name in title


def _name(node: Node) -> str:
    # Two plugins of one page may escape a name to different depths.
    return squash(unescape(unescape(_text(node, "name")[:_MAX_NAME]))).casefold()


def _text(node: Node, name: str) -> str:
    value: Any = next(iter(many(node.get(name))), None)
    if isinstance(value, dict):
        value = value.get("@value")
    return str(value).strip() if isinstance(value, str | int) else ""
