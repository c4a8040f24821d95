"""The weight of a real shop's pages: styles, scripts and chrome, made once per seed and shared by all pages."""

from __future__ import annotations

import random
from dataclasses import dataclass
from html import escape

from storebot.demo.goods import category_slug
from storebot.demo.words import CATEGORIES, FILLER, REVIEWERS, SENTENCES

SHOP_NAME = "Thistle & Thorn"
_SCRIPT_SIZES = (40_000, 20_000, 10_000, 5_000, 2_500)
_CHOICES = 4  # of each script size, of styles and of reviews


@dataclass(frozen=True, slots=True)
class Shell:
    """Encoded pieces that pages are joined from; a page picks among them by its id."""

    styles: tuple[bytes, ...]
    scripts: dict[int, tuple[bytes, ...]]  # by size, largest first
    reviews: tuple[bytes, ...]
    nav: bytes
    footer: bytes

    def filling(self, size_bytes: int, pick: int) -> list[bytes]:
        """Return scripts that weigh ``size_bytes`` or up to 2.5 KB less."""
        chosen: list[bytes] = []
        for number, size in enumerate(_fit(size_bytes)):
            pieces = self.scripts[size]
            chosen.append(pieces[(pick + number) % len(pieces)])
        return chosen


def shell(seed: int) -> Shell:
    """Build the pieces of one seed: about half a megabyte."""
    rng = random.Random(f"{seed}:shell")
    return Shell(
        styles=tuple(_style(rng, 24_000) for _ in range(_CHOICES)),
        scripts={size: tuple(_script(rng, size) for _ in range(_CHOICES)) for size in _SCRIPT_SIZES},
        reviews=tuple(_reviews(rng) for _ in range(_CHOICES)),
        nav=_nav(),
        footer=_footer(),
    )


def javascript(seed: str, size_bytes: int) -> bytes:
    """Return plain script text of exactly this size: for pages that a lie is told with."""
    return _code(random.Random(seed), size_bytes)


def _fit(size_bytes: int) -> list[int]:
    sizes: list[int] = []
    for size in _SCRIPT_SIZES:
        count, size_bytes = divmod(max(0, size_bytes), size)
        sizes += [size] * count
    return sizes


def _style(rng: random.Random, size_bytes: int) -> bytes:
    rules: list[str] = []
    length = 0
    while length < size_bytes:
        first, second = rng.sample(FILLER, 2)
        rule = (
            f".{first}__{second}--{rng.randrange(99)}{{margin:{rng.randrange(40)}px {rng.randrange(40)}px;"
            f"transition:opacity .{rng.randrange(1, 9)}s ease;color:#{rng.randrange(0x1000000):06x}}}\n"
        )
        rules.append(rule)
        length += len(rule)
    return f"<style>{''.join(rules)}</style>\n".encode()


def _script(rng: random.Random, size_bytes: int) -> bytes:
    opening, closing = b"<script>", b"</script>\n"
    return opening + _code(rng, size_bytes - len(opening) - len(closing)) + closing


def _code(rng: random.Random, size_bytes: int) -> bytes:
    lines: list[str] = []
    length = 0
    while length < size_bytes:
        first, second, third = rng.sample(FILLER, 3)
        line = (
            f"function {first}_{second}{rng.randrange(9999)}(a,b){{var {third}=a.{first}||{rng.randrange(99)};"
            f'if(b&&b.{second})return "{third}-"+{third}*{rng.randrange(1, 99)};return {third};}}\n'
        )
        lines.append(line)
        length += len(line)
    text = "".join(lines)[: max(0, size_bytes - 4)]
    return f"/*{text.replace('*/', '')}*/".encode().ljust(size_bytes)


def _reviews(rng: random.Random) -> bytes:
    rows = "".join(
        f'<li class="review"><p class="review-by">{escape(rng.choice(REVIEWERS))}</p>'
        f'<p class="review-stars" aria-label="{rng.randrange(3, 6)} stars">★★★★</p>'
        f'<p class="review-text">{escape(" ".join(rng.sample(SENTENCES, 3)))}</p></li>\n'
        for _ in range(8)
    )
    return f'<section class="reviews"><h2>What people say</h2><ul>\n{rows}</ul></section>\n'.encode()


def _nav() -> bytes:
    links = "".join(
        f'<li class="nav-item"><a class="nav-link" href="/c/{category_slug(path)}">{escape(path[1])}</a>'
        f'<div class="nav-drop"><p class="nav-head">{escape(path[0])}</p><ul>'
        + "".join(
            f'<li><a href="/search?q={n}" rel="nofollow">{escape(thing)}</a></li>' for n, thing in enumerate(things)
        )
        + "</ul></div></li>\n"
        for path, things in CATEGORIES.items()
    )
    return (
        f'<header class="site-header"><a class="logo" href="/">{escape(SHOP_NAME)}</a>'
        '<form class="search" action="/search" role="search"><input name="q" aria-label="Search"></form>'
        '<a class="basket" href="/cart" rel="nofollow">Basket (0)</a></header>\n'
        f'<nav class="site-nav"><ul>\n<li><a href="/catalogue/page-1.html">All products</a></li>\n{links}</ul></nav>\n'
    ).encode()


def _footer() -> bytes:
    columns = "".join(
        f'<div class="footer-column"><h3>{head}</h3><ul>'
        + "".join(f'<li><a href="/help/{item.lower().replace(" ", "-")}">{item}</a></li>' for item in items)
        + "</ul></div>\n"
        for head, items in (
            ("Help", ("Delivery", "Returns", "Contact us", "Gift cards", "Size guide")),
            ("About", ("Our story", "Makers", "Careers", "Press", "Sustainability")),
            ("Legal", ("Terms", "Privacy", "Cookies", "Modern slavery")),
        )
    )
    return (
        f'<footer class="site-footer">\n{columns}'
        f"<p>© {escape(SHOP_NAME)}. A demo store: nothing here is for sale.</p></footer>\n</body>\n</html>\n"
    ).encode()
