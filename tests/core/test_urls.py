"""URL keys: one text for one page, and never one text for two products."""

from __future__ import annotations

import csv
import json
import re
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.tracking import IDENTITY, TRACKING
from storebot.core.urls import MAX_KEY_LENGTH, KeyRules, absolute, same_site, url_key
from storebot.exceptions import InvalidURL
from tests.shared_data import shared


def cases(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shared(f"urls/{name}").read_text())["cases"]
    return found


def in_our_convention(canonical: str) -> str:
    """Respell somebody's canonical form by the rules where conventions differ, each named once, and by nothing else.

    The key says https; `www.`, user name, password, fragment and trailing slash are dropped; `?a` is written `?a=`, and
    a space in a query `+`; parameters are sorted by name alone.
    """
    rest = re.sub(r"^https?://(?:[^/@?#]*@)?(?:www\.)?", "", canonical.partition("#")[0])
    address, _, query = rest.partition("?")
    host, _, path = address.partition("/")
    pairs = [pair if "=" in pair else f"{pair}=" for pair in query.replace("%20", "+").split("&") if pair]
    pairs.sort(key=lambda pair: pair.partition("=")[0])
    return f"https://{host}/{path.rstrip('/')}" + ("?" + "&".join(pairs) if pairs else "")


# --- the faults that others reported -------------------------------------------------------------------------------


def test_blank_and_valueless_parameters_are_kept() -> None:
    """Case U02."""
    base = "https://shop.example/list"
    urls = [f"{base}?instock&size=M", f"{base}?size=M", f"{base}?color=&size=M"]
    assert len({url_key(url) for url in urls}) == 3
    assert url_key(f"{base}?a") == url_key(f"{base}?a=")


@pytest.mark.parametrize("escape", ["%25", "%2F", "%3F", "%23", "%3B", "%26", "%3D", "%2B"])
def test_reserved_character_stays_encoded(escape: str) -> None:
    """Case U04."""
    key = url_key(f"https://shop.example/p/100{escape}-cotton?q=1{escape}2")
    assert key == f"https://shop.example/p/100{escape}-cotton?q=1{escape}2"
    assert url_key(key) == key
    assert url_key(f"https://shop.example/p/100{escape.lower()}-cotton?q=1{escape}2") == key


def test_encoded_hash_in_a_path_does_not_cut_it() -> None:
    """Case U05."""
    keys = {url_key(f"https://shop.example/p/set-%23{size}-screws") for size in (12, 16)}
    assert len(keys) == 2


def test_encoded_plus_is_never_a_space() -> None:
    """Case U06."""
    encoded, plus, space = (url_key(f"https://shop.example/p?sku=A{sign}B") for sign in ("%2B", "+", "%20"))
    assert plus == space != encoded
    assert url_key("https://shop.example/a+b") != url_key("https://shop.example/a%20b")  # in a path a plus is a plus


def test_parameters_are_sorted_by_name_and_values_of_one_name_keep_their_order() -> None:
    """Case U07."""
    key = "https://shop.example/?{}".format
    assert url_key(key("b=2&a=1")) == url_key(key("a=1&b=2"))
    assert url_key(key("f=red&f=blue")) != url_key(key("f=blue&f=red"))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("/p/9;jsessionid=E46A9785.node_2v?v=1", "/p/9?v=1"),
        ("/p/9;JSESSIONID=E46A9785.node_2v!17:80", "/p/9"),
        ("/a;jsessionid=1/b;color=red;jsessionid=2/c/", "/a/b;color=red/c"),
        ("/p/9?jsessionid=E46A9785&v=1", "/p/9?v=1"),
        ("/a/..;jsessionid=1/b", "/b"),
    ],
)
def test_session_id_goes_as_a_whole_and_takes_nothing_with_it(found: str, expected: str) -> None:
    """Case U08. (Only the parameter of its own path segment goes: what follows the next slash is the product.)"""
    assert url_key(f"https://shop.example{found}") == f"https://shop.example{expected}"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("/p?utm_source=x&variant=42", "/p?variant=42"),
        ("/p/1#utm_source=wri", "/p/1"),
        ("/p?utm_source=a&amp%3Butm_medium=b", "/p"),
        ("/p?utm_source=a&amp;utm_medium=b&amp;color=red", "/p?amp;color=red"),
        ("/p?UTM_Source=a&utm%5Fterm=b&Color=Red", "/p?Color=Red"),
        ("/p?refurbished=1", "/p?refurbished=1"),
        ("/p?ref=footer_1_4&reference=7&referral=x", "/p?reference=7&referral=x"),
        ("/p?ref=20417", "/p?ref=20417"),
        ("/p?cid=CSE:Shopzilla", "/p"),
        ("/c?cid=57", "/c?cid=57"),
    ],
)
def test_tracking_goes_and_the_product_stays(found: str, expected: str) -> None:
    """Case U09, and the seed faults of issue 2."""
    assert url_key(f"https://shop.example{found}") == f"https://shop.example{expected}"


