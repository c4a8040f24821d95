"""How a run ended: its status, the sentence that says why, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from storebot.core.expect import MEASURED
from storebot.exceptions import ExitCode
from storebot.items import NOT_OBSERVED, Outcome, RunStatus

FORBIDDEN_WALK, FORBIDDEN_KNOWN, FORBIDDEN_NEW = "walk", "known", "new"
_FORBIDDEN = {  # for one, and for several
    FORBIDDEN_WALK: ("request that finds pages", "requests that find pages"),
    FORBIDDEN_KNOWN: ("page that was read before", "pages that were read before"),
    FORBIDDEN_NEW: ("page that was never read", "pages that were never read"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The facts by which a run is judged."""

    finish_reason: str  # Scrapy's: finished, shutdown, closespider_timeout … or one of ours
    outcomes: Mapping[Outcome, int]
    incomplete_walks: Sequence[str] = ()  # a sentence each
    notes: Sequence[str] = ()  # what was done in another way than the store file asks for, a sentence each
    forbidden: Mapping[str, int] = field(default_factory=dict)  # requests that robots.txt forbade, by purpose
    moved_off: Mapping[str, int] = field(default_factory=dict)  # visits that were redirected off the site, by host
    walks_blocked: int = 0  # pages of the catalogue and sitemaps that were block pages
    pages_known: int = 0
    pages_read: int = 0  # of these, with a record
    pages_left: int = 0  # claimable, and not visited by this run
    pages_waiting: int = 0  # not observed by an earlier run, and not due again yet
    listings_known: int = 0
    min_listings: int | None = None  # the store's [expect], for a backfill; 0 says that it may be empty
    held: int = 0  # pages whose change the write gate holds
    held_why: str = ""  # the sentence of the gate that holds most of them
    budget: str = ""  # by which limit the run was ended: a part of a sentence
    missed: Sequence[str] = ()  # what was expected of the run and isn't so, a sentence each
    internal_errors: int = 0  # exceptions in our own code
    signal: int = 0  # SIGINT or SIGTERM that asked for the end
    failure: str = ""  # why the run could not go on at all
    failure_code: ExitCode | None = None


def judge(end: Ending) -> tuple[RunStatus, str, ExitCode]:
    """Return status, reason (for a complete run nothing but notes) and exit code. The worst fact wins.

    Complete is proven, never assumed: no walk without its end, no page left, none that could not be observed, not all
    of them missing or moved or skipped, and something found at all (a crawl that found nothing has failed).

    What a run missed of what is expected of it is in the reason. It changes neither status nor exit code, which say
    what was observed: docs/decisions/0038-expectations.md.
    """
    status, reason, code = _judge(end)
    if not end.missed or status not in MEASURED:
        return status, reason, code
    return status, "; ".join((*filter(None, [reason]), "not as expected: " + "; ".join(end.missed))), code


def _judge(end: Ending) -> tuple[RunStatus, str, ExitCode]:
    if end.failure:
        status = RunStatus.BLOCKED if end.failure_code is ExitCode.BLOCKED else RunStatus.FAILED
        return status, end.failure, end.failure_code or ExitCode.INTERNAL_ERROR
    if end.finish_reason == "shutdown" or end.signal:
        code = ExitCode.SIGTERM if end.signal == 15 else ExitCode.SIGINT
        return RunStatus.INTERRUPTED, "stopped by a signal; the next run resumes", code
    outcomes = {outcome: count for outcome, count in end.outcomes.items() if count}
    blocked = outcomes.get(Outcome.BLOCKED, 0) + end.walks_blocked
    seen = sum(count for outcome, count in outcomes.items() if outcome.seen)
    doubts = _doubts(end, outcomes)
    if end.held:
        doubts = f"{_held(end)}; {doubts}".rstrip("; ")
    if end.finish_reason == "blocked" or (blocked and not seen):
        reason = doubts or "; ".join(end.notes) or "the store answers with block pages"
        return RunStatus.BLOCKED, reason, ExitCode.BLOCKED
    if not seen and _needs_what_is_forbidden(end):
        return RunStatus.BLOCKED, doubts, ExitCode.BLOCKED
    if end.internal_errors:
        reason = f"{end.internal_errors} exceptions in storebot itself, see the log; {doubts}".rstrip("; ")
        status = RunStatus.HELD if end.held else RunStatus.PARTIAL
        return status, reason, ExitCode.INTERNAL_ERROR
    if end.held:
        return RunStatus.HELD, doubts, ExitCode.HELD
    if end.budget:
        lists = len(end.incomplete_walks)  # one sentence for all: a store may have hundreds
        unread = [f"{lists} {'list' if lists == 1 else 'lists'} not read to the end"] if lists else []
        doubts = _doubts(replace(end, incomplete_walks=unread), outcomes)
        reason = f"budget reached: {end.budget}; the next run goes on; {doubts}".rstrip("; ")
        return RunStatus.PARTIAL, reason, ExitCode.BUDGET
    if moved := _domain_moved(end):
        return RunStatus.FAILED, f"{moved}; {doubts}".rstrip("; "), ExitCode.PARTIAL
    if not end.pages_known and end.min_listings != 0:
        reason = doubts or "no product page was found: check [discover], [catalogue] and product_url of the store file"
        return RunStatus.FAILED, reason, ExitCode.PARTIAL
    if end.finish_reason != "finished":
        return RunStatus.INTERRUPTED, f"closed early: {end.finish_reason}; {doubts}".rstrip("; "), ExitCode.PARTIAL
    if doubts:
        return RunStatus.PARTIAL, doubts, ExitCode.PARTIAL
    return RunStatus.COMPLETE, "; ".join(end.notes), ExitCode.COMPLETE


