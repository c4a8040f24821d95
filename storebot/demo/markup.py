"""How a product's facts are written into its page: JSON-LD, microdata or plain markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import escape
from typing import Any

from storebot.demo.filler import SHOP_NAME
from storebot.demo.goods import Offer, Product, category_slug, decimal_text, price_text
from storebot.demo.options import CURRENCIES

STOCK_TEXTS = {
    "InStock": "In stock",
    "OutOfStock": "Out of stock",
    "PreOrder": "Pre-order",
    "BackOrder": "Back order",
}

_SYMBOLS = "".join(symbol for symbol, _ in CURRENCIES.values())
_PRICES = re.compile(
    rf'"price":"[^"]*",|<meta itemprop="price" [^>]*>| itemprop="price" content="[^"]*"|[{_SYMBOLS}][0-9.,]*[0-9]'
)


def times(product: Product, factor: int) -> Product:
    """Return a product with every price multiplied."""
    offers = tuple(replace(offer, price_minor=offer.price_minor * factor) for offer in product.offers)
    return replace(product, offers=offers)


def without_prices(text: str) -> str:
    """Return markup of a product with its prices cut out, and nothing else."""
    return _PRICES.sub("", text)


def jsonld(product: Product, base_url: str, currency: str) -> str:
    """Return the three JSON-LD blocks of a product page: Organization, BreadcrumbList, Product."""
    blocks = (_organization(base_url), _breadcrumbs(product, base_url), _product(product, base_url, currency))
    return "".join(f'<script type="application/ld+json">{_script_safe(block)}</script>\n' for block in blocks)


def opengraph(product: Product, base_url: str) -> str:
    """Return OpenGraph tags: they name the product, and give no price."""
    pairs = (
        ("og:type", "product"),
        ("og:site_name", SHOP_NAME),
        ("og:title", product.name),
        ("og:url", base_url + product.path),
        ("og:image", base_url + product.images[0]),
    )
    return "".join(f'<meta property="{name}" content="{escape(value)}">\n' for name, value in pairs)


def main(product: Product, base_url: str, currency: str) -> str:
    """Return the visible block of a product.

    The classes are the plain markup that the demo store's file reads: ``h1.product-name``, and below ``.product-main``
    ``.price-box .price``, ``.stock``, ``.sku``, ``.brand``, ``.gtin``. Microdata are the same elements with itemprops.
    """
    micro = product.markup == "microdata"
    return (
        f'<main class="product-main"{_scope("Product", micro)}>\n{_crumbs(product)}{_gallery(product, base_url, micro)}'
        f'<h1 class="product-name"{_prop("name", micro)}>{escape(product.name)}</h1>\n'
        f"{_rating(product, micro)}{_buying(product, base_url, currency, micro)}{_facts(product, micro)}"
        f'<div class="description"{_prop("description", micro)}>{escape(product.description)}</div>\n</main>\n'
    )


def drifted_main(product: Product, base_url: str, currency: str) -> str:
    """Return the visible block after a redesign: the same facts under other tags and classes."""
    return (
        '<div class="css-1q8vmd">\n<div class="css-x0kk2e">'
        f'<img class="css-9dpw1s" src="{base_url}{product.images[0]}" alt=""></div>\n'
        f'<div class="css-77hfr4" role="heading">{escape(product.name)}</div>\n'
        f'<div class="css-p3mm10"><span class="css-b2z9qa">{price_text(product.price_minor, currency)}</span></div>\n'
        f'<div class="css-5sl2ct">{STOCK_TEXTS[product.availability]}</div>\n'
        f'<div class="css-0oe8yd">{escape(product.description)}</div>\n</div>\n'
    )


def _script_safe(block: dict[str, Any]) -> str:
    """Return JSON that can't close the script element it stands in."""
    return json.dumps(block, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")


def _organization(base_url: str) -> dict[str, Any]:
    logo = f"{base_url}/media/logo.png"
    return {"@context": "https://schema.org", "@type": "Organization", "name": SHOP_NAME, "url": base_url, "logo": logo}


def _breadcrumbs(product: Product, base_url: str) -> dict[str, Any]:
    category = f"{base_url}/c/{category_slug(product.category_path)}"
    steps = [("Home", f"{base_url}/"), *((name, category) for name in product.category_path)]
    entries = [
        {"@type": "ListItem", "position": place, "name": name, "item": url}
        for place, (name, url) in enumerate((*steps, (product.name, base_url + product.path)), 1)
    ]
    return {"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": entries}


def _product(product: Product, base_url: str, currency: str) -> dict[str, Any]:
    offers = [_offer(product, offer, base_url, currency) for offer in product.offers]
    block: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": product.name,
        "url": base_url + product.path,
        "image": [base_url + path for path in product.images],
        "description": product.description,
        "sku": product.sku,
        "brand": {"@type": "Brand", "name": product.brand},
        "category": " > ".join(product.category_path),
    }
    if not product.has_variants:
        block["gtin13"] = product.offers[0].gtin13
    if product.review_count:
        block["aggregateRating"] = {
            "@type": "AggregateRating",
            "ratingValue": product.rating_value,
            "reviewCount": product.review_count,
        }
    return block | {"offers": offers if product.has_variants else offers[0]}