def test_dot_segments_go_and_double_slashes_stay() -> None:
    """Case U11."""
    link = absolute("././p/1", "https://shop.example/./")
    assert link
    assert url_key(link) == url_key("https://shop.example/%2E/p/1") == "https://shop.example/p/1"
    assert url_key("https://shop.example//p//1") == "https://shop.example//p//1"
    assert url_key("https://shop.example//p//1", KeyRules(merge_slashes=True)) == "https://shop.example/p/1"


def test_trailing_slash_makes_no_difference() -> None:
    """Case U12, where DESIGN §5 decides otherwise: /c/shoes and /c/shoes/ are one page by rule, not by observation."""
    assert url_key("https://shop.example") == url_key("https://shop.example/") == "https://shop.example/"
    assert url_key("https://shop.example/c/shoes/") == url_key("https://shop.example/c/shoes")
    assert url_key("https://shop.example?p=1") == url_key("https://shop.example/?p=1")


def test_raw_and_encoded_brackets_are_one_page() -> None:
    """Case R04: what a server redirects between isn't another page, and what is sent stays as found."""
    raw, encoded = "https://shop.example/c?producers[]=524", "https://shop.example/c?producers%5B%5D=524"
    assert url_key(raw) == url_key(encoded)
    assert absolute(raw, "https://shop.example/") == raw
    assert absolute(encoded, "https://shop.example/") == encoded


# --- the corpus ----------------------------------------------------------------------------------------------------


def test_keys_expected_by_hand() -> None:
    for case in cases("expected_by_hand.json"):
        rules = KeyRules(drop=("variant",)) if "store policy" in case["why"] else KeyRules()
        assert url_key(case["input"], rules) == in_our_convention(case["expected_key"]), case["why"]


# Where somebody's canonical form isn't ours for another reason than spelling: the rule, and the cases that it decides.
OTHER_CONVENTIONS = {
    "only an absolute http(s) address that names a host is a page": r"(?!\s*https?://[^/\\])",
    "a host is what a resolver takes: no empty label, no backslash, no broken punycode": r"https?://(\.|[^/]*\\|xn--M)",
    "values of one name keep their order": r".*b=5&b=2",
    "blank values and parameters without a name stay": r".*[?&](b=&|=1)",
    "bytes that aren't UTF-8 stay as they are": r".*%C7$",
    "#! begins a fragment like any other": r".*/#!",
    "parameters are dropped by our table alone": r".*[?&](a=1&b=2$|clickid|aftr_|this_aff|testid|sid=9|ASPSESSIONID)",
    "a backslash is no slash": r"[^?]*\\",
    "double slashes are merged everywhere or, without merge_slashes, nowhere": r".*/[^/]+/?:?//|https://hanxiao",
    "a stray percent sign is encoded": r".*%FAIL%",
    "brackets are encoded in a path": r".*some%5B",
    "nothing is cut out of an address, nor taken from another that it carries": r".*([<{]|garbled|g__|/&$|sharer?[.?])",
    "an apostrophe is legal": r".*ab'c",
    "no host but www. is folded": r"https?://www\d",
    "a session id in brackets is part of the path": r".*/\([^/]+\)/",
}