def _needs_what_is_forbidden(end: Ending) -> bool:
    """Whether robots.txt forbids what the run needs: where pages are found, or what was read before (case Z07).

    A page that was never read, and may not be, is a page less; unless there is no other.
    """
    return any(end.forbidden.get(what) for what in (FORBIDDEN_WALK, FORBIDDEN_KNOWN)) or bool(
        end.forbidden and not end.pages_read
    )


def _domain_moved(end: Ending) -> str:
    """Say that most visits were redirected off the site (case R05): a rebranded or parked domain; else ""."""
    away, visits = sum(end.moved_off.values()), sum(end.outcomes.values())
    if 2 * away <= visits:
        return ""
    host = max(end.moved_off, key=lambda name: end.moved_off[name])
    return f"domain moved: {away} of {visits} pages redirect to {host}; is base_url still the shop's?"


def _held(end: Ending) -> str:
    what = "the change of 1 page is" if end.held == 1 else f"the changes of {end.held} pages are"
    return f"{what} held, not published: {end.held_why}; see `scrapy holds`"


def _doubts(end: Ending, outcomes: Mapping[Outcome, int]) -> str:
    """Say in one sentence what keeps the run from being complete; empty when nothing does."""
    parts = [f"{outcomes[outcome]} {outcome.value}" for outcome in NOT_OBSERVED if outcomes.get(outcome)]
    missing = outcomes.get(Outcome.MISSING, 0)
    if missing and missing == end.pages_known:  # a shop that moved or a login wall, sooner than one that sold out
        parts.append(f"all {missing} known product pages are missing: has the shop moved?")
    moved = outcomes.get(Outcome.MOVED, 0)
    if moved and moved == end.pages_known and not _domain_moved(end):
        parts.append(f"all {moved} known product pages redirect away: has the shop moved?")
    if _needs_what_is_forbidden(end):
        counts = [(end.forbidden.get(what, 0), words) for what, words in _FORBIDDEN.items()]
        told = [f"{count} {words[count > 1]}" for count, words in counts if count]
        parts.append(f"blocked by robots.txt: {', '.join(told)}")
    skipped = outcomes.get(Outcome.SKIPPED, 0)
    if not parts and skipped and skipped == sum(outcomes.values()):
        parts.append(f"all {skipped} pages were skipped: does robots.txt forbid them?")
    if end.pages_known and not end.pages_read and not parts:
        parts.append(f"none of {end.pages_known} known pages was ever read")
    if end.min_listings and end.listings_known < end.min_listings:
        parts.append(f"{end.listings_known} listings, and [expect] min_listings is {end.min_listings}")
    if end.pages_left:
        parts.append(f"{end.pages_left} pages left")
    if end.pages_waiting:
        parts.append(f"{end.pages_waiting} pages of an earlier run that failed wait for their next try")
    parts.extend(end.incomplete_walks)
    return "; ".join((*parts, *end.notes)) if parts else ""
