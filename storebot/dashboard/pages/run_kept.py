"""A page that a run couldn't read: as text, and as it looks, in a frame where nothing runs and nothing is loaded."""

from __future__ import annotations

import re

from storebot.core.page import Page
from storebot.dashboard import kept
from storebot.dashboard.files import printable
from storebot.dashboard.pages.run import found
from storebot.dashboard.view import Ask, Facts, Foreign, NotFound, View

_LINK = re.compile(r"<link\b", re.IGNORECASE)


def read(ask: Ask) -> Facts:
    """Return a kept page as text."""
    run = found(ask)
    one, page = _page(ask)
    return {
        "run": {"id": run.id, "store": run.store, "kind": run.kind},
        "page": {"name": one.name, "url": one.url, "status": one.status, "reason": one.reason},
        "fetched_at": one.fetched_at,
        "size_bytes": len(page.body),
        "text": printable(page.text[: kept.MOST_CHARACTERS]),
        "cut": len(page.text) > kept.MOST_CHARACTERS,
    }


def frame(ask: Ask) -> str:
    """Return it as it came, but for its links: a policy doesn't keep a browser from connecting to where they lead."""
    return _LINK.sub("<link-that-was", _page(ask)[1].text)


def _page(ask: Ask) -> tuple[kept.Kept, Page]:
    run = found(ask)
    one = kept.named(ask.site.failed_pages, run, ask.path["page"])
    page = kept.page_of(one) if one else None
    if one is None or page is None:
        raise NotFound(
            f"no page of this name is kept of run {run.id} (any more): newer ones take the place of old ones"
        )
    return one, page


VIEWS = (View("/runs/{run:int}/kept/{page}", "kept page", "run_kept.html", read),)
FOREIGN = (Foreign("/runs/{run:int}/kept/{page}/frame", "kept page's frame", frame),)
