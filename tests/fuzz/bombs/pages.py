"""Pages that are too large, and pages just below the limit, of what is dear in a page."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.bombs.making import MB, filled, numbered

SCRIPT = b'<script type="application/ld+json">%s</script>'
SHOWN = b"<title>Thing</title><h1>Thing</h1><b class=price>12,50 EUR</b><button>Add to cart</button>"

# Pages of 50 MB, which are refused, whatever they hold.
REFUSED: dict[str, Callable[[], bytes]] = dict(
    page_of_50_mb_of_text=lambda: filled(SHOWN + b"<p>", b"some words and ", 50 * MB),
    page_of_50_mb_of_tags=lambda: filled(SHOWN, b"<i></i>", 50 * MB),
    page_of_50_mb_in_one_attribute=lambda: filled(SHOWN + b'<p title="', b"a", 50 * MB, b'">'),
    page_of_50_mb_of_json_ld=lambda: SCRIPT % filled(b'{"@type":"Product","name":"', b"a", 50 * MB, b'"}'),
    page_of_a_million_links=lambda: numbered(SHOWN, b'<a href="/p/%d/some-more-of-the-address">more</a>', 1_000_000),
    page_of_a_million_attributes=lambda: numbered(b"<p ", b"attribute-%d ", 3_000_000, b">"),
)

# Pages just below the limit, which are read.
_NEARLY = 8 * MB - 4096
NEARLY_REFUSED: dict[str, Callable[[], bytes]] = dict(
    text=lambda: filled(SHOWN + b"<p>", b"some words and ", _NEARLY),
    white_space=lambda: filled(SHOWN[:-20], b" \n", _NEARLY, b"<p>1 EUR"),
    digits=lambda: filled(SHOWN + b"<p>", b"1 ", _NEARLY),
    latin_1_called_utf_8=lambda: filled(b"<meta charset=utf-8>" + SHOWN, b"\xe9\xe8", _NEARLY),
    utf_16=lambda: b"\xff\xfe" + filled(SHOWN, b"<b>1 EUR</b> ", _NEARLY // 2).decode().encode("utf-16-le")[:_NEARLY],
    empty_tags=lambda: filled(SHOWN, b"<i></i>", _NEARLY),
    the_most_tags=lambda: filled(SHOWN, b"<p>1 EUR", 240_000 * 8),
    the_most_tags_of_prices=lambda: filled(SHOWN, b"<p class=price>1<b>2</b>", 80_000 * 24),
    the_most_headings=lambda: filled(b"<title>Thing</title>", b"<h1>Thing 1 EUR</h1>", 120_000 * 20),
    the_most_buttons=lambda: filled(SHOWN, b"<button>Add to cart</button>", 120_000 * 28),
    the_most_labels=lambda: filled(SHOWN, b"<b>EAN</b><i></i>", 58_000 * 17),
    the_most_links=lambda: numbered(SHOWN, b"<a href=/p/%d>", 245_000),
    tables_in_tables=lambda: filled(SHOWN, b"<table><tr><td>1 EUR", 80_000 * 20),
    one_attribute=lambda: filled(SHOWN + b'<p class="', b"price ", _NEARLY, b'">12 EUR</p>'),
    a_hundred_thousand_attributes=lambda: numbered(SHOWN + b"<p ", b"a%d=1 ", 100_000, b">"),
    attributes_that_hide_brackets=lambda: numbered(SHOWN + b"<p ", b'a%d=">" ', 100_000, b">"),
    a_thousand_tags_of_900_attributes=lambda: SHOWN + numbered(b"<p ", b"a%d=1 ", 900, b">") * 1000,
    nested_elements=lambda: filled(SHOWN, b"<div>", 100_000 * 5, b"12 EUR"),
    nested_reviews=lambda: filled(
        b"<title>Thing</title>", b"<div class=review>1 EUR", 2_000 * 23, b"<p>" * 200_000 + b"<h1>Thing"
    ),
    nested_items=lambda: filled(
        SHOWN, b"<p itemscope itemtype=https://schema.org/Product><b itemprop=offers itemscope>", 2 * MB
    ),
    unclosed_tags=lambda: filled(SHOWN, b"<", _NEARLY),
    unclosed_comments=lambda: filled(SHOWN, b"<!--", _NEARLY),
    closed_scripts=lambda: filled(SHOWN + b"ShopifyAnalytics var meta = {<script data-product-json>", b"</", 2 * MB),
    metas=lambda: filled(b"", b"<meta ", 2 * MB, b">"),
    commented_metas=lambda: filled(b"<!--", b'<meta property="og:title" content=a>', _NEARLY, b"-->"),
    commented_json_ld=lambda: filled(b"<!--", b"<script type=application/ld+json>{}</script>", _NEARLY, b"-->"),
    mentions_of_json_ld=lambda: filled(b"<script ", b"application/ld+json", _NEARLY),
    mentions_in_tags=lambda: filled(b"", b"<script " + b"application/ld+json" * 200 + b">", _NEARLY),
    canonical_links=lambda: filled(b"", b"<link rel=" + b" " * 3000 + b"canonical x", _NEARLY),
    titles=lambda: filled(b"", b"<title>", _NEARLY),
    item_types=lambda: filled(b"", b"itemtype=", _NEARLY),
    item_types_and_slashes=lambda: filled(b"", b"itemtype=" + b"/" * 400, _NEARLY),
    types_of_rdfa=lambda: filled(b"", b"typeof=", _NEARLY),
    forms_of_variations=lambda: filled(b"", b"<form data-product_variations ", _NEARLY),
    selects_of_variations=lambda: filled(
        b"<form data-product_variations='[]'>", b"<select><option><label>", _NEARLY, b"</form>"
    ),
    variations=lambda: numbered(
        b"<form data-product_variations='[{}",
        b',{"variation_id":%d,"display_price":1,"sku":"a"}',
        66_000,
        b"]'></form>",
    ),
    entities=lambda: filled(SHOWN, b"&amp;&#x41;", _NEARLY),
    a_number_of_a_character=lambda: (
        b'<meta property="og:type" content=product><meta property="og:title" content="&#'
        + b"9" * 4000
        + b'999999;">'
        + SHOWN
    ),
    a_long_number_of_a_character=lambda: (
        SCRIPT % filled(b'{"@type":"Product","name":"&#', b"9", 3 * MB, b';"}') + SHOWN
    ),
)
