"""Pages for what isn't there that come with status 200, and redirects that mean the same."""

from __future__ import annotations

import gzip
import re

import pytest

from storebot.core.page import Page
from storebot.core.parsing.reading import identity, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.core.soft404 import known_strays, landing, soft_404, stray_hash
from storebot.core.soft404_words import PAGE_GONE, PRODUCT_GONE
from tests.shared_data import shared

SHOP = "https://shop.example"
MUG = f"{SHOP}/p/blue-mug"
PRODUCT = re.compile(r"/p/")
TEXT = "<p>Fired twice, glazed by hand, and packed in straw. Open Monday to Friday.</p>" * 4


def page(body: str, url: str = MUG, head: str = "", attributes: str = "") -> Page:
    """Return a page as a shop sends it."""
    html = f"<!doctype html><html><head>{head}</head><body {attributes}>{body}{TEXT}</body></html>"
    return Page(url=url, body=html.encode())


def titled(title: str, heading: str = "Kitchen and table") -> Page:
    return page(f"<h1>{heading}</h1>", head=f"<title>{title}</title>")


@pytest.mark.parametrize(
    "title",
    [
        "Page not found | Thistle",
        "404 - Thistle",
        "Error 404",
        "Not found – Thistle",
        "Oops! That page can’t be found".replace("’", "'"),
        "This product does not exist",
        "The product you are looking for is no longer available",
        "Diese Seite existiert nicht mehr",
        "Artikel nicht gefunden",
        "Der Artikel ist leider nicht mehr verfügbar",
        "Page introuvable",
        "Ce produit n'existe plus",
        "Página no encontrada",
        "Pagina non trovata - Thistle",
        "Página não encontrada",
        "Pagina niet gevonden",
        "Strona nie została znaleziona",
        "Sidan hittades inte",
        "Stránka nenalezena",
        "Az oldal nem található",
        "Sayfa bulunamadı",
        "Страница не найдена",
        "ページが見つかりません",
        "페이지를 찾을 수 없습니다",
        "页面不存在",
    ],
)
def test_a_title_or_a_heading_that_says_so_is_a_sign(title: str) -> None:
    assert "title or heading says" in soft_404(titled(title), SHOP)
    assert "title or heading says" in soft_404(titled("Thistle & Thorn", heading=title), SHOP)


@pytest.mark.parametrize(
    "title",
    [
        "Blue mug | Thistle",
        "Peugeot 404 Cabriolet 1:43",
        "Lost and not found, vinyl",  # a name has other words before it
        "Mug, discontinued",
        "Blue mug - out of stock",
        "Auslaufmodell: Becher",
        "Scheduled maintenance: page not found",  # the shop is away, not the product
        "Something went wrong",
        "Wartungsarbeiten",
        "",
    ],
)
def test_names_of_products_and_of_outages_are_none(title: str) -> None:
    assert soft_404(titled(title), SHOP) == ""


def test_running_text_is_no_sign() -> None:
    """A product that is discontinued is still shown: its page isn't gone (DESIGN §5)."""
    text = "<h1>Blue mug</h1><p>This product is no longer available.</p><p>Page not found? Write to us.</p>"
    assert soft_404(page(text, head="<title>Blue mug</title>"), SHOP) == ""


@pytest.mark.parametrize(
    ("head", "attributes", "said"),
    [
        ("", 'class="error404 wp-theme"', "error404"),
        ("", 'id="pagenotfound" class="lang-en"', "pagenotfound"),
        ("", 'class="cms-no-route cms-page-view"', "cms-no-route"),
        ('<meta name="prerender-status-code" content="404">', "", "HTTP 404"),
        (f'<link rel="canonical" href="{SHOP}/404">', "", f"{SHOP}/404"),
        (f'<link rel="canonical" href="{SHOP}/">', "", f"{SHOP}/"),
        (f'<link rel="canonical" href="{SHOP}/en/not-found.html">', "", "not-found"),
    ],
)
def test_marks_of_software_and_the_canonical_link_are_signs(head: str, attributes: str, said: str) -> None:
    assert said in soft_404(page("<h1>Hm</h1>", head=head, attributes=attributes), SHOP)


def test_a_canonical_link_to_the_page_itself_or_to_another_product_is_none() -> None:
    for canonical in (MUG, f"{SHOP}/p/cup"):
        assert soft_404(page("<h1>Hm</h1>", head=f'<link rel="canonical" href="{canonical}">'), SHOP) == ""


