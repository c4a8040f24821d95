"""Which URL key a page goes by: what its redirect, its canonical link and its AMP link say, put together."""

from __future__ import annotations

from typing import NamedTuple

from storebot.core.canonical import amp_copy, claimed_key
from storebot.core.page import Page
from storebot.core.urls import url_key
from storebot.items import Target
from storebot.stores.model import Store


class Names(NamedTuple):
    """The keys of one page; of an answer other than 200, its own alone."""

    final_key: str  # where the answer came from, or the key that it is known by
    canonical_key: str = ""  # what it calls its true address, where that isn't itself
    amp_key: str = ""


def names_of(store: Store, target: Target, page: Page, canonical: str | None) -> Names:
    """Return the names of a page with this canonical link. Raises InvalidURL where its final URL has no key.

    A page whose canonical link is the key that it's known by stays known by it, wherever it was fetched: a redirect of
    that address, or one that was given the key by its link alone (`storebot.db.canonicals`). One that lost that link
    gets its own key back.
    """
    by_claim = target.canonical_key == target.url_key
    moved = page.url != target.url
    final_key = url_key(page.url, store.key_rules) if moved or by_claim else target.url_key
    if page.status != 200:
        return Names(final_key)
    claimed = claimed_key(
        canonical, page.url, store.key_rules, is_product=store.is_product, listings=store.catalogue_keys
    )
    if claimed == target.url_key and store.is_product(page.url):
        return Names(target.url_key, claimed if by_claim else "")
    amp = amp_copy(page, final_key, store.key_rules)
    return Names(final_key, claimed, amp if amp and store.is_product(amp) else "")
