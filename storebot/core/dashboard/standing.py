"""How one store stands: its light, the cause in words, who has to do something, and the one safe thing to do."""

from __future__ import annotations

from collections.abc import Iterator

from storebot.core.alerts.finding import Kind
from storebot.core.breaker import State
from storebot.core.dashboard.blame import Fault, Past, blame
from storebot.core.dashboard.store_now import Action, Does, Stand, Standing, StoreNow
from storebot.core.expect import MEASURED
from storebot.core.pacing import as_duration
from storebot.items import NOT_OBSERVED, Outcome, RunStatus

_LATE_TIMES = 2  # intervals, after which the last good run is too old
_SLIGHT = 0.05  # share of a run's visits that may fail without anybody having to look
_SAYS_ALL = (Stand.GONE, Stand.NEVER)


def standing(store: StoreNow, now_ms: int) -> Standing:
    """Decide how a store stands. The first that fits counts; what else is so is added to the cause."""
    found = next(_all(store, now_ms))
    also = [text for text in _besides(store) if text not in found.cause and found.stand not in _SAYS_ALL]
    return found._replace(cause=" ".join((found.cause, *also)))


def _all(store: StoreNow, now_ms: int) -> Iterator[Standing]:
    yield from _of_file(store)
    if store.crawls and all(job.status == "paused" for job in store.crawls):
        text = "Somebody paused its jobs: nothing looks at the shop until they are resumed."
        yield Standing(
            Stand.PAUSED, text, Fault.DECISION, Action(Does.RESUME, "Resume its jobs, if the reason is over")
        )
    yield from _of_shop(store)
    yield from _failed(store)
    if store.budget:
        text = f"{store.budget}: no request is sent until the month ends."
        advice = "Raise budget.month in the store file, or wait for the month to end"
        yield Standing(Stand.BUDGET, text, Fault.DECISION, Action(Does.LOOK, advice, "store"))
    if store.held:
        text = f"{_pages(store.held)} changed so much that a person has to look; what was published before stays."
        yield Standing(
            Stand.HELD, text, Fault.DECISION, Action(Does.LOOK, "Look at the held changes, then decide", "holds")
        )
    yield from _stale(store, now_ms)
    yield from _of_last(store)
    if store.running:
        yield _running(store)
    yield Standing(Stand.FINE, _fine(store), Fault.NOBODY, Action(Does.NOTHING, "Nothing to do"))


def _of_file(store: StoreNow) -> Iterator[Standing]:
    if store.file_error:
        action = Action(Does.FIX, "Correct the file (scrapy check says whether it's right)")
        yield Standing(Stand.BROKEN, f"Its store file can't be read: {store.file_error}", Fault.OURS, action)
    if store.file_gone and not store.running:
        text = "There is no store file of this name any more: nothing runs, what was saved stays."
        yield Standing(Stand.GONE, text, Fault.NOBODY, Action(Does.NOTHING, "Nothing, if the store was given up"))
    if not store.runs:
        text = "No run has looked at this shop yet."
        if store.next_job is not None:
            yield Standing(
                Stand.NEVER, f"{text} The first is planned.", Fault.NOBODY, Action(Does.LOOK, "Wait for it", "jobs")
            )
        action = Action(Does.RUN, "Begin the first backfill", kind="backfill")
        yield Standing(Stand.NEVER, text, Fault.DECISION, action)


def _of_shop(store: StoreNow) -> Iterator[Standing]:
    """Say that the shop doesn't want to be asked. Nobody presses it: the way out is to wait, or to look."""
    if store.breaker.state is State.OPEN:
        text = f"The shop said no, so it's left alone: {store.breaker.reason}."
        advice = "Wait: it's asked again by itself, with one request"
        yield Standing(Stand.BLOCKED, text, Fault.SHOP, Action(Does.NOTHING, advice, "blocks"))
    if store.breaker.state is State.HALF_OPEN:
        text = f"The shop said no ({store.breaker.reason}); the next run asks with one request, and its answer decides."
        yield Standing(Stand.BLOCKED, text, Fault.SHOP, Action(Does.NOTHING, "Wait for the next run", "blocks"))
    last = store.last
    if last is not None and last.status is RunStatus.BLOCKED:
        text = f"Run {last.id} was blocked: {_sentence(last.reason)}"
        yield Standing(
            Stand.BLOCKED, text, Fault.SHOP, Action(Does.LOOK, "Look at the block pages before asking again", "blocks")
        )


