"""The ledger's entry for a page of discovery that came as a block page: it has no row of its own, but is evidence."""

from __future__ import annotations

from scrapy.http import Request
from twisted.python.failure import Failure

from storebot.items import Outcome, PageType, Target, Visit
from storebot.responses import BlockedPage
from storebot.run import Run


def note_block(run: Run, store: str, page_type: PageType, request: Request, failure: Failure) -> bool:
    """Submit the visit of a block page, and say whether it was one; other failures are left to the walk's reason."""
    error = failure.value
    if not isinstance(error, BlockedPage):
        return False
    run.submit(
        Visit(
            target=Target(store=store, url=request.url, url_key=request.url, page_type=page_type),
            at_ms=run.session.now_ms(),
            outcome=Outcome.BLOCKED,
            status=error.status,
            reason=str(error),
            requests=2,
            blocks=error.signals,
        )
    )
    return True