def foreign(file: str) -> list[tuple[str, str, KeyRules]]:
    """Return the addresses of a file with what somebody makes of them, and the rules of ours that are nearest."""
    merged = KeyRules(merge_slashes=True)
    if file.endswith(".csv"):
        lines = shared(f"urls/{file}").read_text().splitlines()
        rows = csv.reader(line for line in lines if line and not line.startswith("#"))
        return [(found, ",".join(expected).strip(), merged) for found, *expected in rows]
    data = json.loads(shared(f"urls/{file}").read_text())
    if "special" in data:
        return [
            (f"http://x.example{path}", f"http://x.example{to}", KeyRules()) for path, to in data["special"].items()
        ]
    if "cases" not in data:
        return [(found, expected, KeyRules()) for found, expected in data.items()]
    if file == "url_normalize.json":
        pairs = [case["value"] for case in data["cases"]]
        return [(pair, pair, KeyRules()) if isinstance(pair, str) else (*pair, KeyRules()) for pair in pairs]
    of_keys = {"canonicalize_url", "normalize_url", "clean_url", "scrub_url", None}  # the others make no canonical form
    chosen = [case for case in data["cases"] if case.get("fn") in of_keys and not case.get("options")]
    texts = [case for case in chosen if isinstance(case["input"], str) and isinstance(case["expected"], str)]
    return [(case["input"], case["expected"], merged if "_js" in file else KeyRules()) for case in texts]


FOREIGN = {  # file: how many of its cases agree
    "w3lib.json": 37,
    "url_normalize.json": 29,
    "crawler_commons_weirdToNormalizedUrls.csv": 71,
    "urlcanon_path_dots.json": 348,
    "normalize_url_js.json": 31,
    "courlan.json": 22,
    "urlcanon_aggressive.json": 13,
}


@pytest.mark.parametrize("file", FOREIGN)
def test_canonical_forms_of_others_are_ours_but_for_the_named_conventions(file: str) -> None:
    agreed = 0
    for found, expected, rules in foreign(file):
        try:
            agrees = url_key(found, rules) == in_our_convention(expected)
        except InvalidURL:
            agrees = False
        agreed += agrees
        assert agrees or other_conventions(found), found
    assert agreed == FOREIGN[file]


def other_conventions(found: str) -> list[str]:
    return [rule for rule, cases in OTHER_CONVENTIONS.items() if re.match(cases, found, re.IGNORECASE | re.DOTALL)]


def test_every_named_convention_decides_a_case() -> None:
    everything = [found for file in FOREIGN for found, _, _ in foreign(file)]
    used = {rule for found in everything for rule in other_conventions(found)}
    assert used == OTHER_CONVENTIONS.keys()


def test_addresses_that_others_refuse_are_refused() -> None:
    lines = shared("urls/crawler_commons_invalidUrls.csv").read_text().splitlines()
    for found in (line for line in lines if line and not line.startswith("#")):
        with pytest.raises(InvalidURL):
            url_key(found)


def test_links_resolved_by_crawler_commons_and_courlan() -> None:
    lines = shared("urls/crawler_commons_url-resolve.csv").read_text().splitlines()
    rows = [row for row in csv.reader((line for line in lines if line and line[0] != "#"), skipinitialspace=True)]
    rows += [[c["args"][0], c["input"], c["expected"]] for c in cases("courlan.json") if c["fn"] == "fix_relative_urls"]
    for link, base, expected in rows:
        if base and link != "{privacy}":
            assert absolute(link, base) == expected.partition("#")[0], link


def test_hosts_and_addresses_that_are_odd_never_crash() -> None:
    odd = json.loads(shared("urls/urlcanon_idempotence.json").read_text())
    odd += list(json.loads(shared("urls/urlcanon_aggressive.json").read_text()))
    odd += [f"http://{host}/" for host in json.loads(shared("urls/urlcanon_funky_ipv4.json").read_text())]
    odd += [case["input"] for case in cases("courlan.json") if isinstance(case["input"], str)]
    for url in odd:
        try:
            key = url_key(url)
        except InvalidURL:
            continue
        assert_is_key(key)


def test_wild_links_have_keys_that_know_neither_order_nor_tracking() -> None:
    keyed = 0
    for case in cases("wild_shop_urls.json"):
        url = case["url"]
        key = url_key(url)
        assert_is_key(key)
        bare, _, _ = url.partition("#")
        address, mark, query = bare.partition("?")
        parts = query.split("&")
        if mark and len({part.partition("=")[0] for part in parts}) == len(parts):
            assert url_key(f"{address}?utm_source=a&{'&'.join(reversed(parts))}&gclid=1") == key, url
            keyed += 1
    assert keyed > 100


