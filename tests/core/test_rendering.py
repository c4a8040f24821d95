"""Pages that scripts would fill, told from pages that were sent whole."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from storebot.core.page import Page
from storebot.core.parsing.reading import identity, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.core.rendering import needs_scripts, waits_for_price
from tests.shared_data import shared

TEXT = "<p>Fired twice, glazed by hand, and packed in straw. Open Monday to Friday.</p>" * 8
SCRIPT = '<script src="/assets/index-4f9a.js" defer></script>'


def page(body: str, head: str = "<title>Thistle</title>") -> Page:
    html = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return Page(url="https://shop.example/p/mug", body=html.encode())


# What the frameworks' own starters send, in short.
SHELLS = {
    "create-react-app": "<noscript>You need to enable JavaScript to run this app.</noscript>"
    f'<div id="root"></div>{SCRIPT}',
    "vite": '<div id="app"></div><script type="module" crossorigin src="/assets/index-4f9a.js"></script>',
    "vue-cli": "<noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled. Please enable "
    f"it to continue.</strong></noscript><div id=app></div>{SCRIPT}",
    "angular": f"<app-root></app-root>{SCRIPT}",
    "angular-own-name": f"<thistle-root><p>Loading...</p></thistle-root>{SCRIPT}",
    "next-without-server": '<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{}}'
    f"</script>{SCRIPT}",
    "nuxt-spa": f'<div id="__nuxt"></div><script>window.__NUXT__={{config:{{}}}}</script>{SCRIPT}',
    "gatsby": f'<div id="___gatsby"></div>{SCRIPT}',
    "quasar": f'<div id="q-app"></div>{SCRIPT}',
    "within-a-shop": f'<header>{TEXT}</header><main><div id="app" data-from="/data/p/mug.json"></div></main>{SCRIPT}',
    "spinner": f'<div id="root"><div class="spinner">Wird geladen…</div></div>{SCRIPT}',
}


@pytest.mark.parametrize("name", SHELLS)
def test_shell_of_an_application_needs_scripts(name: str) -> None:
    assert needs_scripts(page(SHELLS[name])), name


def test_it_says_what_is_empty() -> None:
    assert needs_scripts(page(SHELLS["vite"])) == 'its scripts fill <div id="app">, which is empty'


def test_page_without_scripts_is_what_it_is() -> None:
    assert not needs_scripts(page('<div id="root"></div>'))
    data = '<script type="application/ld+json">{"@type":"WebSite"}</script>'
    assert not needs_scripts(page(f'<div id="app"></div>{data}'))


def test_application_that_the_server_filled_needs_none() -> None:
    for mount in ('<div id="root">', '<div id="__next">', '<div id="app">', "<app-root>"):
        assert not needs_scripts(page(f"{mount}<h1>Mugs</h1>{TEXT}</div></app-root>{SCRIPT}"))


@pytest.mark.parametrize("heading", ["Loading...", "Loading…", "Please wait", "Wird geladen …", "Chargement", "加载中"])
def test_heading_that_is_still_loading_needs_scripts(heading: str) -> None:
    """Case W04: the page was taken too early."""
    assert needs_scripts(page(f"<h1>{heading}</h1>{TEXT}{SCRIPT}"))


@pytest.mark.parametrize(
    "heading", ["Loading ramp for vans", "Laden in Berlin", "Kinderladen", "Please wait signs, set of 3"]
)
def test_heading_that_has_such_a_word_in_it_does_not(heading: str) -> None:
    assert not needs_scripts(page(f"<h1>{heading} 24 cm, aluminium, with a handle</h1>{TEXT}{SCRIPT}"))


def test_placeholders_in_place_of_a_heading_need_scripts() -> None:
    bones = '<div class="card__skeleton"></div>' * 5
    assert needs_scripts(page(f"{TEXT}<main>{bones}</main>{SCRIPT}"))
    assert not needs_scripts(page(f"<h1>Mug</h1>{TEXT}<main>{bones}</main>{SCRIPT}")), "a widget below is loading"
    assert not needs_scripts(page(f'{TEXT}<div class="skeleton">Skeleton key</div>{SCRIPT}' * 5))


def test_templates_that_nobody_filled_need_scripts() -> None:
    assert needs_scripts(page(f"<h1>{{{{ product.name }}}}</h1>{TEXT}{SCRIPT}"))
    assert needs_scripts(page(f"{TEXT}<b>{{{{a}}}}</b><b>{{{{b}}}}</b><b>{{{{c}}}}</b>{SCRIPT}"))
    assert not needs_scripts(page(f"<h1>Mug</h1>{TEXT}<b>{{{{facet}}}}</b>{SCRIPT}"))


@pytest.mark.parametrize(
    "words",
    [
        "Please enable JavaScript to continue.",
        "JavaScript is required.",
        "Bitte aktivieren Sie JavaScript in Ihrem Browser.",
        "Veuillez activer JavaScript",
        "Включите JavaScript",
        "JavaScriptを有効にしてください",
    ],
)
def test_next_to_no_text_and_a_wish_for_javascript_need_scripts(words: str) -> None:
    assert needs_scripts(page(f"<noscript>{words}</noscript>Thistle{SCRIPT}"))
    assert needs_scripts(page(f"<p>{words}</p>{SCRIPT}"))
    assert not needs_scripts(page(f"<noscript>{words}</noscript><h1>Mugs</h1>{TEXT}{SCRIPT}")), "Magento says so always"


def test_next_to_no_text_and_many_scripts_need_them() -> None:
    assert needs_scripts(page(f"Thistle{SCRIPT}{SCRIPT}"))
    assert needs_scripts(page(f"Thistle<script>{'x=1;' * 1000}</script>"))
    assert needs_scripts(page(SCRIPT)), "nothing else is there"
    assert not needs_scripts(page(f"This is the page{SCRIPT}"))


def test_nothing_is_said_of_what_is_no_page() -> None:
    for body in (b"", b"   ", b"<!-- -->", b'{"a":1}'):
        assert not needs_scripts(Page(url="https://shop.example/", body=body))


@pytest.mark.parametrize("price", ["", "$0.00", "0,00 €", "Loading...", "—", "<i></i>", "<s></s><b></b>"])
def test_empty_place_for_a_price_waits_for_one(price: str) -> None:
    assert waits_for_price(page(f'<h1>Mug</h1><span class="product-price price">{price}</span>{SCRIPT}'))


@pytest.mark.parametrize("price", ["$49.00", "from 1.200", "0.50", "10,00 €"])
def test_place_that_has_a_price_does_not(price: str) -> None:
    body = f'<span class="price">{price}</span><span class="price"></span>{SCRIPT}'
    assert not waits_for_price(page(body)), "one of them is filled, the other one is a template"


def test_page_without_a_place_for_a_price_waits_for_none() -> None:
    assert not waits_for_price(page(f'<h1>Mug</h1><span class="priceless"></span>{TEXT}{SCRIPT}'))
    assert not waits_for_price(page('<span class="price"></span>'))


# --- the corpus -----------------------------------------------------------------------------------------------------


def corpus(folder: str, pattern: str) -> list[tuple[str, bytes]]:
    return [
        (path.name, gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
        for path in sorted(Path(shared(folder)).glob(pattern))
    ]


def flagged(pages: list[tuple[str, bytes]]) -> tuple[set[str], set[str]]:
    """Return which pages have a sign, and which of them it would be asked of: those where no product is found."""
    signs, asked = set(), set()
    for name, body in pages:
        one = Page(url="https://shop.example/p/1", body=body)
        if needs_scripts(one):
            signs.add(name)
            if not identity(read_product(one, ProductRules())):
                asked.add(name)
    return signs, asked


def test_no_product_page_of_the_corpus_is_thought_to_need_scripts() -> None:
    """All of them were saved as they came. Two (of 80) have placeholders and no heading; their product is read."""
    signs, asked = flagged(corpus("products/pages", "*.html.gz"))
    assert signs == {"argos-co-uk-1.html.gz", "argos-co-uk-2.html.gz"}
    assert asked == set()


def test_no_other_page_of_a_shop_is_either() -> None:
    assert flagged(corpus("products/nonproduct", "*.html.gz")) == (set(), set())
    assert flagged(corpus("blocks/pages", "good-*.html*")) == (set(), set())
