"""The dashboard in a real Chromium, over a store in every state: at two widths, in light and dark, with axe-core."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright
from sqlalchemy import select

from storebot.archive.archive import Archive
from storebot.archive.file import archive_path
from storebot.dashboard.site import Site
from storebot.db import audit
from storebot.db.schema import holds, job_runs, listings, pages, runs
from tests.dashboard.hostile import MARK
from tests.dashboard.places import places
from tests.dashboard.seed import BLOCKED, FAILED, FINE, HELD, HOSTILE, STALE, STATES, seed
from tests.dashboard.served import served
from tests.vendors.chromium import chromium_path

DOCS = Path(__file__).resolve().parents[2] / "docs" / "screenshots"
PICTURES = {f"{name}-desktop.png" for name in ("now", "store", "run", "confirm", "product")} | {"changes-phone.png"}
WIDTHS = {"desktop": 1280, "phone": 375}
ALIVE = (  # what markup of a shop would have left in a page
    "a[href^='javascript:' i], a[href^='data:' i], main img[src^='http'], main script, main style, "
    "form[action*='evil'], iframe[src*='evil'], meta[http-equiv='refresh' i]"
)
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = seed(tmp_path_factory.mktemp("dashboard"))
    yield made
    made.database.dispose()


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    with served(site) as url:
        yield url


@pytest.fixture(scope="module")
def browser(address: str) -> Iterator[Browser]:
    """A browser, which is closed before the server is: so that no connection of it is left open."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        yield launched
        launched.close()


