"""Pages that were redirected: each follows to its new key, or gives it up to the page that is there."""

from __future__ import annotations

from storebot.core.likeness import likeness
from storebot.db import moves
from storebot.db.compare import Known
from storebot.db.discovery import discover, is_key
from storebot.db.known_pages import is_unchanged
from storebot.db.work import Work, write
from storebot.items import Discovered, Visit


def follow(work: Work, page: Known, visit: Visit) -> str:
    """Let the page follow an accepted redirect; return why nothing is saved where another page is there.

    A page without a record gives its key up to one that has a history. A successor isn't its predecessor at a new price
    (case R01): it is a page of its own.
    """
    if not _moves(page, visit):
        return ""
    write(work)  # what this batch did to the other page must be seen
    store, old, to, url = work.run.store, page.url_key, visit.final_key, visit.final_url or visit.target.url
    replaced = _is_replaced(work, page, visit)
    if replaced and moves.holder_of(work.conn, store, to) is None:
        discover(work.conn, store, [Discovered(url, to)], visit.at_ms, due_at=visit.at_ms)
    other = moves.holder_of(work.conn, store, to)
    empty = page.content_hash is not None and other is not None and other.content_hash is None
    if other is None or other.id == page.id or (empty and not replaced):
        moves.take(work.conn, store, page.id, old, to, url, visit.at_ms)
        page.url_key = to
        if other is not None and other.id != page.id and other.id in work.known:
            work.known[other.id].claim_token = ""
        return ""
    moves.retire(work.conn, store, page.id, old, other, visit.at_ms)
    if page.content_hash is not None and _goes_on(work, page, visit):
        moves.inherit(work.conn, page.id, other.id)
    return f"redirects to {to}, " + ("which is another product" if replaced else "a page that has its own visits")


def would_retire(work: Work, page: Known, visit: Visit) -> bool:
    """Whether following a redirect takes a page off sale that was on sale: its listings would be another page's."""
    if not _moves(page, visit) or page.content_hash is None or page.misses:
        return False
    other = moves.holder_of(work.conn, work.run.store, visit.final_key)
    if other is not None and other.id != page.id and other.content_hash is not None:
        return True
    return (other is None or other.id != page.id) and _is_replaced(work, page, visit)


def _moves(page: Known, visit: Visit) -> bool:
    return bool(visit.final_key) and visit.final_key != page.url_key and is_key(visit.final_key)


def _is_replaced(work: Work, page: Known, visit: Visit) -> bool:
    before = work.before.get(page.id, {}).values()
    return likeness(before, visit.listings).is_another_product


def _goes_on(work: Work, page: Known, visit: Visit) -> bool:
    """Whether the page that a redirect led to shows the product that was known."""
    if is_unchanged(work.run, page, visit):
        return True
    found = likeness(work.before.get(page.id, {}).values(), visit.listings)
    return found.names and found.ids is not False