def test_tracking_is_all_that_a_page_and_its_canonical_differ_by() -> None:
    """Where address and canonical of a saved page differ by parameters in the table alone, their keys are one."""
    same = [c for c in cases("page_canonical_pairs.json") if c["canonical"] and c["canonical"].startswith("http")]
    equal = sum(url_key(case["url"]) == url_key(case["canonical"]) for case in same)
    assert equal >= 30  # the rest: longer names of the same page, colours and variants that a canonical leaves out


# --- the table -----------------------------------------------------------------------------------------------------


def test_no_tracking_parameter_can_be_an_identity() -> None:
    for name in (*IDENTITY, "refurbished", "utmost", "source_id", "sid", "cid", "campaign", "reference", "spmodel"):
        name = name.replace("*", "x")
        assert url_key(f"https://shop.example/?{name}=1") == f"https://shop.example/?{name}=1"


def test_every_tracking_parameter_is_dropped() -> None:
    for pattern in TRACKING:
        name, _, value = pattern.partition("=")
        found = f"https://shop.example/p?{name.replace('*', '_any')}={value.replace('*', ':any') or 'x'}"
        assert url_key(found) == "https://shop.example/p"


def test_global_rules_of_clear_urls_are_mostly_in_the_table() -> None:
    """What isn't: names of two letters (`mc`, `__s`) and patterns that could eat a real parameter (`vn_…`)."""
    data = json.loads(shared("urls/clearurls_data.min.json").read_text())
    rules = [rule.removeprefix("(?:%3F)?") for rule in data["providers"]["globalRules"]["rules"]]
    plain = [rule for rule in rules if re.fullmatch(r"[a-z_]+", rule)]
    known = [name for name in plain if url_key(f"https://shop.example/?{name}=x") == "https://shop.example/"]
    assert len(known) >= 0.8 * len(plain), sorted(set(plain) - set(known))


def test_long_list_of_an_ad_blocker_is_not_taken_over() -> None:
    """It may break a page for who reads it; here `data2` or `_from` would merge two. What both have is tracking."""
    data = json.loads(shared("urls/removeparam_dandelionsprout.json").read_text())
    plain = [name for name in data["general"] if re.fullmatch(r"[\w.-]+", name)]
    both = [name for name in plain if url_key(f"https://shop.example/?{name}=x") == "https://shop.example/"]
    assert len(both) > 80
    assert not {"data2", "_from", "adtype"} & set(both)


# --- a store's rules -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (KeyRules(), "color=red&page=2&ref_src=x&refurbished=1&variant=42"),
        (KeyRules(drop=("ref*",)), "color=red&page=2&refurbished=1&variant=42"),
        (KeyRules(drop=("PAGE", "variant")), "color=red&ref_src=x&refurbished=1"),
        (KeyRules(drop=("*",)), "color=red&variant=42"),
        (KeyRules(drop=("*", "color"), keep=("page",)), "page=2&variant=42"),
        (KeyRules(drop=("v*", "c*", "page=2")), "color=red&ref_src=x&refurbished=1&variant=42"),
        (
            KeyRules(drop=("*", "variant"), keep=("variant", "utm_*", "page=2*")),
            "color=red&page=2&utm_source=a&variant=42",
        ),
    ],
)
def test_rules_of_a_store_by_order_of_power(rules: KeyRules, expected: str) -> None:
    found = "https://shop.example/p?variant=42&color=red&refurbished=1&ref_src=x&utm_source=a&page=2"
    assert url_key(found, rules) == f"https://shop.example/p?{expected}"


def test_hosts_are_folded() -> None:
    rules = KeyRules(host="www.shop.example", aliases=("m.shop.example", "shop.example.de"))
    hosts = ("shop.example", "WWW.Shop.Example.", "m.shop.example", "www.shop.example.de:443")
    assert {url_key(f"https://{host}/p", rules) for host in hosts} == {"https://shop.example/p"}
    assert url_key("https://m.shop.example/p") == "https://m.shop.example/p"
    assert url_key("https://www.com/") == "https://www.com/"


@pytest.mark.parametrize(
    "wrong", [{"drop": ("",)}, {"drop": ("r*f",)}, {"keep": ("=",)}, {"aliases": ("m.x.example",)}, {"host": "a b"}]
)
def test_wrong_rules_are_refused_with_a_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        KeyRules(**wrong)


