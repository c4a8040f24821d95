"""Words in addresses and links that say what lies behind them, in the languages of the shops that we know."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set: a list that a person can read."""
    return frozenset(text.split())


# What a guest has no business with, and what changes something when it is asked for.
_PRIVATE = words(
    "account accounts login logout signin signup register registration cart basket checkout wishlist compare "
    "password admin wp-admin wp-login wp-json feed rss xmlrpc cgi-bin api graphql print pdf download orders order "
    "konto warenkorb kasse panier carrito cesta koszyk kosik kosár korzina newsletter unsubscribe customer "
    "product_compare sendfriend catalogsearch search suche recherche reviews review rate currency language lang "
    "add-to-cart addtocart author share quickview"
)
# Pages about the shop: asked for last, they lead to few products.
_ABOUT = words(
    "about contact contacts contactus policy policies privacy terms legal faq faqs help support shipping returns "
    "delivery careers jobs press imprint impressum agb datenschutz cookies cookie blog blogs news article articles "
    "tag tags product-tag product_tag stories recipes pages locations locator warranty team affiliates learn "
    "testimonials"
)
_LISTS = words(
    "category categories collection collections catalog catalogue department departments c kategorie kategoria "
    "categoria categorie kategori brand brands product-category browse range shop store sortiment"
)
_ALL = words("shop store all catalogue catalog sitemap seo_sitemap products produkte produits productos sortiment")
_PRODUCTS = words(
    "product products produkt produkte produkty produit produits producto productos prodotto prodotti produto produtos "
    "p item items dp sku goods tovar artikel artikly prod"
)
_PRODUCT_FILE = re.compile(r"product|produkt|produit|prodotto|producto|artikel|item|goods|tovar", re.IGNORECASE)
_OTHER_FILE = re.compile(
    r"cat(?![a-z])|categor|tag|brand|attribute|(?<![a-z])pa_|collection|image|review", re.IGNORECASE
)
# What is done by asking for it: a vote, a basket, a log-out.
_DEED = re.compile(
    r"[?&](?:action|do|task|cmd|add|remove|delete|vote|buy|undo[\w-]*|remove[\w-]*|add[\w-]*|wc-ajax|_?wpnonce|nonce|token"
    r"|replytocom|share|print|logout|switch[\w-]*|set[\w-]*)=",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif|svg|ico|pdf|zip|rar|docx?|xlsx?|csv|mp[34]|webm|css|js|json|xml|txt|atom|rss)$",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"[/.?=&#]+")
_WORD = re.compile(r"[-_+ ]+")
# Orders and views of one list: the same products once more, and a trap without end.
_FACETS = re.compile(
    r"[?&](?:dir|order|orderby|sort|sort_by|sortby|mode|view|limit|per_page|filter|min_price|max_price|q|s|query"
    r"|[^=&?]*facets?|[^=&?]*filters?|add-to-cart|replytocom|variant|sid|filter_[^=&?]*|cat|price|color|size)=",
    re.IGNORECASE,
)


def is_no_page(url: str) -> bool:
    """Say whether an address is a basket, a log-in, a search, a deed or a file: never asked for."""
    parts = urlsplit(url)
    if _DEED.search(url) or _FILE.search(parts.path):
        return True
    return bool(_parts(f"{parts.path}?{parts.query}") & _PRIVATE)


def is_facet(url: str) -> bool:
    """Say whether an address is another order, view or filter of a list."""
    return _FACETS.search(url) is not None


def names_products(url: str) -> bool:
    """Say whether a part of an address is a word for products."""
    return bool(_parts(urlsplit(url).path) & _PRODUCTS)


def is_product_file(url: str) -> bool:
    """Say whether the name of a sitemap says that products are in it."""
    name = unquote(urlsplit(url).path)
    return _PRODUCT_FILE.search(name) is not None and _OTHER_FILE.search(name) is None


def promise(url: str, text: str) -> int:
    """Return how much an address promises to be a list of products: the more, the higher."""
    parts, said = _parts(urlsplit(url).path), frozenset(_WORD.split(text.lower()))
    if (parts & _ABOUT) or (said & _ABOUT):
        return -3
    last = urlsplit(url).path.rstrip("/").rpartition("/")[2].partition(".")[0].lower()
    score = 3 if last in _ALL else 0
    score += 2 if parts & _LISTS else 0
    return score + (2 if said & {"all", "sitemap", "shop"} or {"site", "map"} <= said else 0)


def _parts(path: str) -> frozenset[str]:
    return frozenset(part for part in _SPLIT.split(unquote(path).lower()) if part)
