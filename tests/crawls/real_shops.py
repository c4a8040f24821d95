"""The saved shops that are crawled whole: what can be found of each, and three edits with the changes they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tests.crawls.goldens import goldens
from tests.crawls.saved_site import SavedSite

Change = tuple[str, object, object]  # field, before, after


class Edit(NamedTuple):
    """A page of the shop edited: each text replaced wherever it stands, and the fields that change by it."""

    file: str
    texts: Mapping[str, str]
    changes: tuple[Change, ...]

    def apply(self, page: str) -> str:
        for old, new in self.texts.items():
            if old not in page:
                raise ValueError(f"{self.file} doesn't have {old!r}")
            page = page.replace(old, new)
        return page


class RealShop(NamedTuple):
    """One saved shop."""

    name: str
    edits: tuple[Edit, Edit, Edit]
    unreachable: frozenset[str] = frozenset()  # saved products that no saved page, and no sitemap, names
    beyond: Callable[[str], bool] = lambda path: False  # real products that have no golden
    beyond_count: int = 0
    named_but_gone: int = 0  # products that the shop names, and that were not saved
    named_twice: int = 0  # pages that are another page by their canonical link
    prepare: Callable[[SavedSite], None] = lambda site: None


def _rest_of_the_sitemap(site: SavedSite) -> None:
    """Make the pages 2 to 7 of the product sitemap.

    The index names them, and they were not saved. Parts of grouped products, such as coils, were in them alone.
    """
    paths = [golden.path for golden in goldens(site.name)]
    size = len(paths) // 6 + 1
    for number in range(2, 8):
        entries = "".join(f"<url><loc>{path}</loc></url>" for path in paths[(number - 2) * size : (number - 1) * size])
        text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
        site.add(f"sitemap-product.xml?page={number}", text)


SHOPS = (
    RealShop(
        "magento1-smullinsupply",
        (
            Edit(
                "3-in-1-tool-black-zytel-handle-plain.html",
                {"$11.90": "$12.40"},
                (("price_minor", 1190, 1240),),
            ),
            Edit(
                "knives/zing-orange-polymide-handle-plain.html",
                {"Zing, Orange": "Zing II, Orange"},
                (("name", "Zing, Orange Polymide Handle, Plain", "Zing II, Orange Polymide Handle, Plain"),),
            ),
            Edit(
                "3-pack-diamond-pad-coarse-med-fine.html",
                {'<span class="in-stock">In stock': '<span class="out-of-stock">Out of stock'},
                (("availability", "InStock", "OutOfStock"),),
            ),
        ),
        beyond=lambda path: path.startswith("/sharpener/"),  # other addresses of products at the root, as /knives/ has
        beyond_count=27,
        named_but_gone=9,
    ),
    RealShop(
        "magento2-argon40",
        (
            Edit(
                "raspberry-pi-sense-hat.html",
                {'content="36"': 'content="39.5"', 'amount="36"': 'amount="39.5"', "$36.00": "$39.50"},
                (("price_minor", 3600, 3950),),
            ),
            Edit(
                "raspberry-pi-hq-camera.html",
                {"Raspberry Pi HQ Camera": "Raspberry Pi Fine Camera"},
                (("name", "Raspberry Pi HQ Camera", "Raspberry Pi Fine Camera"),),
            ),
            Edit(
                "argon-neo-raspberry-pi-4-case.html",
                {"<span>In stock</span>": "<span>Out of stock</span>"},
                (("availability", "InStock", "OutOfStock"),),
            ),
        ),
        beyond=lambda path: path.startswith("/catalog/product/view/id/"),  # products without an address of their own
        beyond_count=11,
    ),
    RealShop(
        "shopify-purecane",
        (
            Edit(
                "products/purecane-packets-400ct/index.html",
                {"20.99": "21.49", "2099": "2149"},
                (("price_minor", 2099, 2149),),
            ),
            Edit(
                "products/jumbo-beverage-bundle/index.html",
                {"Jumbo Beverage Bundle": "Giant Beverage Bundle"},
                (("name", "Jumbo Beverage Bundle", "Giant Beverage Bundle"),),
            ),
            Edit(
                "products/starter-beverage-bundle/index.html",
                {"schema.org/InStock": "schema.org/OutOfStock"},
                (("availability", "InStock", "OutOfStock"),),
            ),
        ),
        unreachable=frozenset({"/products/silicone-cupcake-liners/"}),
        named_but_gone=2,
    ),
    RealShop(
        "static-dereroy-hreflang",
        (
            Edit(
                "en/product/108tb.html",
                {'"Product", "name": "108tb"': '"Product", "name": "108tb, new"'},
                (("name", "108tb", "108tb, new"),),
            ),
            Edit(
                "product/135jr.html",
                {'"Brand", "name": "Dereroy"': '"Brand", "name": "Dereroy CZ"'},
                (("brand", "Dereroy", "Dereroy CZ"),),
            ),
            Edit(
                "product/5050p.html",
                {'"name": "5050p"': '"name": "5051p"'},
                (("name", "5050p", "5051p"),),
            ),
        ),
    ),
    RealShop(
        "woo-cloudchemistry",
        (
            Edit("shop/35amp-3500mah/index.html", {"13.99": "14.49"}, (("price_minor", 1399, 1449),)),
            Edit(
                "shop/40amp-3000mah/index.html",
                {"40amp, 3000mAh": "42amp, 3000mAh"},
                (("name", "40amp, 3000mAh", "42amp, 3000mAh"),),
            ),
            Edit(
                "shop/50amp-2600mah/index.html",
                {"InStock": "OutOfStock"},
                (("availability", "InStock", "OutOfStock"),),
            ),
        ),
        named_but_gone=6,
        named_twice=1,  # once with an escape that is escaped again
        prepare=_rest_of_the_sitemap,
    ),
    RealShop(
        "woo-dabhobbies",
        (
            Edit(
                "product/7gear-city-cruiser-tailbag/index.html",
                {"365.000": "375.000", "365000": "375000"},
                (("price_minor", 36500000, 37500000),),
            ),
            Edit(
                "product/7gear-explorer/index.html",
                {"7gear Explorer": "7gear Explorer II"},
                (("name", "7gear Explorer", "7gear Explorer II"),),
            ),
            Edit(
                "product/7gear-glove-tire/index.html",
                {"InStock": "OutOfStock"},
                (("availability", "InStock", "OutOfStock"),),
            ),
        ),
    ),
)