def test_shopify_collection_is_left_out_of_a_product_address() -> None:
    found = "https://shop.example/en-gb/collections/all/products/towel?variant=1"
    assert url_key(found) == "https://shop.example/en-gb/products/towel?variant=1"
    assert url_key(found, KeyRules(fold_collections=False)) == found
    assert url_key("https://shop.example/collections/all") == "https://shop.example/collections/all"


# --- form ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("  http://user:secret@WWW.Bücher.example:80/Ä b\\c \n", "https://xn--bcher-kva.example/%C3%84%20b%5Cc"),
        ("https://xn--bcher-kva.example:443/p", "https://bücher.example/p"),
        ("http://127.0.0.1:8000/p/", "https://127.0.0.1:8000/p"),
        ("http://[2001:DB8::0:1]:081/p", "https://[2001:db8::1]:81/p"),
        ("http://i❤.ws/", "https://i❤.ws"),
        ("https://shop.example/100%/%zz%7e", "https://shop.example/100%25/%25zz~"),
        ("https://shop.example/?&&=1&;", "https://shop.example?;=&=1"),
    ],
)
def test_spellings_of_one_address_have_one_key(found: str, expected: str) -> None:
    assert url_key(found) == url_key(expected)
    assert_is_key(url_key(found))


def test_paths_keep_their_case() -> None:
    assert len({url_key(f"https://shop.example/p/{name}") for name in ("A", "a", "Ä", "ä")}) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "/p/1",
        "//shop.example/p",
        "shop.example/p",
        "ftp://shop.example/",
        "mailto:a@shop.example",
        "http://",
        "http:///p",
        "http://:80/",
        "http://shop..example/",
        "http://shop example/",
        "http://shop.example:99999/",
        "http://shop.example:8o/",
        "http://[::1/",
        "http://[v1.x]/",
        "http://exa%2Xmple/",
        "http://‥/",
    ],
)
def test_what_is_no_address_is_refused_with_a_sentence(wrong: str) -> None:
    with pytest.raises(InvalidURL, match="is no address of a web page: it "):
        url_key(wrong)


def test_refusal_never_repeats_a_password() -> None:
    with pytest.raises(InvalidURL) as refusal:
        url_key("https://user:secret@shop..example/")
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("letter", ["a", "ä", "/b", "&x=%20", "%E4"])
def test_long_key_is_cut_and_stays_one_pages_own(letter: str) -> None:
    long = "https://shop.example/p?q=" + letter * 700 + "z" * 500
    key = url_key(long)
    assert_is_key(key)
    assert len(key) == MAX_KEY_LENGTH
    assert key != url_key(long + "1")
    assert key.startswith("https://shop.example/p?")


def test_key_of_just_the_limit_is_not_cut() -> None:
    url = "https://shop.example/".ljust(MAX_KEY_LENGTH, "p")
    assert url_key(url) == url
    assert len(url_key(url + "p")) == MAX_KEY_LENGTH
    assert "~" in url_key(url + "p")


# --- laws ----------------------------------------------------------------------------------------------------------


def assert_is_key(key: str) -> None:
    assert url_key(key) == key
    assert re.fullmatch(r"https://[!-~]+", key)
    assert len(key) <= MAX_KEY_LENGTH


URL_LIKE = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            ["/", "//", "..", ".", "%2E", "%", "%2f", "%E4", "ä", "?", "&", "=", "+", "%20", " ", ";", "#", "a"]
        )
        | st.sampled_from(
            [";jsessionid=", "utm_source", "collections", "products", "en", "amp;", "amp%3B", "ref", "ſ", "B"]
        )
        | st.text(max_size=3)
    ).map("".join),
)
HOSTS = st.sampled_from(
    ["shop.example", "WWW.www.Shop.example.", "bücher.example", "ＷＷＷ.shop.example", "127.0.0.1:80"]
)


@given(scheme=st.sampled_from(["http", "https", "HTTP"]), host=HOSTS, rest=URL_LIKE, merge=st.booleans())
def test_key_is_idempotent_ascii_https_and_short(scheme: str, host: str, rest: str, merge: bool) -> None:
    rules = KeyRules(merge_slashes=merge, drop=("b*",), host="shop.example", aliases=("127.0.0.1:80",))
    for url in (f"{scheme}://{host}/{rest}", f"{scheme}://{host}?{rest}"):
        key = url_key(url, rules)
        assert url_key(key, rules) == key
        assert re.fullmatch(r"https://[!-~]+", key)


