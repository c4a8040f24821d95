"""A page that was read becomes what is published: its listings, and its own row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storebot.core.planner.hazard import Flag
from storebot.db import moves
from storebot.db.batch import renamed
from storebot.db.compare import Compared, Known, compare, first_seen, relist
from storebot.db.discovery import is_key
from storebot.db.known_pages import is_rebased, is_unchanged
from storebot.db.learning import Lesson
from storebot.db.validators import entity_tag, http_date
from storebot.db.work import Work
from storebot.items import CARD, Outcome, Visit


def accept(work: Work, page: Known, visit: Visit) -> tuple[Outcome, str, Compared]:
    """Let a page that was read, or what a card says of it, be what is published."""
    if visit.source == CARD:
        return _carded(work, page, visit)
    if page.content_hash is None:
        outcome, compared = Outcome.NEW, first_seen(work.rows, work.run, page, visit)
    elif is_unchanged(work.run, page, visit):
        outcome, compared = Outcome.UNCHANGED, relist_page(work, page, visit)
    else:
        before = work.before.get(page.id, {})
        compared = compare(work.rows, work.run, page, visit, before, silent=is_rebased(work.run, page, visit))
        outcome = Outcome.CHANGED if compared.changes else Outcome.UNCHANGED
    bring_back(work, page)
    if visit.amp_key and outcome is not Outcome.UNCHANGED and is_key(visit.amp_key):
        moves.alias_copy(work.conn, work.run.store, visit.amp_key, page.id, visit.at_ms)
    accepted = {
        "content_hash": visit.content_hash,
        "details_hash": visit.details_hash,
        "source_hash": visit.source_hash or None,
        "hash_version": work.run.hash_version,
        "parser_version": work.run.version_of(visit),
        "etag": entity_tag(visit.etag),
        "last_modified": http_date(visit.last_modified),
        "fetched_at": visit.at_ms,
        "checked_at": visit.at_ms,
        "next_due_at": visit.at_ms + work.run.revisit_after_ms,
        "canonical_key": visit.canonical_key or None,
    }
    comparable = page.content_hash is not None and not is_rebased(work.run, page, visit)
    changed = outcome is Outcome.CHANGED if comparable else None
    look(work, "page_parsed", page, visit, accepted, changed=changed, visible=compared.on_card)
    return outcome, visit.reason, compared


def _carded(work: Work, page: Known, visit: Visit) -> tuple[Outcome, str, Compared]:
    """Let the price on a page's card be published. The page itself wasn't looked at: it's fetched in full next time."""
    compared = compare(work.rows, work.run, page, visit, work.before.get(page.id, {}), silent=False)
    carded = {"content_hash": visit.content_hash, "carded_at": visit.at_ms, "signal": Flag.NONE.value}
    known = {name: getattr(page, name) for name in ("change_credit", "exposure_h")}
    row = {"of_page": page.id, **renamed({**carded, **known})}
    work.rows.add("page_carded", row)
    work.rows.lessons.append(Lesson(page, visit, row, changed=True, visible=True))
    return Outcome.CHANGED if compared.changes else Outcome.UNCHANGED, visit.reason, compared


def look(
    work: Work,
    statement: str,
    page: Known,
    visit: Visit,
    values: Mapping[str, Any],
    *,
    changed: bool | None,
    visible: bool = False,
) -> None:
    """Write a look at a page into its row, and have it be learned from."""
    known = {name: getattr(page, name) for name in ("change_credit", "exposure_h", "listed_at", "value", "category_id")}
    row = {"of_page": page.id, **renamed({**values, **known})}
    work.rows.add(statement, row)
    work.rows.lessons.append(Lesson(page, visit, row, changed, visible))


def bring_back(work: Work, page: Known) -> None:
    """Have the listings that went missing with their page be active again."""
    if page.misses or page.unnamed_since is not None:
        work.rows.add("page_back_listings", {"of_page": page.id})


def relist_page(work: Work, page: Known, visit: Visit) -> Compared:
    """Announce the listings of a delisted page that is there again, just as it was."""
    if not page.delisted_at:
        return Compared()
    return relist(work.rows, work.run, page, visit, work.before.get(page.id, {}))
