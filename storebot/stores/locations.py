"""Readers of what a store file says about addresses: URLs, paths, hosts, parameters."""

from __future__ import annotations

import re
from collections.abc import Callable

from storebot.core.urls import KeyRules, url_key
from storebot.stores.texts import distinct, text_of, texts_of
from storebot.stores.wording import shown, wrong

_CREDENTIALS = re.compile(r"[a-z]+://[^/?#]*@", re.IGNORECASE)
_BLANK = re.compile(r"[\s\x00-\x1f\x7f]")


def absolute_url(value: object) -> str:
    """Return an http(s) URL without query, fragment, credentials and trailing slash."""
    expected = 'an absolute http(s) URL such as "https://shop.example"'
    text = text_of(value, expected)
    problem = _url_problem(text)
    if not problem and ("?" in text or "#" in text):
        problem = "it has a query or fragment"
    if problem:
        raise wrong(f"expected {expected}, got {shown(text)}: {problem}")
    return text.rstrip("/")


def _url_problem(text: str) -> str:
    """Return what keeps ``text`` from being an absolute http(s) URL; "" when it is one."""
    if _BLANK.search(text):
        return "it has a space or control character"
    if not text.lower().startswith(("http://", "https://")):
        return "it doesn't start with http:// or https://"
    if _CREDENTIALS.match(text):
        return "it holds a user name or password; secrets come from the environment only"
    try:
        url_key(text)
    except ValueError as error:
        return str(error)
    return ""


def api_url(value: object) -> str:
    """Return the absolute http(s) URL of an API, whose query may hold placeholders."""
    expected = 'an absolute http(s) URL such as "https://api.example/v1/scrape"'
    text = text_of(value, expected)
    problem = _url_problem(text) or ("it has a fragment" if "#" in text else "")
    if problem:
        raise wrong(f"expected {expected}, got {shown(text)}: {problem}")
    return text


def _location(text: str, expected: str) -> str:
    """Return ``text`` if it is an absolute http(s) URL, or a path to put behind ``base_url``."""
    if text.startswith("/") and not text.startswith("//"):
        problem = "it has a space or control character" if _BLANK.search(text) else ""
    else:
        problem = _url_problem(text)
    if problem:
        raise wrong(f"expected {expected}, got {shown(text)}: {problem}")
    return text


def templates(value: object) -> tuple[str, ...]:
    """Return one or more locations of catalogue pages, whose only placeholder is ``{page}``."""
    expected = 'a path or URL such as "/catalogue/page-{page}.html", or a list of them'
    found = [_location(text, expected) for text in texts_of([value] if isinstance(value, str) else value, expected)]
    for text in found:
        if re.search(r"[{}]", text.replace("{page}", "")):
            raise wrong(f"expected {expected}, got {shown(text)}: the only placeholder is {{page}}")
    return distinct(found)


def sitemaps(value: object) -> bool | tuple[str, ...]:
    """Return True (ask robots.txt, then /sitemap.xml), False (read none), or the locations of sitemaps."""
    if isinstance(value, bool):
        return value
    expected = 'true, false, or a list of paths or URLs such as ["/sitemap.xml"]'
    if value == []:
        raise wrong(f"expected {expected}, got an empty list; write false for none")
    return distinct([_location(text, expected) for text in texts_of(value, expected)])


def feeds(value: object) -> tuple[str, ...]:
    """Return the locations of product feeds."""
    expected = 'a list of paths or URLs such as ["/feed.xml"]'
    return distinct([_location(text, expected) for text in texts_of(value, expected)])


def parameters(value: object) -> tuple[str, ...]:
    """Return patterns of query parameters, as KeyRules knows them."""
    expected = 'a list of parameters such as ["sort", "ref*", "view=list"]'
    found = texts_of(value, expected)
    for text in found:
        _checked(KeyRules, expected, text, drop=(text,))
    return distinct(found)


def hosts(value: object) -> tuple[str, ...]:
    """Return host names, each perhaps with a port."""
    expected = 'a list of hosts such as ["shop.example.org"]'
    found = texts_of(value, expected)
    for text in found:
        if "/" in text or "@" in text:
            raise wrong(f"expected {expected}, got {shown(text)}: a host has no scheme, user or path")
        _checked(KeyRules, expected, text, host=text)
    return distinct(found)


def _checked(rules_of: Callable[..., object], expected: str, text: str, **said: object) -> None:
    try:
        rules_of(**said)
    except ValueError as error:
        raise wrong(f"expected {expected}, got {shown(text)}: {error}") from error