@given(st.text())
def test_any_text_has_a_key_or_is_refused(text: str) -> None:
    for url in (text, f"http://{text}", f"http://shop.example:{text}"):
        with suppress(InvalidURL):
            assert_is_key(url_key(url))


NAMES = st.lists(
    st.sampled_from(["variant", "color", "sku", "q", "page", "x-y", "ä", "a%20b"]), unique=True, max_size=6
)


@given(names=NAMES, values=st.lists(st.text(max_size=5), min_size=6, max_size=6), random=st.randoms())
def test_key_does_not_know_the_order_of_different_names(names: list[str], values: list[str], random: Random) -> None:
    pairs = [f"{name}={encoded(value)}" for name, value in zip(names, values, strict=False)]
    shuffled = list(pairs)
    random.shuffle(shuffled)
    one, other = (url_key(f"https://shop.example/p?{'&'.join(each)}") for each in (pairs, shuffled))
    assert one == other


@given(name=st.sampled_from(["variant", "color", "q", "instock"]), values=st.lists(st.text(max_size=8), unique=True))
def test_pages_that_differ_in_a_parameter_that_counts_never_share_a_key(name: str, values: list[str]) -> None:
    keys = [url_key(f"https://shop.example/p?utm_source=x&{name}={encoded(value)}") for value in values]
    assert len(set(keys)) == len(values)


@given(st.lists(st.text(min_size=1, max_size=8).filter(lambda text: text not in (".", "..")), unique=True))
def test_pages_that_differ_in_a_path_segment_never_share_a_key(segments: list[str]) -> None:
    keys = [url_key(f"https://shop.example/p/{encoded(segment)}") for segment in segments]
    assert len(set(keys)) == len(segments)


def encoded(text: str) -> str:
    """Percent-encode every byte: what a careful shop puts in a link, whatever the text."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


# --- links ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (" \n../b_1/index.html\t", "https://shop.example/b_1/index.html"),
        ("//cdn.example/p", "https://cdn.example/p"),
        ("?page=2", "https://shop.example/c/list.html?page=2"),
        ("/p/1?B=%2f&a=+#reviews", "https://shop.example/p/1?B=%2f&a=+"),
        ("/a b/ä?q=ä b", "https://shop.example/a%20b/%C3%A4?q=%C3%A4%20b"),
        ("/p/\n1", "https://shop.example/p/1"),
        ("HTTP://Shop.example/P//1", "HTTP://Shop.example/P//1"),
        ("x//y", "https://shop.example/c/x//y"),
    ],
)
def test_link_is_resolved_and_keeps_its_bytes(found: str, expected: str) -> None:
    assert absolute(found, "https://shop.example/c/list.html?page=1") == expected


def test_double_slash_of_the_base_stays() -> None:
    assert absolute("x", "https://shop.example//c//list") == "https://shop.example//c//x"


@pytest.mark.parametrize(
    "found",
    [
        "",
        "  ",
        "#top",
        "mailto:a@b.example",
        "javascript:void(0)",
        "JavaScript:go()",
        "data:text/plain,x",
        "tel:+1",
        "ftp://x/",
        "http://",
        "http:p",
        "http://[::1",
        "https://shop.example:99999/",
        "//shop..example/p",
        "http://[::1]x/",
    ],
)
def test_link_that_can_not_be_fetched_is_none(found: str) -> None:
    assert absolute(found, "https://shop.example/") is None


@given(found=URL_LIKE, base=URL_LIKE)
def test_resolved_link_always_has_a_key(found: str, base: str) -> None:
    link = absolute(found, f"https://shop.example/{base}")
    if link is not None:
        assert link.isascii()
        assert_is_key(url_key(link))


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("https://www.shop.example/p", True),
        ("http://SHOP.example:80/", True),
        ("https://m.shop.example/p", True),
        ("https://cdn.shop.example/p", False),
        ("https://shop.example:8443/p", False),
        ("https://shop.example.evil.example/p", False),
        ("https://shop.example@evil.example/p", False),
        ("mailto:a@shop.example", False),
    ],
)
def test_same_site(url: str, same: bool) -> None:
    assert same_site(url, "https://shop.example", aliases=("m.shop.example",)) is same