class Watched:
    """A tab, and what went wrong in it."""

    def __init__(self, browser: Browser, address: str, width: int = 1280, scheme: Any = "light") -> None:
        self.address = address
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.context.set_default_timeout(8_000)
        self.page: Page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", self._asked)
        self.page.on("requestfailed", self._denied)

    def _asked(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc and not request.url.startswith("about:"):
            self.faults.append(f"asked for {request.url[:200]}")

    def _denied(self, request: Request) -> None:
        """Take back what the policy of a kept page's frame kept from being asked for."""
        if request.failure == "csp" and (fault := f"asked for {request.url[:200]}") in self.faults:
            self.faults.remove(fault)

    def _said(self, message: ConsoleMessage) -> None:
        in_frame = message.location["url"].endswith("/frame")  # a kept page wants what its frame's policy denies
        if message.type in ("error", "warning") and not in_frame:
            self.faults.append(f"{message.type}: {message.text}")

    def go(self, path: str) -> Page:
        answer = self.page.goto(self.address + path, wait_until="load")
        assert answer is not None
        assert answer.status == 200, f"{path}: {answer.status}"
        return self.page


@pytest.fixture
def tab(browser: Browser, address: str) -> Iterator[Watched]:
    watched = Watched(browser, address)
    yield watched
    watched.context.close()
    assert watched.faults == []


def values(site: Site) -> dict[str, object]:
    """Return what stands in the addresses."""
    with site.database.read() as conn:
        run = conn.execute(select(runs.c.id).where(runs.c.store == FINE).order_by(runs.c.id.desc())).scalars().first()
        held = conn.execute(select(holds.c.id).order_by(holds.c.id)).scalars().first()
        attempt, job = conn.execute(select(job_runs.c.id, job_runs.c.job_id)).one()
        of_pages = conn.execute(
            select(listings.c.id, pages.c.url_key).join(pages, pages.c.id == listings.c.page_id)
        ).all()
        failed = conn.execute(select(runs.c.id).where(runs.c.store == FAILED)).scalars().all()[-1]
    listing, versions = _kept_twice(site, of_pages)
    kept = next((site.failed_pages or Path()).joinpath(FAILED).glob("*.json"))
    own = {"kept page.run": failed, "kept page.page": kept.name.partition(".")[0]}
    own |= {"attempt": attempt, "name": next((site.exports or Path()).joinpath(FINE).glob("2*-listings")).name}
    own |= {"at": versions[-1], "before": versions[0], "after": versions[-1]}
    return {**own, "store": FINE, "run": run, "hold": held, "job": job, "listing": listing}


def _kept_twice(site: Site, of_pages: Sequence[Any]) -> tuple[int, list[int]]:
    """Return a listing whose page is kept as it was at two times, and these."""
    assert site.archive is not None
    archive = Archive.read(archive_path(site.archive, FINE))
    try:
        for listing_id, url_key in of_pages:
            found = sorted(one.fetched_at_ms for one in archive.generations(url_key))
            if len(found) > 1:
                return listing_id, found
    finally:
        archive.close()
    raise AssertionError("no page of the demo store changed")


def queries(found: Mapping[str, object]) -> dict[str, str]:
    """Return what follows the addresses of views that want more than a path."""
    return {
        "confirm": f"?verb=approve&store={HELD}",
        "compare": f"?before={found['before']}&after={found['after']}",
    }


def every_place(site: Site) -> list[str]:
    found = []
    known = values(site)
    for _, path in places(known, queries(known)):
        found.append(path)
    return [*found, *(f"/stores/{store}" for store in STATES[1:]), f"/stores/{HOSTILE}"]


@pytest.mark.parametrize(("device", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_every_page_is_sound(browser: Browser, address: str, site: Site, device: str, scheme: str) -> None:
    """No error in the console, no request off the host, nothing wider than the screen, no serious finding of axe."""
    watched, axe, found = Watched(browser, address, WIDTHS[device], scheme), Axe(), []
    for path in every_place(site):
        page = watched.go(path)
        for violation in axe.run(page).response["violations"]:
            if violation["impact"] in SERIOUS:
                nodes = [node["html"][:160] for node in violation["nodes"][:3]]
                found.append(f"{path}: {violation['id']}: {violation['help']}: {nodes}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if wide > 0:
            found.append(f"{path}: {wide} px wider than the screen")
        if page.locator("h1").count() != 1:
            found.append(f"{path}: {page.locator('h1').count()} main headings")
    watched.context.close()
    assert found + watched.faults == []


def test_pages_are_whole_without_javascript(browser: Browser, address: str, site: Site) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        for path in every_place(site):
            page.goto(address + path)
            assert page.locator("main h1").count() == 1, path
            assert page.locator("footer time").count() == 1, path


def test_what_a_hostile_shop_wrote_is_inert(tab: Watched, site: Site) -> None:
    with site.database.read() as conn:
        ids = list(conn.execute(select(listings.c.id).where(listings.c.store == HOSTILE)).scalars())
        bad_runs = list(conn.execute(select(runs.c.id).where(runs.c.store == HOSTILE)).scalars())
    paths = [f"/{page}?store={HOSTILE}" for page in ("products", "changes", "blocks")] + [f"/stores/{HOSTILE}", "/"]
    paths += [f"/products/{one}" for one in ids] + [f"/runs/{one}" for one in bad_runs]
    paths += [f"/runs/{one}/visits" for one in bad_runs]
    for path in paths:
        page = tab.go(path)
        assert page.evaluate(f"window.{MARK}") is None, path
        assert page.locator(ALIVE).count() == 0, path
        assert urlsplit(page.url).netloc == urlsplit(tab.address).netloc


def last_deed(site: Site) -> tuple[str, str, str]:
    with site.database.read() as conn:
        deed = audit.listed(conn, {}, None, descending=True, limit=1)[0]
    return deed.who, deed.verb, deed.result


def test_the_keyboard_reaches_the_content_first(tab: Watched) -> None:
    page = tab.go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the page's content"
    page.keyboard.press("Enter")
    assert urlsplit(page.url).fragment == "main"


def test_a_store_is_paused_and_goes_on(tab: Watched, site: Site) -> None:
    page = tab.go(f"/stores/{STALE}")
    page.get_by_role("button", name="Pause").first.click()
    assert page.get_by_role("status").inner_text().startswith("Done")
    assert last_deed(site) == ("operator", "pause_store", "done")
    page.get_by_role("button", name="Resume").first.click()
    assert last_deed(site) == ("operator", "resume_store", "done")


def test_a_breaker_is_reset_with_a_reason(tab: Watched, site: Site) -> None:
    page = tab.go(f"/stores/{BLOCKED}")
    form = page.locator(f"form[action='/stores/{BLOCKED}/breaker']")
    form.locator("[name=why]").fill("the shop lifted it")
    form.get_by_role("button").click()
    assert page.get_by_role("status").inner_text().startswith("Done")
    assert last_deed(site) == ("operator", "reset_breaker", "done")


def test_holds_are_marked_looked_at_again_and_decided(tab: Watched, site: Site) -> None:
    page = tab.go(f"/holds?store={HELD}")
    boxes = page.locator("main table tbody input[type=checkbox]")
    before = boxes.count()
    boxes.nth(0).check()
    page.get_by_role("button", name="Reject").last.click()  # to the page that says what would be done
    page.locator("[name=why]").fill("not in cents")
    page.get_by_role("button", name="Drop").click()
    assert last_deed(site)[1:] == ("reject_holds", "done")
    page = tab.go(f"/holds?store={HELD}")
    assert page.locator("main table tbody input[type=checkbox]").count() == before - 1


@pytest.mark.skipif(not os.environ.get("STOREBOT_SCREENSHOTS"), reason="STOREBOT_SCREENSHOTS=1 writes docs/screenshots")
def test_the_docs_get_their_screenshots(browser: Browser, address: str, site: Site) -> None:
    DOCS.mkdir(exist_ok=True)
    known = values(site)
    for view, path in places(known, queries(known)):
        for device, scheme in (("desktop", "light"), ("phone", "dark")):
            picture = f"{view.name}-{device}.png"
            if picture not in PICTURES:
                continue
            watched = Watched(browser, address, WIDTHS[device], scheme)
            watched.go(path).screenshot(path=DOCS / picture)
            watched.context.close()
    assert {path.name for path in DOCS.iterdir()} == PICTURES
