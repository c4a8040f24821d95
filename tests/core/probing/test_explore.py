"""A probe of small shops: what is asked for, and what is made of it."""

from __future__ import annotations

import tomllib
from typing import Any

from storebot.core.page import Page
from storebot.core.probing.draft import draft
from storebot.core.probing.explore import Findings
from storebot.core.probing.report import reason_for_nothing, unusable
from storebot.core.probing.seen import Kind
from storebot.core.probing.store_toml import store_toml
from tests.core.probing.shops import BASE, FILLER, listing, look, page, product, sitemap

NAMES = [f"mug{letter}" for letter in "abcdefgh"]
MENU = '<a href="/cups/">Cups</a><a href="/cart">Cart</a><a href="/about">About</a>'


def cards(*names: str) -> list[tuple[str, str, str]]:
    return [(f"/p/{name}", name, "€ 19.90") for name in names]


def shop(**more: str) -> dict[str, str | Page]:
    """Return a shop of eight mugs on two pages of a list."""
    pages: dict[str, str | Page] = {f"/p/{name}": product(name) for name in NAMES}
    pager = '<a href="/cups/?page=1">1</a><a href="/cups/?page=2">2</a>'
    first, second = (
        listing(*cards(*NAMES[:4]), menu=MENU, pager=pager),
        listing(*cards(*NAMES[4:]), menu=MENU, pager=pager),
    )
    pages |= {"/": listing(*cards(*NAMES[:2]), menu=MENU), "/about": f"<html><body><h1>Us</h1>{FILLER}</body></html>"}
    return pages | {"/cups/": first, "/cups/?page=1": first, "/cups/?page=2": second} | more


def file_of(findings: Findings) -> dict[str, Any]:
    return tomllib.loads(store_toml(draft(findings, "shop")))


def test_shop_without_sitemap_gives_its_list_and_its_products() -> None:
    findings, asked = look(shop())
    assert file_of(findings) == {
        "base_url": BASE,
        "product_url": "/p/[^/?#]+/?$",
        "discover": {"sitemaps": False},
        "catalogue": {"url": ["/cups/?page={page}"]},
    }
    assert findings.catalogue.is_proven
    assert len(findings.products) == 8
    assert "/cart" not in asked
    assert len(asked) == len(set(asked)) or asked.count("/") == 2  # the start page, and the root of the shop


def test_sitemap_that_has_all_needs_no_list() -> None:
    findings, _ = look(shop(**{"/sitemap.xml": sitemap(*(f"/p/{name}" for name in NAMES), "/about")}))
    assert file_of(findings) == {"base_url": BASE, "product_url": "/p/[^/?#]+/?$"}


def test_sitemap_that_lacks_what_a_list_shows_is_not_all() -> None:
    findings, _ = look(shop(**{"/sitemap.xml": sitemap(*(f"/p/{name}" for name in NAMES[:3]))}))
    assert file_of(findings)["catalogue"]["url"] == ["/cups/?page={page}"]


def test_sample_is_as_large_as_asked_for_and_spread() -> None:
    findings, _ = look(shop(**{"/sitemap.xml": sitemap(*(f"/p/{name}" for name in NAMES))}), pages=3)
    assert 3 <= len(findings.products) <= 5


def test_challenge_on_the_start_page_is_named_and_nothing_more_is_asked_of_products() -> None:
    body = b"<html><head><title>Just a moment...</title></head><body>checking your browser</body></html>"
    wall = Page(url=BASE + "/", body=body, status=403, headers={"server": "cloudflare", "cf-mitigated": "challenge"})
    findings, asked = look({"/": wall})
    assert findings.start.kind is Kind.BLOCKED
    assert unusable(findings)
    assert "cloudflare" in reason_for_nothing(findings)
    assert len(asked) <= 4


def test_page_without_products_gives_a_reason_and_no_file() -> None:
    findings, _ = look({"/": f"<html><body><h1>A club</h1><a href='/events'>Events</a>{FILLER}</body></html>"})
    assert unusable(findings)
    assert "none of" in reason_for_nothing(findings)


def test_pages_that_a_script_makes_are_said_to_be_so() -> None:
    shell = f"<html><body><div id=root></div><script>{'x' * 5000}</script></body></html>"
    findings, _ = look({"/": shell})
    assert "scripts" in reason_for_nothing(findings)


def test_products_whose_pages_are_gone_are_a_guess_that_says_so() -> None:
    pages: dict[str, str | Page] = {"/": listing(*cards(*NAMES), menu="")}
    findings, _ = look(pages)
    assert findings.is_assumed
    assert file_of(findings)["product_url"] == "/p/[^/?#]+/?$"
    assert "No product page could be read" in draft(findings, "shop").open[0]


def test_shop_that_says_nothing_for_machines_gets_selectors() -> None:
    prices = {name: f"€ {number + 3}.50" for number, name in enumerate(NAMES)}
    pages: dict[str, str | Page] = {
        f"/p/{name}": f'<html><body><div class="title">{name}</div><p class="cost">{price}</p>{FILLER}</body></html>'
        for name, price in prices.items()
    }
    pages["/"] = listing(*((f"/p/{name}", name, price) for name, price in prices.items()))
    findings, _ = look(pages)
    assert file_of(findings)["product"] == {"name": [".title"], "price": [".cost"]}
    assert {one.listings[0].price_minor for one in findings.products} <= {350 + 100 * number for number in range(8)}


def test_start_page_below_a_path_makes_the_path_part_of_the_shop() -> None:
    pages: dict[str, str | Page] = {f"/store/p/{name}": product(name) for name in NAMES}
    pages["/store/"] = listing(*((f"/store/p/{name}", name, "€ 5.00") for name in NAMES))
    assert look(pages, f"{BASE}/store/")[0].base_url == f"{BASE}/store"
    assert look(shop(), f"{BASE}/cups/?page=2")[0].base_url == BASE


def test_currency_that_the_pages_leave_open_is_declared_and_said_to_be_assumed() -> None:
    def plain(name: str) -> str:
        buying = '<b class="price">$ 19.90</b><button>Add to cart</button>'
        return f'<html lang="en-CA"><title>{name}</title><body><h1>{name}</h1>{buying}{FILLER}</body></html>'

    pages: dict[str, str | Page] = {f"/p/{name}": plain(name) for name in NAMES}
    pages["/"] = listing(*((f"/p/{name}", name, "$ 19.90") for name in NAMES))
    findings, _ = look(pages)
    assert file_of(findings)["product"]["currency"] == "CAD"
    assert any("check it" in sentence for sentence in draft(findings, "shop").open)


def test_crawl_delay_that_asks_for_more_is_written_and_a_shorter_one_is_not() -> None:
    findings, _ = look(shop())
    assert tomllib.loads(store_toml(draft(findings, "shop", crawl_delay_s=7.0)))["politeness"] == {"delay_s": 7.0}
    assert "politeness" not in tomllib.loads(store_toml(draft(findings, "shop", crawl_delay_s=0.5)))


def test_pages_of_the_probe_are_left_after_three_block_pages() -> None:
    wall = page("/x", "<title>Access denied</title>", 403)
    pages: dict[str, str | Page] = {f"/p/{name}": wall for name in NAMES} | {"/": listing(*cards(*NAMES), menu=MENU)}
    _, asked = look(pages)
    assert len([path for path in asked if path.startswith("/p/")]) <= 3
