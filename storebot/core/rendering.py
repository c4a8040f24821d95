"""Whether a page lacks what was asked for because scripts would have put it there.

Asked only of pages on which no product, a required field or no product link was found: it decides whether a dearer
tier is worth trying, never what a page says. Each sign is what a page that was sent whole doesn't have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lxml import etree

from storebot.core.page import Page
from storebot.core.reloading import sets_its_cookie
from storebot.core.text import clean_text

# What the common frameworks' own templates call the element that their script fills.
_MOUNTS = frozenset(
    (
        "root", "app", "__next", "__nuxt", "___gatsby", "svelte", "q-app", "ember-app", "react-root", "react-app",
        "vue-app", "app-root", "app-container", "main-app", "mount", "application",
    )
)  # fmt: skip
_UNSEEN = frozenset(("script", "style", "noscript", "template", "title", "head", "svg"))
_THIN = 200  # characters on show: the shortest page of a shop in the corpus that was sent whole has 370
_PLACEHOLDERS = 3  # elements; single ones wait for a picture or a widget on pages that are there otherwise
_TEMPLATES = 3
_SKELETON = re.compile(r"(?:^|[\s_-])(?:skeleton|shimmer)|(?:skeleton|shimmer)(?:$|[\s_-])", re.IGNORECASE)
_MUSTACHE = re.compile(r"\{\{[^{}]{1,80}\}\}")
_LOADING = re.compile(
    r"(?:loading|please wait|wird geladen|bitte warten|lädt|chargement|cargando|caricamento|carregando|laden|ładowanie"
    r"|laddar|načítání|betöltés|yükleniyor|загрузка|読み込み中|로딩 ?중|加载中)(?: .{0,30})?[\s.…]*"
)
_DEMANDS = "enable|activate|turn on|require|need|aktivier|activ|habilit|abilit|włącz|включ|有効|启用|사용"
_ASKS = re.compile(  # JavaScript is called that in every script
    rf"(?:{_DEMANDS}).{{0,60}}java\s?script|java\s?script.{{0,60}}(?:{_DEMANDS}|disabled|off)", re.DOTALL
)
_PRICE = re.compile(r"(?:^|[\s_-])price(?:$|[\s_-])", re.IGNORECASE)
_NUMBER = re.compile(r"\d")
_NOUGHT = re.compile(r"\D*0(?:[.,]0+)?\D*")


def needs_scripts(page: Page) -> str:
    """Say by what sign scripts would put onto a page what isn't found there, in half a sentence; "" without any."""
    root = page.root
    if root is None or not _has_scripts(root):
        return ""
    if mount := _empty_mount(root):
        return f"its scripts fill {mount}, which is empty"
    if sets_its_cookie(page):
        return "its script sets a cookie, and reloads it"
    if any(_LOADING.fullmatch(text) for text in _titles(root)):
        return "its title or heading says that it is loading"
    if not _has_heading(root) and (count := _count(_skeletons(root))) >= _PLACEHOLDERS:
        return f"it has no heading and {count} placeholders (skeleton)"
    if templates := _templates(root):
        return f"its text has templates that nobody filled ({templates})"
    return _thin(root)


def waits_for_price(page: Page) -> bool:
    """Whether scripts would fill in the price of a product that was found: each place for one is empty, or has nought.

    Single fields have no other sign: a page that lacks its GTIN lacks it in a browser too.
    """
    root = page.root
    if root is None or not _has_scripts(root):
        return False
    places = [element for element in root.iter() if isinstance(element.tag, str) and _is_price_place(element)]
    texts = [clean_text(" ".join(_shown(element))) for element in places]
    return bool(texts) and all(not _NUMBER.search(text) or _NOUGHT.fullmatch(text) for text in texts)


def _has_scripts(root: etree._Element) -> bool:
    """Whether anything can run: data for machines is no script."""
    return any(_runs(script) for script in root.iter("script"))


