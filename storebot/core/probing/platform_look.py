"""The platform of a shop, and whether its own interface for products answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass

from storebot.core.parsing.platforms import shopify, woocommerce
from storebot.core.probing.seen import Answer, Ask

_SIZE = re.compile(r"\b(limit|per_page)=\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """What a shop runs on, as its pages show."""

    name: str
    api: str = ""  # path of the interface that answered with products; "" where there is none
    problem: str = ""  # why there is none


def look_at_platform(base_url: str, marks: Iterable[str]) -> Generator[Ask, Answer, Platform | None]:
    """Ask the interface of the platform whose traces the pages show; None where they show none, or several."""
    names = sorted(marks)
    if len(names) != 1:
        return None
    name = names[0]
    problems = []
    for url, is_listing in _interfaces(name, base_url):
        answer = yield Ask(url=url, why="platform")
        problem = _problem(answer, is_listing)
        if not problem:
            return Platform(name=name, api=url.removeprefix(base_url))
        problems.append(f"{url.removeprefix(base_url)} {problem}")
    return Platform(name=name, problem="; ".join(problems))


def _interfaces(name: str, base_url: str) -> list[tuple[str, Callable[[bytes], bool]]]:
    if name == shopify.NAME:
        return [(_one(shopify.listing_template(base_url)), shopify.is_listing)]
    if name == woocommerce.NAME:
        templates = woocommerce.listing_templates(base_url)
        return [(_one(template), woocommerce.is_listing) for template in templates]
    return []


def _one(template: str) -> str:
    """Return the address of the first product alone: a guest takes no more than proves that the interface is there."""
    return _SIZE.sub(r"\1=1", template.replace("{page}", "1"))


def _problem(answer: Answer, is_listing: Callable[[bytes], bool]) -> str:
    page = answer.page
    if page is None:
        return answer.problem
    if page.status != 200:
        return f"answers {page.status}"
    if not is_listing(page.body):
        return "answers something else than products"
    return "" if b'"id"' in page.body else "names no products"
