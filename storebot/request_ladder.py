"""The ladder of a run in terms of requests: which tier fetches one, and the request that tries the next tier."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable

from scrapy.http import Request

from storebot.core.ladder import Ladder
from storebot.core.rung import Rung
from storebot.items import PageType, Spent, Tier
from storebot.stores.model import Store

logger = logging.getLogger(__name__)

_CONDITIONAL = frozenset({Tier.HTTP, Tier.HTTP2})  # a browser's navigation never ends at a 304 (NOTES C5)
_VALIDATORS = ("If-None-Match", "If-Modified-Since")
_UNFILLED = "unfilled"  # in the meta of a request that was sent because a cheaper tier's page lacked its fields
_SILENT = "silent"  # in the meta of one that was sent because nothing came by these cheaper tiers
# What belongs to one try by one tier: what was read of its response, who asked, and how often it asked again.
_OF_ONE_TIER = (
    "page",
    "reading",
    "links",
    "identity",
    "cookiejar",
    "proxy",
    "reloaded",
    "timeouts",
    "retry_times",
    "redirect_times",
    "redirect_ttl",
    "redirect_urls",
    "redirect_reasons",
    "download_slot",
    "download_latency",
    "cached_response",
)


class RequestLadder:
    """What middlewares tell of the tiers, and ask of them.

    ``clock`` gives the database's time in milliseconds, ``count`` adds one to a stat, and ``allowed`` gives the tiers
    that may be paid for now. ``may`` takes a retry from the run's budget for a page that was refused; one that only
    needs its scripts to run is no retry. A store with one tier has nothing to choose: nothing is remembered of it.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], int],
        count: Callable[[str], object],
        allowed: Callable[[], Collection[Tier]] = lambda: frozenset(Tier),
        may: Callable[[], bool] = lambda: True,
    ) -> None:
        self.store, self._clock, self._count, self._allowed, self._may = store, clock, count, allowed, may
        self.tiers = store.fetch.tiers
        api = store.fetch.api
        self.rendering = frozenset({Tier.BROWSER, Tier.ATTACHED, *([Tier.API] if api and api.render else [])})
        self._ladder = Ladder(self.tiers)

    @property
    def is_plain(self) -> bool:
        """Whether the store lists the plain tier alone, so that there is nothing to say to any request."""
        return self.tiers == (Tier.HTTP,)

    def remember(self, rungs: Iterable[Rung]) -> None:
        """Begin with what earlier runs learned."""
        self._ladder = Ladder(self.tiers, rungs)

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """What is to be remembered."""
        return self._ladder.rungs()

    def begin(self, request: Request) -> None:
        """Say by which tier a request is fetched, and take from it what that tier can't send."""
        one = len(self.tiers) == 1
        now_ms, allowed = self._clock(), self._allowed()
        _go_by(request, self.tiers[0] if one else self._ladder.begin(request.meta["page_type"], now_ms, among=allowed))

    def renders(self, request: Request) -> bool:
        """Whether scripts ran on the page that a request got."""
        return _tier(request) in self.rendering

    def fills(self, request: Request) -> bool:
        """Whether a tier above the request's has lately had the fields that pages of its type lack without scripts."""
        return self._ladder.fills(request.meta["page_type"], _tier(request), self._clock())

    def is_for_fields(self, request: Request) -> bool:
        """Whether a request was sent because a cheaper tier's page lacked its product, or fields of it."""
        return _UNFILLED in request.meta

    def worked(self, request: Request, *, filled: bool = False) -> None:
        """Note that the tier of a request got what was asked for, or the store's word that it isn't there.

        ``filled``: the page has what it was asked for.
        """
        self._record(request, works=True, filled=filled and self.is_for_fields(request))

    def failed(self, request: Request, reason: str) -> None:
        """Note that the tier of a request didn't get the page, and no other one is worth trying."""
        self._record(request, works=False, reason=reason)

    def escalated(self, request: Request, reason: str, *, rendering: bool = False) -> Request | None:
        """Note that the tier of a request didn't get the page; return the request to the next tier, if there is one.

        ``reason`` is half a sentence: "blocked (cloudflare)". ``rendering`` asks for a tier that runs scripts.
        """
        self.failed(request, reason)
        return self._climb(request, reason, rendering=rendering)

    def timed_out(self, request: Request, patience: int) -> Request | None:
        """Note that nothing came in time; return the request to the next tier once that was all that came of this one.

        ``patience`` is how often it may. By itself it says nothing of the tier, as the shop may be down. Where a dearer
        tier then gets the page it's a tarpit, and counts as a failure.
        """
        timeouts = request.meta["timeouts"] = request.meta.get("timeouts", 0) + 1
        if timeouts < patience or timeouts <= request.meta.get("retry_times", 0) or request.meta.get("probe"):
            return None
        again = self._climb(request, "timed out" if timeouts == 1 else f"timed out {timeouts} times")
        if again is not None:
            again.meta[_SILENT] = (*request.meta.get(_SILENT, ()), _tier(request))
        return again

    def has_next(self, request: Request) -> bool:
        """Whether a page that its tier doesn't get may still be got by another one."""
        page_type = request.meta.get("page_type")
        if page_type is None or request.meta.get("probe") or len(self.tiers) == 1:
            return False
        return self._ladder.has_next(_tier(request), page_type, self._clock(), among=self._allowed())

    def unusable(self, request: Request, error: Exception) -> Request | None:
        """Use the tier of a request no more in this run, and return the request to the next one.

        That says nothing of the store, and isn't remembered. The download handler has said why.
        """
        self._ladder.close(_tier(request))
        return self._climb(request, f"can't be used ({type(error).__name__})")

    def _climb(self, request: Request, reason: str, *, rendering: bool = False) -> Request | None:
        page_type, tier = request.meta.get("page_type"), _tier(request)
        if page_type is None:
            return None
        among = self.rendering.intersection(self._allowed()) if rendering else self._allowed()
        above = self._ladder.after(tier, page_type, self._clock(), among=among)
        if above is None or not (rendering or self._may()):
            return None
        where = request.meta.get("redirect_urls", [request.url])[0]  # not where a redirect led to (case R07)
        again = request.replace(url=where, dont_filter=True)
        for name in [name for name in again.meta if name in _OF_ONE_TIER or name.startswith("playwright")]:
            del again.meta[name]
        _go_by(again, above)
        if rendering:
            again.meta[_UNFILLED] = True
        spent: Spent = again.meta.setdefault("spent", Spent())
        spent.steps.append(f"{tier}: {reason}")
        self._count(f"storebot/ladder/escalated/{above}")
        logger.debug("%s: %s: %s; %s is tried", where, tier, reason, above)
        return again

    def _record(self, request: Request, *, works: bool, reason: str = "", filled: bool = False) -> None:
        page_type: PageType | None = request.meta.get("page_type")
        if page_type is None or len(self.tiers) == 1:
            return
        self._note(page_type, _tier(request), works=works, reason=reason, filled=filled)
        if works:
            for silent in request.meta.pop(_SILENT, ()):
                self._note(page_type, silent, works=False, reason=f"timed out, where {_tier(request)} got the page")

    def _note(self, page_type: PageType, tier: Tier, *, works: bool, reason: str, filled: bool = False) -> None:
        if self._ladder.record(page_type, tier, works=works, now_ms=self._clock(), reason=reason, filled=filled):
            self._tell(page_type, tier, reason)

    def _tell(self, page_type: PageType, tier: Tier, reason: str) -> None:
        name, rung = self.store.name, self._ladder.of(page_type, tier)
        if all(self._ladder.of(page_type, one).is_left for one in self.tiers):
            logger.warning(
                "%s: %s pages aren't got by %s either (%s): no tier that is listed works now, and the one that worked "
                "last, or the cheapest, goes on being tried",
                name, page_type, tier, reason,
            )  # fmt: skip
        elif rung.is_left:
            minutes = (rung.retry_at - self._clock()) / 60_000
            logger.warning(
                "%s: %s pages aren't fetched by %s any more (%s); it is probed in %.0f minutes",
                name, page_type, tier, reason, minutes,
            )  # fmt: skip
        else:
            logger.info("%s: %s pages are fetched by %s again: it works", name, page_type, tier)


def _tier(request: Request) -> Tier:
    return Tier(request.meta.get("tier", Tier.HTTP))


def _go_by(request: Request, tier: Tier) -> None:
    request.meta["tier"] = tier
    if tier not in _CONDITIONAL:
        for name in _VALIDATORS:
            request.headers.pop(name, None)
