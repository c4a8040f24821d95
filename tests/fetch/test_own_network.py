"""An attached browser with a network of its own: what its pages reach is for DevTools to say, and for itself."""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from scrapy.http import HtmlResponse

from storebot.exceptions import PrivateAddress
from storebot.items import Tier
from storebot.stores.model import Store
from tests.fetch.rendered import Rendered, store_at
from tests.fetch.scripted_shop import ScriptedShop
from tests.fetch.test_attached import FETCH
from tests.vendors.chromium import Chromium

# With these two Chromium keeps no page from private addresses, and lets each open what it wants.
CARELESS = (
    "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets",
    "--disable-popup-blocking",
)
UNSEEN = {"/socket"}  # by DevTools, before they are sent
SHOP = "http://shop.example"

Open = Callable[..., Rendered]


@pytest.fixture(scope="module")
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as served:
        yield served


@pytest.fixture
def secret() -> Iterator[ScriptedShop]:
    """Something in the private network of the browser, which no page may ask."""
    with ScriptedShop() as served:
        yield served


@pytest.fixture(scope="module")
def opened(shop: ScriptedShop) -> Iterator[Open]:
    """Attach to a Chromium that can't reach a guard, as one in a container, and for which the shop is on the internet.

    Only it knows the names of the shop; ``inside.example`` leads into its own network.
    """
    port = shop.url.rpartition(":")[2]
    names = (f"MAP {name}.example:80 127.0.0.1:{port}" for name in ("shop", "other", "third"))
    rules = ",".join((*names, "MAP inside.example 127.0.0.1"))
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr("storebot.fetch.browsing.guarded._NOWHERE", ("169.254.0.1", 81))

        def attach(*arguments: str, base_url: str = SHOP) -> Rendered:
            space = f"--ip-address-space-overrides=127.0.0.1:{port}=public"
            named = Chromium(f"--host-resolver-rules={rules}", space, "--site-per-process", *arguments)
            section = f'[fetch.attached]\nendpoint = "{stack.enter_context(named).ws}"'
            bot = "storebot/0.1 (+me@example.org)"
            rendered = Rendered(store_at(base_url, FETCH + section), tier=Tier.ATTACHED, USER_AGENT=bot)
            return stack.enter_context(rendered)

        yield attach


@pytest.fixture(scope="module")
def careless(opened: Open) -> Rendered:
    return opened(*CARELESS)


def test_frames_of_other_sites_reach_nothing_private(
    shop: ScriptedShop, secret: ScriptedShop, careless: Rendered
) -> None:
    """Each in a process of its own; by scripts, pictures, workers, frames, beacons, and redirects of them."""
    before = shop.asked.copy()
    url = f"{SHOP}/framed?to={secret.url}&by=other.example,third.example,"
    found = careless.get(url, page_type=None)
    assert isinstance(found, HtmlResponse)
    assert "fetch" not in found.css("h1::text").get("")
    assert shop.asked["/framed"] - before["/framed"] == 3
    assert shop.asked["/hop"] - before["/hop"] == 3, "the redirects were asked for, and not followed"
    assert secret.asked.keys() <= UNSEEN


def test_what_devtools_does_not_see_chromium_itself_refuses(
    shop: ScriptedShop, secret: ScriptedShop, opened: Open
) -> None:
    browser = opened()
    found = browser.get(f"{SHOP}/framed?to={secret.url}&by=other.example,", page_type=None)
    assert found.status == 200
    assert not secret.asked


def test_what_a_page_opens_asks_for_nothing(secret: ScriptedShop, careless: Rendered) -> None:
    assert b"opened" in careless.get(f"{SHOP}/opening?to={secret.url}", page_type=None).body
    assert careless.get(f"{SHOP}/p/1").status == 200
    assert not secret.asked


@pytest.mark.parametrize("path", ["hop?to={}/p/1", "borrowing?to={}"])
def test_a_page_is_not_used_if_a_name_leads_into_the_browsers_private_network(
    secret: ScriptedShop, careless: Rendered, path: str
) -> None:
    """DNS rebinding: nothing that is known here tells the name from others, but the browser says where it led."""
    inside = secret.url.replace("127.0.0.1", "inside.example")
    with pytest.raises(PrivateAddress, match=r"^the page isn't used, because .* private network.* \(Loopback\)$"):
        careless.get(f"{SHOP}/{path.format(inside)}", page_type=None)
    assert careless.get(f"{SHOP}/p/1").status == 200, "the next page has nothing to do with it"


def test_a_page_of_somebody_else_goes_where_it_wants(secret: ScriptedShop, careless: Rendered) -> None:
    """Whose browser it is may look at the router while we're there."""
    assert careless.get(f"{SHOP}/p/1").status == 200
    store: Store = careless.crawler.spider.store  # type: ignore[union-attr]
    assert store.fetch.attached is not None
    devtools = str(store.fetch.attached.endpoint).split("/")[2]
    opening = urllib.request.Request(f"http://{devtools}/json/new?{secret.url}/theirs", method="PUT")
    with urllib.request.urlopen(opening):
        for _ in range(500):
            if secret.asked:
                break
            careless.run(asyncio.sleep(0.01))  # the gate is on this loop
    assert secret.asked["/theirs"]


def test_a_redirect_to_a_file_is_an_error(careless: Rendered) -> None:
    with pytest.raises(Exception, match="ERR_UNSAFE_REDIRECT"):
        careless.get(f"{SHOP}/hop?to=file:///etc/hostname")


def test_a_shop_in_a_private_network_is_read_and_has_neighbours(
    shop: ScriptedShop, secret: ScriptedShop, opened: Open
) -> None:
    """But not the addresses at which clouds tell secrets."""
    browser = opened(base_url=secret.url)
    assert browser.get(f"{secret.url}/p/skeleton").status == 200
    assert browser.get(f"{secret.url}/borrowing?to={shop.url}", page_type=None).status == 200
    assert shop.asked["/app.js"]
    with pytest.raises(PrivateAddress, match=r"169\.254\.169\.254 is where clouds keep their secrets"):
        browser.get(f"{secret.url}/hop?to=http://169.254.169.254/latest/meta-data")
