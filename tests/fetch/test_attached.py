"""The attached tier with real browsers that run elsewhere: a plain one, and those of vendors' local APIs."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from scrapy.http import HtmlResponse

from storebot.core.identity import Identity
from storebot.core.proxy import read_proxy
from storebot.exceptions import ConfigurationError, PrivateAddress, TierUnusable
from storebot.fetch.browsing.errors import BrowserCrashed
from storebot.fetch.handler import check_tiers
from storebot.fetch.vendors.vendor import ProfileFailed
from storebot.items import Tier
from tests.fetch.fetching import store_of
from tests.fetch.rendered import Rendered, store_at
from tests.fetch.scripted_shop import ScriptedShop
from tests.vendors.chromium import Chromium
from tests.vendors.kameleo import Kameleo
from tests.vendors.profiles import ProfileBrowser
from tests.vendors.proxies import HttpProxy

FETCH = '[fetch]\ntiers = ["attached"]\n[fetch.browser]\nwait_for = [".price"]\nsettle_s = 0.3\nwait_s = 5\n'
ADSPOWER = """[fetch.attached]
profiles = ["one", "two"]
key_env = "SHOP_BROWSER_KEY"
headers = {{Authorization = "Bearer {{key}}"}}
expect = {{code = 0}}
concurrency = {concurrency}
[fetch.attached.start]
url = "{url}/api/v1/browser/start?user_id={{profile}}"
endpoint = "{{data.ws.puppeteer}}"
[fetch.attached.stop]
url = "{url}/api/v1/browser/stop?user_id={{profile}}"
"""


@pytest.fixture(scope="module")
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as served:
        yield served


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium() as running:
        yield running


def attached(shop_url: str, section: str) -> Rendered:
    bot = "storebot/0.1 (+me@example.org)"
    return Rendered(store_at(shop_url, FETCH + section), tier=Tier.ATTACHED, USER_AGENT=bot)


def title(response: object) -> str:
    assert isinstance(response, HtmlResponse)
    return response.css("h1::text").get("")


def test_a_browser_elsewhere_renders_pages_and_goes_on_running(shop: ScriptedShop, chromium: Chromium) -> None:
    section = f'[fetch.attached]\nendpoint = "http://127.0.0.1:{chromium.port}"'
    with attached(shop.url, section) as browser:
        response, spent = browser.spent(f"{shop.url}/p/skeleton")
        assert isinstance(response, HtmlResponse)
        assert (response.css(".price::text").get(), response.flags) == ("$49.00", ["attached"])
        assert spent.tries == {Tier.ATTACHED: 1}
        assert spent.requests > 2
        assert spent.browser_ms > 300
        assert shop.headers["User-Agent"].endswith(" storebot/0.1 (+me@example.org)")
        one, two = Identity(1), Identity(2)
        browser.get(f"{shop.url}/moved", identity=one)
        assert title(browser.get(f"{shop.url}/cookies", identity=two, page_type=None)) == "none"
        assert browser.get(f"{shop.url}/sitemap.xml").body.startswith(b"<?xml")
    assert chromium.running
    with attached(shop.url, section) as browser:
        assert title(browser.get(f"{shop.url}/cookies", page_type=None)) == "none", "the context was closed"


def test_an_identity_comes_through_its_proxy(shop: ScriptedShop, chromium: Chromium) -> None:
    section = f'[fetch.attached]\nendpoint = "{chromium.ws}"'
    with attached(shop.url, section) as browser, HttpProxy("me", "secret") as proxy:
        assert title(browser.get(f"{shop.url}/p/1", identity=Identity(7, read_proxy(proxy.url)))) == "Mug"
        assert proxy.counted.requests == [f"{shop.url}/p/1"]
        with pytest.raises(ProfileFailed, match=r"can't give a SOCKS5 proxy its password \(socks5://h:1\)"):
            browser.get(f"{shop.url}/p/1", identity=Identity(8, read_proxy("socks5://me:secret@h:1")))


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("path", ["hop", "later"])
def test_a_page_does_not_lead_into_a_private_network(
    shop: ScriptedShop,
    chromium: Chromium,
    path: str,
    guarded: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The browser is asked to go there by a redirect; the shop is on the internet, by way of a proxy.

    One that can reach a guard of this process reaches nothing else; of others workers and WebSockets aren't seen.
    """
    if not guarded:  # as one in a container: its loopback is another
        monkeypatch.setattr("storebot.fetch.browsing.guarded._NOWHERE", ("169.254.0.1", 81))
    from tests.fetch.test_browser_network import HttpInternet

    with (
        ScriptedShop() as secret,
        HttpInternet(shop) as proxy,
        attached("http://shop.example", f'[fetch.attached]\nendpoint = "{chromium.ws}"') as browser,
    ):
        identity = Identity(1, read_proxy(proxy.url))
        with pytest.raises(PrivateAddress, match=r"127\.0\.0\.1 is in a private network$"):
            browser.get(f"http://shop.example/{path}?to={secret.url}/p/1", identity=identity)
        found = browser.get(f"http://shop.example/reaching?to={secret.url}", identity=identity, page_type=None)
        assert "fetch" not in title(found)
        assert not {"/fetch", "/frame", "/hop", "/image.png", "/beacon"} & secret.asked.keys()
        assert not (guarded and secret.asked), "not by workers and WebSockets either"
    assert caplog.text.count("has a network of its own") == (0 if guarded else 1)