def test_a_canonical_link_in_the_one_head_of_an_application_says_nothing_of_the_product() -> None:
    """A shop that turned into an application would lose all its products: each address gives the same empty page."""
    head, script = f'<link rel="canonical" href="{SHOP}/">', '<script src="/app.js"></script>'
    assert soft_404(page(f'<div id="root"></div>{script}', head=head), SHOP) == ""
    assert "true address" in soft_404(page(f"<h1>Welcome</h1>{script}", head=head), SHOP)


def test_no_page_of_a_real_shop_that_shows_a_product_has_a_sign() -> None:
    """Positive evidence wins anyway; these would be wrong even where a redesign took it away."""
    wrong = []
    for path in sorted(shared("products/pages").glob("*.html.gz")):
        found = Page(url="https://shop.example/p/x", body=gzip.decompress(path.read_bytes()))
        if identity(read_product(found, ProductRules())) and (sign := _without_canonical(found)):
            wrong.append((path.name, sign))
    assert not wrong


def _without_canonical(found: Page) -> str:
    found._canonical = None  # of the page's own shop, and its address isn't known here
    return soft_404(found, "https://shop.example")


def test_lists_and_start_pages_are_no_page_for_what_is_not_found() -> None:
    for path in sorted(shared("products/nonproduct").glob("*.html.gz")):
        found = Page(url="https://shop.example/p/x", body=gzip.decompress(path.read_bytes()))
        assert _without_canonical(found) == "", path.name


def test_words_are_written_in_lower_case_and_compile() -> None:
    for words in (*PAGE_GONE.values(), *PRODUCT_GONE.values()):
        assert words == words.lower()
        re.compile(words)


class TestStrays:
    def test_one_page_at_many_addresses_has_one_hash(self) -> None:
        first = page("<h1>Hoppla</h1><p>Nr. 1</p>", head="<title>Thistle</title>")
        other = page("<h1>Hoppla</h1><p>Nr. 2</p>", head="<title>Thistle</title>", url=f"{SHOP}/p/cup")
        assert stray_hash(first) == stray_hash(other) != ""
        assert soft_404(first, SHOP) == ""
        assert "this very page" in soft_404(first, SHOP, {stray_hash(other)})

    def test_an_empty_shell_has_none(self) -> None:
        shell = b"<html><head><title>Shop</title></head><body><div id=app></div><script>x</script></body></html>"
        assert stray_hash(Page(url=MUG, body=shell)) == ""
        assert stray_hash(page("", head="<title>Shop</title>")) == "", "nor one without a heading"

    @pytest.mark.parametrize(("count", "known"), [(4, False), (5, True), (10, True), (11, False), (100, False)])
    def test_it_is_known_when_several_pages_show_it_and_most_do_not(self, count: int, known: bool) -> None:
        """What a tenth of a store shows is an outage or a redesign (frozen page)."""
        assert bool(known_strays({"a": count}, 100)) is known


class TestLanding:
    LISTS = frozenset({f"{SHOP}/all"})

    def land(self, url: str, body: str = "") -> str:
        return landing(MUG, page(body, url=url), SHOP, PRODUCT, self.LISTS, url)

    @pytest.mark.parametrize("path", ["/", "/en/", "/de-de", "/index.html", ""])
    def test_the_home_page_in_any_language(self, path: str) -> None:
        assert self.land(SHOP + path) == "the home page"

    @pytest.mark.parametrize("path", ["/all", "/p/"])
    def test_a_list_by_its_address(self, path: str) -> None:
        assert self.land(SHOP + path) == "a list of products"

    def test_a_list_by_its_links(self) -> None:
        links = "".join(f'<a href="/p/{name}">x</a>' for name in ("a", "b", "c"))
        assert self.land(f"{SHOP}/c/mugs", links) == "a list of products"

    @pytest.mark.parametrize("path", ["/404", "/not-found.html", "/en/page-not-found"])
    def test_the_page_for_what_is_not_found(self, path: str) -> None:
        assert self.land(SHOP + path) == "the page for what isn't found"

    @pytest.mark.parametrize(
        "path", ["/login", "/account/login", "/cart", "/errors/busy", "/captcha", "/de/anmelden", "/consent", "/about"]
    )
    def test_a_log_in_or_an_error_says_nothing_of_the_product_r07(self, path: str) -> None:
        links = "".join(f'<a href="/p/{name}">x</a>' for name in ("a", "b", "c")) if path != "/about" else ""
        assert self.land(SHOP + path, links) == ""