def _failed(store: StoreNow) -> Iterator[Standing]:
    last, failing = store.last, store.found(Kind.FAILING)
    if failing is None and (last is None or last.status is not RunStatus.FAILED):
        return
    if last is None or (failing is not None and last.status in (RunStatus.COMPLETE, RunStatus.PARTIAL, RunStatus.HELD)):
        assert failing is not None  # a job fails, and its runs don't: the worker, or the job's process
        yield Standing(Stand.FAILED, _capital(failing.text), Fault.OURS, Action(Does.LOOK, failing.advice, "jobs"))
        return
    fault = blame(last)
    again = f" {_capital(failing.text)}" if failing is not None and last.reason not in failing.text else ""
    text = f"Run {last.id} failed: {_sentence(last.reason)}{again}"
    if fault is Fault.SHOP:
        advice = "Open the shop in a browser: is it there, and at this address?"
    elif _parser_moved(store, last):
        text += f" The parser changed since the last good run (it's {last.parser_version})."
        advice = "Look at the run's errors; take the parser's change back, or mend it"
    else:
        advice = "Look at the run's errors"
    yield Standing(Stand.FAILED, text, fault, Action(Does.LOOK, advice, "run", last.id))


def _stale(store: StoreNow, now_ms: int) -> Iterator[Standing]:
    silent = store.found(Kind.SILENT)
    seen = store.good.finished_at if store.good and store.good.finished_at else 0
    late = bool(store.interval_ms and seen and now_ms - seen > _LATE_TIMES * store.interval_ms)
    if (silent is None and not late) or store.running:
        return
    if silent is not None:
        text = _capital(silent.text)
    else:
        old, interval = as_duration((now_ms - seen) / 1000), as_duration(store.interval_ms / 1000)
        text = f"No run has seen the shop for {old}, and one should each {interval}."
    job = store.next_job
    if job is not None and job.next_at is not None and job.next_at < now_ms:
        action = Action(Does.FIX, "Its job waits for a worker. Start one: scrapy worker", "health")
    else:
        action = Action(Does.RUN, "Run a refresh now", kind="refresh")
    yield Standing(Stand.STALE, text, Fault.OURS, action)


def _of_last(store: StoreNow) -> Iterator[Standing]:
    last, missed = store.last, store.found(Kind.UNEXPECTED)
    if store.running or last is None:
        return
    if store.runs[0].status is RunStatus.RUNNING:
        text = f"Run {store.runs[0].id} didn't end, and nothing has the store any more: its process died."
        yield Standing(
            Stand.PARTIAL, text, Fault.OURS, Action(Does.RUN, "Run it again: it goes on where it was", kind=last.kind)
        )
    if last.status is RunStatus.INTERRUPTED:
        text = f"Run {last.id} was interrupted: {_sentence(last.reason)}"
        action = Action(Does.RUN, "Run it again: it goes on where it was", kind=last.kind)
        if store.next_job is not None:
            action = Action(Does.NOTHING, "Nothing: the next run goes on")
        yield Standing(Stand.PARTIAL, text, Fault.NOBODY, action)
    if missed is not None:
        yield Standing(
            Stand.PARTIAL,
            _capital(missed.text),
            blame_of_missed(last),
            Action(Does.LOOK, "Look at the run", "run", last.id),
        )
    if last.status is RunStatus.PARTIAL:
        text = f"Run {last.id} saw only a part: {_sentence(last.reason)}"
        if _is_slight(last):
            text += " So few pages mend themselves: they are looked at again."
            yield Standing(Stand.PARTIAL, text, Fault.NOBODY, Action(Does.NOTHING, "Nothing yet", "run", last.id))
        yield Standing(Stand.PARTIAL, text, blame(last), Action(Does.LOOK, "Look at its errors", "run", last.id))


def _is_slight(run: Past) -> bool:
    """Whether a run lacks so few of its pages that nobody need look."""
    unseen, all_of_them = run.count(*NOT_OBSERVED), sum(run.counts.values())
    return 0 < unseen <= _SLIGHT * all_of_them


def blame_of_missed(last: Past) -> Fault:
    """Say whose fault it is that a run isn't as expected: the shop's only where its pages weren't had."""
    return Fault.SHOP if last.count(Outcome.BLOCKED, Outcome.ERROR) else Fault.OURS


def _running(store: StoreNow) -> Standing:
    action = Action(Does.LOOK, "Watch it", "run", store.running)
    return Standing(Stand.RUNNING, f"Run {store.running} is under way.", Fault.NOBODY, action)


def _fine(store: StoreNow) -> str:
    last = store.last
    if last is None:
        return "The first run is under way." if store.running else "Nothing is known to be wrong."
    what = "saw all it should" if last.status in MEASURED else "ended"
    return f"Run {last.id} ({last.kind}) {what}, {last.changes:,} changes."


def _besides(store: StoreNow) -> Iterator[str]:
    if store.held:
        yield f"{_pages(store.held)} changed so much that a person has to look; what was published before stays."
    if store.running:
        yield f"Run {store.running} is under way."


def _parser_moved(store: StoreNow, last: Past) -> bool:
    """Whether a run was made by another parser than the last one that went well."""
    good = store.good
    return good is not None and good.id < last.id and good.parser_version not in ("", last.parser_version)


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


def _sentence(text: str) -> str:
    text = text.strip() or "no reason was noted"
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
