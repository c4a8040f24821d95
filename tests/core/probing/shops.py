"""Shops made of a few pages, for probes that need no network."""

from __future__ import annotations

import json
from collections.abc import Mapping

from storebot.core.page import Page
from storebot.core.probing.explore import Findings, Plan, explore
from storebot.core.probing.observe import observe
from storebot.core.probing.seen import Answer, Ask, Seen

BASE = "https://shop.example"
FILLER = "<p>Fired twice, glazed by hand, and packed in straw.</p>" * 120  # shorter pages look like block pages


def page(path: str, markup: str, status: int = 200, kind: str = "text/html") -> Page:
    return Page(url=BASE + path, body=markup.encode(), status=status, headers={"content-type": kind})


def seen(path: str, markup: str) -> Seen:
    """Return what a page shows."""
    return observe(Ask(url=BASE + path, why="test"), Answer(page=page(path, markup)))


def product(name: str, price: str = "19.90") -> str:
    """Return a product page with JSON-LD."""
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR"}
    data = json.dumps({"@context": "https://schema.org", "@type": "Product", "name": name, "offers": offer})
    return f'<html><script type="application/ld+json">{data}</script><body><h1>{name}</h1>{FILLER}</body></html>'


def listing(*cards: tuple[str, str, str], menu: str = "", pager: str = "") -> str:
    """Return a list of products from (path, name, price), with a menu and links to its other pages."""
    items = "".join(
        f'<li class="tile"><a href="{path}"><img src="/x.jpg">{name}</a><b>{price}</b></li>'
        for path, name, price in cards
    )
    return f"<html><body><nav>{menu}</nav><h1>All</h1><ul>{items}</ul><div>{pager}</div>{FILLER}</body></html>"


def look(shop: Mapping[str, str | Page], url: str = BASE + "/", pages: int = 12) -> tuple[Findings, list[str]]:
    """Probe a shop of pages by path; return the findings, and the paths that were asked for."""
    steps = explore(Plan(url=url, pages=pages))
    asked: list[str] = []
    ask = next(steps)
    try:
        while True:
            path = ask.url.removeprefix(BASE)
            asked.append(path)
            found = shop.get(path)
            if isinstance(found, Page):
                answer = Answer(page=found)
            elif found is None:
                answer = Answer(page=page(path, "<title>Not found</title>", 404))
            else:
                answer = Answer(page=page(path, found, kind="text/xml" if ".xml" in path else "text/html"))
            ask = steps.send(answer)
    except StopIteration as end:
        return end.value, asked


def sitemap(*paths: str) -> str:
    """Return a sitemap that names these paths."""
    entries = "".join(f"<url><loc>{BASE}{path}</loc></url>" for path in paths)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