def _runs(script: etree._Element) -> bool:
    kind = (script.get("type") or "").strip().lower()
    return kind in ("", "module") or "javascript" in kind or "ecmascript" in kind


def _empty_mount(root: etree._Element) -> str:
    """Return the element that an application is put into, as ``<div id="app">``, where nothing is on show in it."""
    for element in root.iter("div", "main", "section"):
        name = element.get("id") or ""
        if name.lower() in _MOUNTS and _is_waiting(element):
            return f'<{element.tag} id="{name}">'
    for body in root.iter("body"):
        for element in body:
            if isinstance(element.tag, str) and _is_root_component(element.tag) and _is_waiting(element):
                return f"<{element.tag}>"
    return ""


def _is_root_component(tag: str) -> bool:
    """Whether a tag names an application of custom elements (HTML standard §4.13): app-root, my-app."""
    return tag in ("app-root", "my-app") or tag.endswith(("-app", "-root", "-application"))


def _is_waiting(element: etree._Element) -> bool:
    text = clean_text(" ".join(_shown(element, _THIN))).lower()
    return not text or _LOADING.fullmatch(text) is not None


def _titles(root: etree._Element) -> Iterator[str]:
    for element in (*list(root.iter("title"))[:1], *list(root.iter("h1"))[:3]):
        yield clean_text(_all_text(element)).lower()


def _has_heading(root: etree._Element) -> bool:
    return any(clean_text(" ".join(_shown(heading, 1))) for heading in root.iter("h1"))


def _skeletons(root: etree._Element) -> Iterator[etree._Element]:
    return (
        element
        for element in root.iter()
        if isinstance(element.tag, str)
        and element.tag not in _UNSEEN
        and _SKELETON.search(element.get("class") or "")
        and not any(_shown(element, 1))
    )


def _templates(root: etree._Element) -> str:
    """Return a template of the title or a heading, or of running text that has several; "" where there is none."""
    for text in _titles(root):
        if found := _MUSTACHE.search(text):
            return found[0]
    found_in_text = [found[0] for text in _shown(root) for found in _MUSTACHE.finditer(text)]
    return found_in_text[0] if len(found_in_text) >= _TEMPLATES else ""


def _is_price_place(element: etree._Element) -> bool:
    if element.tag in _UNSEEN or element.tag in ("html", "body", "meta", "link", "input"):
        return False
    names = f"{element.get('class') or ''} {element.get('id') or ''} {element.get('itemprop') or ''}"
    return _PRICE.search(names) is not None


def _thin(root: etree._Element) -> str:
    """Say that a page has next to no text, where it also asks for JavaScript or is scripts for the most part."""
    text = clean_text(" ".join(_shown(root, _THIN)))
    if len(text) >= _THIN:
        return ""
    noscript = " ".join(map(_all_text, root.iter("noscript"))).lower()
    if _ASKS.search(noscript) or _ASKS.search(text.lower()):
        return f"it has {len(text)} characters of text, and asks for JavaScript"
    scripts = [script for script in root.iter("script") if _runs(script)]
    inline = sum(len(script.text or "") for script in scripts)
    if not text or sum("src" in script.attrib for script in scripts) >= 2 or inline > 10 * _THIN:
        return f"it has {len(text)} characters of text, and {len(scripts)} scripts"
    return ""


def _shown(element: etree._Element, enough: int | None = None) -> Iterator[str]:
    """Yield the texts below an element that are on show, until they have ``enough`` characters."""
    length, stack = 0, [element]
    while stack and (enough is None or length < enough):
        one = stack.pop()
        seen = isinstance(one.tag, str) and one.tag not in _UNSEEN
        texts = (one.text if seen else None, one.tail if one is not element else None)
        for text in texts:
            if text and not text.isspace():
                length += len(text.strip())
                yield text
        if seen:
            stack.extend(reversed(one))


def _all_text(element: etree._Element) -> str:
    return "".join(str(text) for text in element.itertext())


def _count(elements: Iterable[object]) -> int:
    return sum(1 for _ in elements)
