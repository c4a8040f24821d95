"""Every kind of fault in a store file gives its one line: file, key, what was expected, the nearest valid name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.exceptions import ExitCode, StoreFileError
from storebot.stores.keys import known_keys
from storebot.stores.wording import nearest
from tests.stores.writing import LEAST, read

URL = 'expected an absolute http(s) URL such as "https://shop.example"'
RULES = 'expected a list of rules such as ["h1::text", "xpath://h1/text()"]'
SITEMAPS = 'expected true, false, or a list of paths or URLs such as ["/sitemap.xml"]'
DURATION = 'expected a duration such as "24h", "90m" or "0s"'
CURRENCY = 'expected an ISO 4217 code such as "GBP", or a list of rules'
TEMPLATE = 'expected a path or URL such as "/catalogue/page-{page}.html", or a list of them'

FAULTS = [
    # unknown keys
    ("base_ulr = 'https://a.example'\nproduct_url = '/p/'", "base_ulr: unknown key (did you mean 'base_url'?)"),
    (LEAST + "[product]\npirce = ['b']", "product.pirce: unknown key (did you mean 'product.price'?)"),
    (LEAST + "[politness]\ndelay_s = 2", "politness: unknown key (did you mean 'politeness'?)"),
    (
        LEAST + "delay_s = 2",
        "delay_s: unknown key; delay_s belongs in [politeness] (did you mean 'politeness.delay_s'?)",
    ),
    (
        "base_url = 'https://a.example'\n[catalogue]\nurl = '/c'\nproduct_url = '/p/'",
        "catalogue.product_url: unknown key; product_url belongs above the first [section] "
        "(did you mean 'product_url'?)",
    ),
    (
        LEAST + "[blocks]\nzzzzzz = 1",
        "blocks.zzzzzz: unknown key; expected one of markers, breaker_share, breaker_error_share, breaker_min",
    ),
    (
        LEAST + '"a\\nb" = 1',
        '"a\\nb": unknown key; expected one of base_url, product_url, discover, catalogue, '
        "product, keys, politeness, fetch, costs, budget, refresh, blocks, gate, delist, expect, archive, "
        "schedule",
    ),
    # windows of the gate
    (
        LEAST + "[[gate.planned]]\nfrom = 2026-11-27T00:00:00Z\nreason = 'a sale'",
        "gate.planned[0].until: is missing: expected its end, written likewise. Give it an hour more for the refresh",
    ),
    (
        LEAST + "[[gate.planned]]\nfrom = 2026-11-27T00:00:00\nuntil = 2026-11-30T00:00:00Z\nreason = 'a sale'",
        "gate.planned[0].from: expected a date and time with an offset from UTC such as 2026-11-27T00:00:00+01:00, "
        "got 2026-11-27T00:00:00, which has none",
    ),
    (
        LEAST + "[[gate.planned]]\nfrom = '27 November'\nuntil = 2026-11-30T00:00:00Z\nreason = 'a sale'",
        "gate.planned[0].from: expected a date and time with an offset from UTC such as 2026-11-27T00:00:00+01:00, "
        'got the text "27 November"',
    ),
    (
        LEAST + "[[gate.planned]]\nfrom = 2026-12-27T00:00:00Z\nuntil = 2026-11-30T00:00:00Z\nreason = 'a sale'",
        "gate.planned.until: ends before it begins",
    ),
    (
        LEAST + "[[gate.planned]]\nstart = 1\nfrom = 2026-11-27T00:00:00Z\nuntil = 2026-11-30T00:00:00Z\n"
        "reason = 'a sale'",
        "gate.planned[0].start: unknown key; expected one of from, until, what, reason",
    ),
    (LEAST + "[gate]\nmax_changed = 1.5", "gate.max_changed: expected a number of at most 1, got the number 1.5"),
    # missing keys and sections
    (
        'product_url = "/p/"',
        "base_url: is missing: expected address of the shop, absolute, such as https://shop.example",
    ),
    (
        'base_url = "https://a.example"',
        "product_url: is missing: expected regular expression; a URL that it is found in is a product page",
    ),
    (
        LEAST + "[catalogue]",
        "catalogue.url: is missing: expected path or URL of the catalogue's pages, or a list of them, each its own "
        "walk; {page} stands for the page number",
    ),
    (
        LEAST + "[discover]\ncatalogue = true",
        "catalogue: expected a [catalogue] with a url, because discover.catalogue is true",
    ),
    (
        LEAST + "[discover]\nsitemaps = false",
        "discover: expected at least one way to find products: sitemaps, a [catalogue] with a url, a platform or feeds",
    ),
    (
        LEAST + "[discover]\nplatform = 'shopify'\nfeeds = ['/feed.xml']",
        "discover.feeds: has no effect, because discover.platform carries the products already; leave one of the two "
        "out",
    ),
    (
        LEAST + "[discover]\nfeeds = 'feed.xml'",
        'discover.feeds: expected a list of paths or URLs such as ["/feed.xml"], got the text "feed.xml"',
    ),
    (
        LEAST + "[politeness]\nrobots = false",
        "politeness.robots_reason: is missing: politeness.robots = false needs a sentence that says who allowed it",
    ),
    # wrong types
    ("base_url = 5\nproduct_url = '/p/'", f"base_url: {URL}, got the number 5; put it in quotes"),
    (
        "base_url = 2026-01-31\nproduct_url = '/p/'",
        f"base_url: {URL}, got the date or time 2026-01-31",
    ),
    (LEAST + "politeness = 3", "politeness: expected a section, got the number 3"),
    (LEAST + "[[product]]\nname = ['h1']", "product: expected a section, got a list of 1"),
    (LEAST + "[politeness]\nrobots = 'no'", 'politeness.robots: expected true or false, got the text "no"'),
    (LEAST + "[politeness]\nrobots = 0", "politeness.robots: expected true or false, got the number 0"),
    (LEAST + "[refresh]\nsitemaps = 'False'", 'refresh.sitemaps: expected true or false, got the text "False"'),
    (LEAST + "[politeness]\ndelay_s = '2'", 'politeness.delay_s: expected a number, got the text "2"'),
    (LEAST + "[politeness]\ndelay_s = true", "politeness.delay_s: expected a number, got the boolean true"),
    (LEAST + "[politeness]\nconcurrency = 1.0", "politeness.concurrency: expected a whole number, got the number 1.0"),
    (LEAST + "[product]\nname = 'h1'", f'product.name: {RULES}, got the text "h1"'),
    (LEAST + "[product]\nname = ['h1', 3]", f"product.name: {RULES}, but item 2 is the number 3; put it in quotes"),
    (LEAST + "[refresh]\ninterval = 24", f"refresh.interval: {DURATION}, got the number 24; put it in quotes"),
    (LEAST + "[discover]\nsitemaps = 'yes'", f'discover.sitemaps: {SITEMAPS}, got the text "yes"'),
    # numbers out of range: an explicit 0 is never taken for "unset"
    (LEAST + "[politeness]\ndelay_s = -1", "politeness.delay_s: expected a number of at least 0, got the number -1"),
    (LEAST + "[politeness]\ndelay_s = inf", "politeness.delay_s: expected a finite number, got the number inf"),
    (LEAST + "[politeness]\njitter = 1.5", "politeness.jitter: expected a number of at most 1, got the number 1.5"),
    (
        LEAST + "[politeness]\nconcurrency = 0",
        "politeness.concurrency: expected a number of at least 1, got the number 0",
    ),
    (LEAST + "[blocks]\nbreaker_share = 0", "blocks.breaker_share: expected a number above 0, got the number 0"),
    (LEAST + "[politeness]\npreset = 'shy'", "politeness.preset: expected 'touchy', got the text \"shy\""),
    (LEAST + "[politeness]\npreset = ['touchy']", "politeness.preset: expected 'touchy', got a list of 1"),
    (
        LEAST + "[catalogue]\nurl = '/c/{page}'\nmax_pages = 0",
        "catalogue.max_pages: expected a number of at least 1, got the number 0",
    ),
    # empty texts and lists aren't "unset" either
    (
        "base_url = ''\nproduct_url = '/p/'",
        f"base_url: {URL}, got an empty text; leave the key out instead",
    ),
    (LEAST + "[product]\nsku = []", f"product.sku: {RULES}, got an empty list; leave the key out instead"),
    (LEAST + "[product]\nsku = ['']", f"product.sku: {RULES}, but item 1 is an empty text"),
    (LEAST + "[discover]\nsitemaps = []", f"discover.sitemaps: {SITEMAPS}, got an empty list; write false for none"),
    # addresses
    (
        "base_url = 'shop.example'\nproduct_url = '/p/'",
        f'base_url: {URL}, got the text "shop.example": it doesn\'t start with http:// or https://',
    ),
    (
        "base_url = 'https://shop.example/?a=b'\nproduct_url = '/p/'",
        f'base_url: {URL}, got the text "https://shop.example/?a=b": it has a query or fragment',
    ),
    (
        "base_url = 'https://me:secret@shop.example'\nproduct_url = '/p/'",
        f'base_url: {URL}, got the text "https://…@shop.example": it holds a user name or password; '
        "secrets come from the environment only",
    ),
    (
        LEAST + "[discover]\nsitemaps = ['sitemap.xml']",
        f'discover.sitemaps: {SITEMAPS}, got the text "sitemap.xml": it doesn\'t start with http:// or https://',
    ),
    (
        LEAST + "[catalogue]\nurl = '/c/{pgae}'",
        f'catalogue.url: {TEMPLATE}, got the text "/c/{{pgae}}": the only placeholder is {{page}}',
    ),
    (
        LEAST + "[catalogue]\nurl = '/all'\nfirst = 0",
        "catalogue.first: has no effect, because no catalogue.url has {page}; add {page} or leave the key out",
    ),
    (
        LEAST + "[catalogue]\nurl = '/c/{page}'\nnext = 'a'",
        "catalogue.next: has no effect, because catalogue.url counts pages by {page}; leave one of the two out",
    ),
    (
        LEAST + "[keys]\naliases = ['https://shop.example.org']",
        'keys.aliases: expected a list of hosts such as ["shop.example.org"], got the text '
        '"https://shop.example.org": a host has no scheme, user or path',
    ),
    (LEAST + "[keys]\nkeep = ['a', 'b', 'a']", 'keys.keep: expected each item once, got "a" twice'),
    # selectors, patterns, codes and names
    (
        "base_url = 'https://a.example'\nproduct_url = '/p/('",
        'product_url: expected a regular expression, got "/p/(": missing ), unterminated subpattern at position 3',
    ),
    (
        "base_url = 'https://a.example'\nproduct_url = 'a{99999999999}'",
        'product_url: expected a regular expression, got "a{99999999999}": the repetition number is too large',
    ),
    (
        LEAST + "[product]\ncurrency = 'gbp'",
        f"product.currency: {CURRENCY}, got the text \"gbp\" (did you mean 'GBP'?)",
    ),
    (LEAST + "[product]\ncurrency = 'XXQ'", f'product.currency: {CURRENCY}, got the text "XXQ"'),
    (LEAST + "[product]\ndecimal = ';'", "product.decimal: expected '.' or ',', got the text \";\""),
    (
        LEAST + "[product]\navailability_phrases = ['x']",
        'product.availability_phrases: expected a table such as {"Auf Anfrage" = "BackOrder"}, got a list of 1',
    ),
    (
        LEAST + "[product.availability_phrases]\nMorgen = 'backorder'",
        'product.availability_phrases: expected a schema.org ItemAvailability for "Morgen", such as "InStock", '
        "got \"backorder\" (did you mean 'BackOrder'?)",
    ),
    (LEAST + "[refresh]\ninterval = '1 day'", f'refresh.interval: {DURATION}, got "1 day"'),
    (
        LEAST + "[expect]\nrequired = ['prise']",
        "expect.required: expected names of product fields, got \"prise\" (did you mean 'price'?)",
    ),
    (
        LEAST + '[politeness]\nuser_agent = "a\\r\\nX: y"',
        'politeness.user_agent: expected a user agent on one line of printable ASCII, got "a\\r\\nX: y"',
    ),
    (
        LEAST + "[politeness]\nrobots_reason = 'they said so'",
        "politeness.robots_reason: has no effect, because politeness.robots is true; leave the key out",
    ),
    # no TOML
    (
        LEAST + "[product\n",
        "line 3, column 9: expected TOML (https://toml.io): Expected ']' at the end of a table declaration",
    ),
    (
        'product_url = "/p/\\d"',
        "line 1, column 21: expected TOML (https://toml.io): Unescaped '\\' in a string; write a regular expression in "
        "single quotes: '\\d+'",
    ),
]


@pytest.mark.parametrize(("text", "line"), FAULTS, ids=[line.partition(": ")[0] for _, line in FAULTS])
def test_a_fault_is_one_exact_line(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(StoreFileError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 'acme' / 'store.toml'}: {line}"


BAD_RULES = ["div[", "a::attr(", "p:nope", "xpath://a[", "xpath:nope()", "xpath:1 = 1", "re:(", "re:", "xpath:  "]


@pytest.mark.parametrize("rule", BAD_RULES)
@pytest.mark.parametrize("key", ["product.name", "product.currency", "catalogue.links"])
def test_a_bad_selector_in_a_list_is_named_with_its_place(tmp_path: Path, key: str, rule: str) -> None:
    section, name = key.split(".")
    url = "url = '/c'\n" if section == "catalogue" else ""
    with pytest.raises(StoreFileError) as caught:
        read(tmp_path, f"{LEAST}[{section}]\n{url}{name} = ['h1::text', '{rule}']")
    assert caught.value.key == key
    assert caught.value.problem.startswith(f'expected rules that compile, but rule 2, "{rule}" doesn\'t: ')
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rule", BAD_RULES)
def test_a_bad_selector_alone_is_named(tmp_path: Path, rule: str) -> None:
    with pytest.raises(StoreFileError) as caught:
        read(tmp_path, f"{LEAST}[catalogue]\nurl = '/c'\nnext = '{rule}'")
    assert caught.value.key == "catalogue.next"
    assert caught.value.problem.startswith(f'expected a rule that compiles, but "{rule}" doesn\'t: ')


def test_all_faults_are_told_at_once_the_misspelt_keys_first(tmp_path: Path) -> None:
    with pytest.raises(StoreFileError) as caught:
        read(tmp_path, 'base_url = "x"\nproduct_ulr = "/p/"\n[politeness]\nrobots = 1\n')
    path = tmp_path / "acme" / "store.toml"
    assert str(caught.value).splitlines() == [
        f"{path}: product_ulr: unknown key (did you mean 'product_url'?)",
        f'{path}: base_url: {URL}, got the text "x": it doesn\'t start with http:// or https://',
        f"{path}: politeness.robots: expected true or false, got the number 1",
    ]
    assert (caught.value.key, caught.value.nearest) == ("product_ulr", "product_url")
    assert caught.value.exit_code is ExitCode.USAGE


def typos(word: str) -> st.SearchStrategy[str]:
    """Return words that a hurried hand writes for this one: a letter lost, doubled, or swapped with the next."""
    places = range(len(word) - 1)
    return st.sampled_from(
        [word[:n] + word[n + 1 :] for n in places]
        + [word[:n] + word[n] + word[n:] for n in places]
        + [word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in places]
    )


@given(st.data())
def test_a_slip_of_the_hand_leads_back_to_the_key(data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(known_keys()))
    section, _, name = key.name.rpartition(".")
    beside = [other.name.rpartition(".")[2] for other in known_keys() if other.name.rpartition(".")[0] == section]
    typo = data.draw(typos(name).filter(lambda word: word not in beside))
    assert nearest(typo, beside) == name
