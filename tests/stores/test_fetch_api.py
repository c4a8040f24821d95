"""`[fetch.api]`: the preset, an API of one's own, and what can't work told before a call is paid for."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.core.scraping_api import Paths
from storebot.exceptions import StoreFileError
from storebot.stores.fetch_api import Api
from tests.stores.writing import LEAST, read

OWN = """
[fetch]
tiers = ["http", "api"]
country = "DE"
[fetch.api]
url = "https://api.example/v2/get"
key_env = "EXAMPLE_KEY"
headers = {"X-Key" = "{key}"}
body = {page = "{url}", options = {geo = "{country}", js = "{render}"}}
html = "result.0.content"
"""


def api(tmp_path: Path, text: str) -> Api:
    """Return the section of a store file with these lines."""
    found = read(tmp_path, LEAST + text).fetch.api
    assert found is not None
    return found


def test_the_preset_says_all_that_finedata_needs(tmp_path: Path) -> None:
    found = api(tmp_path, '[fetch]\ntiers = ["api"]\n[fetch.api]\npreset = "finedata"\n')
    assert (found.method, found.url) == ("POST", "https://api.finedata.ai/api/v1/scrape")
    assert (found.key_env, found.headers) == ("FINEDATA_API_KEY", {"Authorization": "Bearer {key}"})
    body = {"url": "{url}", "formats": ["rawHtml"], "use_js_render": "{render}", "only_main_content": False}
    assert found.body == body
    assert found.paths == Paths(("data.rawHtml", "body"), "status_code", "meta.final_url", "tokens_used")
    assert (found.render, found.timeout_s, found.bills_failures) == (False, 120.0, True)


def test_a_key_that_is_given_wins_over_the_preset(tmp_path: Path) -> None:
    text = '[fetch.api]\npreset = "finedata"\nurl = "http://127.0.0.1:8080/scrape"\nkey_env = "OTHER"\nrender = true\n'
    found = api(tmp_path, text)
    assert (found.url, found.key_env, found.render) == ("http://127.0.0.1:8080/scrape", "OTHER", True)
    assert found.headers == {"Authorization": "Bearer {key}"}


def test_an_api_of_ones_own_is_described_by_its_keys(tmp_path: Path) -> None:
    found = api(tmp_path, OWN)
    assert found.paths == Paths(("result.0.content",), None, None, None)
    assert found.used == {"url", "key", "country", "render"}


def test_a_get_takes_the_page_in_its_url(tmp_path: Path) -> None:
    found = api(tmp_path, '[fetch.api]\nmethod = "GET"\nurl = "https://api.example/?u={url}"\nhtml = "html"\n')
    assert (found.key_env, found.used) == (None, {"url"})


WRONG = {
    "a tier without its section": ('[fetch]\ntiers = ["api"]', 'fetch.api: is missing: fetch.tiers lists "api"'),
    "no url": ('[fetch.api]\nhtml = "a"', "fetch.api.url: is missing: expected address of the API"),
    "no html": ('[fetch.api]\nurl = "https://a.example"', "fetch.api.html: is missing: expected where the answer has"),
    "an unknown preset": ('[fetch.api]\npreset = "finedat"', "fetch.api.preset: expected 'finedata', got the text"),
    "a preset that is no text": ("[fetch.api]\npreset = 3", "fetch.api.preset: expected 'finedata', got the number 3"),
    "a password in the url": (
        '[fetch.api]\npreset = "finedata"\nurl = "https://me:pw@a.example/"',
        "secrets come from the environment only",
    ),
    "the key in the url": (
        '[fetch.api]\npreset = "finedata"\nurl = "https://a.example/?k={key}"',
        "fetch.api.url: must not hold {key}: addresses are logged",
    ),
    "the key itself": (
        '[fetch.api]\npreset = "finedata"\nkey_env = "fd-s3cret"',
        "fetch.api.key_env: expected the name of an environment variable",
    ),
    "no variable for the key": (OWN.replace('key_env = "EXAMPLE_KEY"', ""), "fetch.api.key_env: is missing"),
    "a variable that nothing uses": (OWN.replace("{key}", "none"), "fetch.api.key_env: has no effect"),
    "no page asked for": (OWN.replace("{url}", "none"), "fetch.api.body: never says {url}"),
    "no country": (OWN.replace('country = "DE"', ""), "fetch.country: is missing, because [fetch.api] uses {country}"),
    "a misspelt placeholder": (OWN.replace("{render}", "{rander}"), "(did you mean 'render'?)"),
    "a body with GET": (OWN.replace("[fetch.api]", '[fetch.api]\nmethod = "GET"'), "fetch.api.body: has no effect"),
    "a date in the body": (OWN.replace('"{country}"', "2026-01-01"), "which JSON doesn't know"),
    "a path with a gap": (OWN.replace("result.0.content", "result..content"), "fetch.api.html: expected a dotted path"),
    "a header that is none": (OWN.replace('"X-Key"', '"X Key"'), "fetch.api.headers: expected a table of headers"),
    "a misspelt key": (OWN.replace("html =", "htm ="), "fetch.api.htm: unknown key (did you mean 'fetch.api.html'?)"),
}


@pytest.mark.parametrize(("text", "told"), WRONG.values(), ids=WRONG)
def test_what_cannot_work_is_told_by_its_key(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(StoreFileError) as raised:
        read(tmp_path, f"{LEAST}{text}\n")
    assert told in str(raised.value)
    assert "s3cret" not in str(raised.value)
    assert "me:pw" not in str(raised.value)