def _offer(product: Product, offer: Offer, base_url: str, currency: str) -> dict[str, Any]:
    block: dict[str, Any] = {
        "@type": "Offer",
        "url": base_url + product.path,
        "sku": offer.sku,
        "price": decimal_text(offer.price_minor, currency),
        "priceCurrency": currency,
        "availability": f"https://schema.org/{offer.availability}",
        "itemCondition": "https://schema.org/NewCondition",
    }
    if product.has_variants:
        block |= {
            "name": " / ".join(offer.options.values()),
            "url": f"{base_url}{product.path}?variant={offer.sku}",
            "gtin13": offer.gtin13,
            "additionalProperty": [
                {"@type": "PropertyValue", "name": name, "value": value} for name, value in offer.options.items()
            ],
        }
    return block


def _prop(name: str, micro: bool) -> str:
    return f' itemprop="{name}"' if micro else ""


def _scope(kind: str, micro: bool, prop: str = "") -> str:
    return f'{_prop(prop, bool(prop) and micro)} itemscope itemtype="https://schema.org/{kind}"' if micro else ""


def _crumbs(product: Product) -> str:
    link = f"/c/{category_slug(product.category_path)}"
    steps = "".join(f'<li><a href="{link}">{escape(name)}</a></li>' for name in product.category_path)
    return f'<ol class="breadcrumb"><li><a href="/">Home</a></li>{steps}</ol>\n'


def _gallery(product: Product, base_url: str, micro: bool) -> str:
    images = "".join(
        f'<img class="product-image" src="{base_url}{path}" alt="{escape(product.name)}"{_prop("image", micro)}>'
        for path in product.images
    )
    return f'<div class="gallery">{images}</div>\n'


def _rating(product: Product, micro: bool) -> str:
    if not product.review_count:
        return ""
    return (
        f'<p class="rating"{_scope("AggregateRating", micro, "aggregateRating")}>'
        f'<span class="rating-value"{_prop("ratingValue", micro)}>{product.rating_value}</span> out of 5 from '
        f'<span class="rating-count"{_prop("reviewCount", micro)}>{product.review_count}</span> reviews</p>\n'
    )


def _buying(product: Product, base_url: str, currency: str, micro: bool) -> str:
    """Return the price box and the stock line; microdata of variants say each offer once more, unseen."""
    one_offer = micro and not product.has_variants
    offer = product.offers[0]
    tags = ""
    if one_offer:
        tags = (
            f'<meta itemprop="priceCurrency" content="{currency}">'
            f'<link itemprop="itemCondition" href="https://schema.org/NewCondition">'
            f'<link itemprop="url" href="{base_url}{product.path}">'
        )
    price = f' itemprop="price" content="{decimal_text(offer.price_minor, currency)}"' if one_offer else ""
    stock = f'<link itemprop="availability" href="https://schema.org/{offer.availability}">' if one_offer else ""
    lead = "From " if product.has_variants else ""
    return (
        f'<div class="buying"{_scope("Offer", one_offer, "offers")}>{tags}<div class="price-box">{lead}'
        f'<span class="price"{price}>{price_text(product.price_minor, currency)}</span></div>\n'
        f'<p class="stock">{stock}{STOCK_TEXTS[product.availability]}</p>\n{_choices(product, currency)}</div>\n'
        + "".join(
            _hidden_offer(product, each, base_url, currency) for each in product.offers if micro and not one_offer
        )
    )


def _choices(product: Product, currency: str) -> str:
    button = '<button class="add" type="submit">Add to basket</button>\n'
    if not product.has_variants:
        return button
    rows = "".join(
        f'<option value="{offer.sku}">{escape(" / ".join(offer.options.values()))}, '
        f"{price_text(offer.price_minor, currency)}</option>"
        for offer in product.offers
    )
    return f'<select class="variant" name="variant">{rows}</select>{button}'


def _hidden_offer(product: Product, offer: Offer, base_url: str, currency: str) -> str:
    pairs = (
        ("sku", offer.sku),
        ("gtin13", offer.gtin13),
        ("name", " / ".join(offer.options.values())),
        ("price", decimal_text(offer.price_minor, currency)),
        ("priceCurrency", currency),
    )
    metas = "".join(f'<meta itemprop="{name}" content="{escape(value)}">' for name, value in pairs)
    options = "".join(
        '<span itemprop="additionalProperty" itemscope itemtype="https://schema.org/PropertyValue">'
        f'<meta itemprop="name" content="{name}"><meta itemprop="value" content="{escape(value)}"></span>'
        for name, value in offer.options.items()
    )
    return (
        f'<div class="offer" hidden itemprop="offers" itemscope itemtype="https://schema.org/Offer">{metas}{options}'
        f'<link itemprop="availability" href="https://schema.org/{offer.availability}">'
        f'<link itemprop="url" href="{base_url}{product.path}?variant={offer.sku}"></div>\n'
    )


def _facts(product: Product, micro: bool) -> str:
    brand = escape(product.brand)
    if micro:
        brand = f'<span{_scope("Brand", micro, "brand")}><span itemprop="name">{brand}</span></span>'
    rows = [
        f'<dt>Brand</dt><dd class="brand">{brand}</dd>',
        f'<dt>Product code</dt><dd class="sku"{_prop("sku", micro)}>{product.sku}</dd>',
    ]
    if not product.has_variants:
        rows.append(f'<dt>GTIN</dt><dd class="gtin"{_prop("gtin13", micro)}>{product.offers[0].gtin13}</dd>')
    return f'<dl class="facts">{"".join(rows)}</dl>\n'