def test_a_browser_that_is_not_there_is_said_once(shop: ScriptedShop) -> None:
    section = '[fetch.attached]\nendpoint = "http://127.0.0.1:1/devtools/secret"'
    with (
        attached(shop.url, section) as browser,
        pytest.raises(TierUnusable, match=r"^no browser could be attached to at http://127\.0\.0\.1:1 "),
    ):
        browser.get(f"{shop.url}/p/1")


@pytest.mark.parametrize("endpoint", ["{}/k3y-a?token=k3y-b", "http://me:k3y-a@{}/k3y-b", "ws://{}/k3y-a?token=k3y-b"])
def test_what_is_no_browser_is_said_without_the_key_in_its_address(
    shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    """Playwright repeats the whole address that it was refused at."""
    host = shop.url.removeprefix("http://")
    monkeypatch.setenv("SHOP_CDP", endpoint.format(host if "://" in endpoint else shop.url))
    with (
        attached(shop.url, '[fetch.attached]\nendpoint_env = "SHOP_CDP"') as browser,
        pytest.raises(TierUnusable, match="404") as raised,
    ):
        browser.get(f"{shop.url}/p/1")
    assert host in str(raised.value)
    assert "k3y" not in str(raised.value)


def test_a_browser_that_dies_and_comes_back_is_attached_to_again(
    shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_BROWSER_KEY", "k3y")
    with (
        ProfileBrowser(key="k3y") as vendor,
        attached(shop.url, ADSPOWER.format(url=vendor.url, concurrency=1)) as browser,
    ):
        browser.get(f"{shop.url}/p/1")
        vendor.running["one"].kill()
        (found,) = browser.all(browser.request(f"{shop.url}/p/1"))
        if isinstance(found, BrowserCrashed):  # it had not been noticed yet
            found = browser.get(f"{shop.url}/p/1")
        assert title(found) == "Mug"


def test_each_identity_has_a_profile_and_all_are_stopped(shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the protocol of AdsPower; the browsers behind it are real ones."""
    monkeypatch.setenv("SHOP_BROWSER_KEY", "k3y")
    with ProfileBrowser(key="k3y") as vendor:
        with attached(shop.url, ADSPOWER.format(url=vendor.url, concurrency=2)) as browser:
            browser.get(f"{shop.url}/moved", identity=Identity(1))
            assert title(browser.get(f"{shop.url}/cookies", identity=Identity(1), page_type=None)) == "seen=1"
            assert title(browser.get(f"{shop.url}/cookies", identity=Identity(2), page_type=None)) == "none"
            assert "storebot" not in shop.headers["User-Agent"], "a profile's own name is a part of it"
            with pytest.raises(Exception, match="the navigation returned nothing"):
                browser.get(f"{shop.url}/nothing", identity=Identity(2))
            assert vendor.running.keys() == {"one", "two"}
        assert not vendor.running
        assert vendor.calls == [("start", "one"), ("start", "two"), ("stop", "one"), ("stop", "two")]


def test_a_vendors_refusal_is_repeated(shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_BROWSER_KEY", "wr0ng")
    with ProfileBrowser(key="k3y") as vendor:
        section = ADSPOWER.format(url=vendor.url, concurrency=1)
        with attached(shop.url, section) as browser:
            with pytest.raises(ProfileFailed, match=r'start: code is -1, not 0: "authorization failed"$') as raised:
                browser.get(f"{shop.url}/p/1")
            assert "wr0ng" not in str(raised.value)
        monkeypatch.setenv("SHOP_BROWSER_KEY", "k3y")
        with attached(shop.url, section) as browser, pytest.raises(ProfileFailed, match="can't be given to a profile"):
            browser.get(f"{shop.url}/p/1", identity=Identity(1, read_proxy("http://h:1")))
    with attached(shop.url, section) as browser, pytest.raises(TierUnusable, match="is the vendor's app running"):
        browser.get(f"{shop.url}/p/1")


def test_kameleo_makes_a_profile_for_each_identity_and_all_are_deleted(shop: ScriptedShop) -> None:
    """Through its official client."""
    with Kameleo(limit=1, not_ready=1) as engine, HttpProxy() as proxy:
        section = f'[fetch.attached]\nvendor = "kameleo"\nendpoint = "{engine.url}"\narguments = ["--mute-audio"]'
        with attached(shop.url, section) as browser:
            assert title(browser.get(f"{shop.url}/p/1", identity=Identity(1))) == "Mug"
            (profile,) = engine.profiles.values()
            assert (profile.name, profile.starts, profile.arguments) == ("storebot 1", 1, ["--mute-audio"])
            assert title(browser.get(f"{shop.url}/p/1", identity=Identity(2, read_proxy(proxy.url)))) == "Mug"
            assert f"{shop.url}/p/1" in proxy.counted.requests, "beside what Chromium itself asks for"
            assert len(engine.deleted) == 1, "no more than one may run"
            with pytest.raises(ProfileFailed, match="Kameleo knows http and socks5 proxies, not https://h:1"):
                browser.get(f"{shop.url}/p/1", identity=Identity(3, read_proxy("https://h:1")))
        assert (engine.profiles, len(engine.deleted)) == ({}, 2)


def test_a_kameleo_profile_that_exists_is_used_and_kept(shop: ScriptedShop) -> None:
    with Kameleo() as engine:
        from kameleo.local_api_client.kameleo_local_api_client import KameleoLocalApiClient
        from kameleo.local_api_client.models.create_profile_request import CreateProfileRequest

        client = KameleoLocalApiClient(endpoint=engine.url)
        mine = client.profile.create_profile(CreateProfileRequest(name="mine")).id
        section = f'[fetch.attached]\nvendor = "kameleo"\nendpoint = "{engine.url}"\nprofiles = ["{mine}"]'
        with attached(shop.url, section) as browser:
            assert title(browser.get(f"{shop.url}/p/1")) == "Mug"
            assert engine.profiles[mine].state == "running"
        assert (engine.profiles[mine].state, engine.deleted) == ("terminated", [])


def test_an_engine_that_is_not_there_is_said_without_what_may_be_a_key(
    shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KAMELEO", "http://me:k3y@127.0.0.1:1/k3y")
    section = '[fetch.attached]\nvendor = "kameleo"\nendpoint_env = "SHOP_KAMELEO"'
    with (
        attached(shop.url, section) as browser,
        pytest.raises(TierUnusable, match=r"no Kameleo engine answers at http://127\.0\.0\.1:1$"),
    ):
        browser.get(f"{shop.url}/p/1")


def test_what_is_missing_is_told_before_anything_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SHOP_BROWSER_KEY", "SHOP_CDP"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match=r"fetch\.attached\.key_env: the variable SHOP_BROWSER_KEY isn't set"):
        check_tiers(store_of(FETCH + ADSPOWER.format(url="http://127.0.0.1:1", concurrency=1)))
    named = store_of(f'{FETCH}[fetch.attached]\nendpoint_env = "SHOP_CDP"')
    with pytest.raises(ConfigurationError, match=r"fetch\.attached\.endpoint_env: the variable SHOP_CDP isn't set"):
        check_tiers(named)
    monkeypatch.setitem(os.environ, "SHOP_CDP", "http://127.0.0.1:9222")
    check_tiers(named)
