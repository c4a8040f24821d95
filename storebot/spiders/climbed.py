"""The ledger's entry for a page of discovery that a dearer tier was needed for: it has no row of its own otherwise."""

from __future__ import annotations

from scrapy.http import Request

from storebot.items import Outcome, Target, Visit
from storebot.run import Run
from storebot.spiders.taken import taken


def note_climb(run: Run, request: Request, status: int, error: BaseException | None = None) -> None:
    """Submit the visit of a page of discovery if it was escalated: seen, or what kept it from being read at last."""
    spent = request.meta.get("spent")
    if spent is None or not spent.steps:
        return
    target = Target(store=run.store.name, url=request.url, url_key=request.url, page_type=request.meta["page_type"])
    outcome = Outcome.UNCHANGED if error is None else Outcome.ERROR
    reason = "" if error is None else f"{type(error).__name__}: {error}"
    at_ms, took = run.session.now_ms(), taken(request.meta)
    run.submit(Visit(target=target, at_ms=at_ms, outcome=outcome, status=status, reason=reason, **took))
