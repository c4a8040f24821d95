"""The ledger's entry for a page of discovery that came as a block page: it has no row of its own, but is evidence."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request
from twisted.python.failure import Failure

from storebot.items import BlockSignal, Outcome, PageType, Target, Visit
from storebot.responses import BlockedPage
from storebot.run import Run
from storebot.spiders.climbed import note_climb
from storebot.spiders.taken import taken

_SWITCHED_OFF = (401, 403)


def switched_off(error: BaseException | None) -> str:
    """Say how an endpoint was refused as one that is switched off, "" where it wasn't.

    That is by its status alone, whose own phrase may be the title, without any sign of a guard; or by robots.txt.
    """
    if isinstance(error, BlockedPage):
        off = error.status in _SWITCHED_OFF and not any(_is_of_a_guard(signal) for signal in error.signals)
        return f"answers HTTP {error.status}" if off else ""
    return f"isn't asked for ({error or 'dropped by a middleware'})" if isinstance(error, IgnoreRequest) else ""


def _is_of_a_guard(signal: BlockSignal) -> bool:
    plain = signal.kind in ("status", "length") or (signal.kind == "marker" and "forbidden" in signal.value)
    return signal.vendor != "generic" or not plain


def note_block(run: Run, store: str, page_type: PageType, request: Request, failure: Failure) -> bool:
    """Submit the visit of a block page, and say whether it was one.

    Other failures are left to the walk's reason, but for those of a page that a dearer tier was tried for.
    """
    error = failure.value
    if not isinstance(error, BlockedPage):
        note_climb(run, request, 0, error)
        return False
    run.submit(
        Visit(
            target=Target(store=store, url=request.url, url_key=request.url, page_type=page_type),
            at_ms=run.session.now_ms(),
            outcome=Outcome.BLOCKED,
            status=error.status,
            reason=str(error),
            blocks=error.signals,
            **taken(request.meta),
        )
    )
    return True
