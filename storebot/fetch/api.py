"""The api tier: a scraping API fetches the page, and its answer becomes a response under the shop's own URL."""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http import Request, Response
from scrapy.utils.httpobj import urlparse_cached

from storebot.core.pacing import retry_after_s
from storebot.core.scraping_api import answer_of, cost_of, filled, filled_url, loaded
from storebot.exceptions import (
    ApiAnswerUnreadable,
    ApiBusy,
    ApiFailed,
    ApiKeyRefused,
    ApiQuotaUsedUp,
    ConfigurationError,
    FetchFailed,
)
from storebot.fetch.http import HttpTier
from storebot.fetch.tier import FetchTier, html_response
from storebot.items import Spent, Tier
from storebot.stores.fetch_api import Api
from storebot.stores.fetching import Fetch

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from storebot.stores.model import Store

_UNREACHED = (DownloadConnectionRefusedError, CannotResolveHostError)  # the API never heard of the call
_REFUSALS = (401, 402, 403, 429)  # it did nothing that it could bill
_BUSY_S = 5.0  # to wait after a 429 that doesn't say for how long
_PATIENCE_S = 60.0  # a rate limit is one of seconds; whoever asks for more means what the plan allows


class ApiTier(FetchTier):
    """Asks the API of ``[fetch.api]``; what is sent to it passes no middleware, but takes the page's turn in its slot.

    ``billed`` of what was spent grows by what the answer says that it cost, else by one a call, failures included
    unless ``bills_failures`` is false. The key is in no log line, exception or visit.
    """

    tier: ClassVar[Tier] = Tier.API

    def __init__(self, fetch: Fetch, key: str, client: FetchTier, user_agent: str) -> None:
        if fetch.api is None:
            raise ConfigurationError("the api tier needs a [fetch.api] section in the store file")
        self._api, self._client = fetch.api, client
        self._values: dict[str, str | bool] = {
            "key": key,
            "country": fetch.country or "",
            "language": fetch.language or "",
            "render": fetch.api.render,
        }
        self._headers = {"User-Agent": user_agent, **filled(fetch.api.headers, self._values)}
        if self._api.body and "content-type" not in {name.lower() for name in self._headers}:
            self._headers["Content-Type"] = "application/json"
        self._free_at = 0.0  # by the monotonic clock: when the API may be asked again, after a 429

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        store: Store = crawler.spider.store  # type: ignore[union-attr]  # only a store lists this tier
        cls.check(store)
        client = HttpTier.from_crawler(crawler)
        return cls(store.fetch, key_of(store.fetch.api), client, crawler.settings["USER_AGENT"])

    @classmethod
    def check(cls, store: Store) -> None:
        """Raise ConfigurationError where the key isn't in the environment."""
        api = store.fetch.api
        if api is not None and api.key_env and not key_of(api):
            raise ConfigurationError(
                f"{store.path}: fetch.api.key_env: the environment variable {api.key_env} isn't set: "
                "put the key of the scraping API into it"
            )

    async def fetch(self, request: Request) -> Response:
        if request.method != "GET":
            raise ApiFailed(f"{request.url}: a scraping API is asked for pages alone, not to {request.method}")
        call = self._call(request)
        said = await self._said(call, request)
        spent: Spent = request.meta["spent"]
        try:
            document = loaded(said.body, _kind(said))
            answer = answer_of(document, self._api.paths)
        except ApiAnswerUnreadable:
            self._bill(spent, said)
            raise
        spent.billed += _or_one(cost_of(document, self._api.cost))
        return html_response(answer.final_url or request.url, answer.html, status=answer.status)

    async def close(self) -> None:
        await self._client.close()

    def _call(self, request: Request) -> Request:
        values: dict[str, str | bool] = {**self._values, "url": request.url}
        body = json.dumps(filled(self._api.body, values)) if self._api.body else ""
        meta = {"download_timeout": self._api.timeout_s, "verbatim_url": True}  # the page's URL is a parameter of it
        url = filled_url(self._api.url, values)
        return Request(url, method=self._api.method, headers=self._headers, body=body, meta=meta)

    async def _said(self, call: Request, request: Request) -> Response:
        """Return the API's answer to a call, asked once more after the time that a 429 wants."""
        spent: Spent = request.meta["spent"]
        for _ in range(2):
            await asyncio.sleep(max(0.0, self._free_at - time.monotonic()))
            said = await self._sent(call, spent)
            if said.status != 429:
                break
            self._free_at = time.monotonic() + self._pause_s(said)
        if not 200 <= said.status < 300:
            self._refuse(said, spent)
        return said

    async def _sent(self, call: Request, spent: Spent) -> Response:
        try:
            return await self._client.fetch(call)
        except Exception as error:
            if not isinstance(error, _UNREACHED):
                spent.billed += self._api.bills_failures
            # Without the cause: a client's own message holds the call.
            raise _named(error, urlparse_cached(call).netloc, self._api.timeout_s) from None

    def _pause_s(self, said: Response) -> float:
        after = (said.headers.get("Retry-After") or b"").decode("latin-1")
        pause_s = retry_after_s(after, int(time.time() * 1000))
        if pause_s is not None and pause_s > _PATIENCE_S:
            host = urlparse_cached(said).netloc
            raise ApiQuotaUsedUp(
                f"the scraping API at {host} answers HTTP 429 and wants to be left alone for {pause_s:.0f} s: "
                "what its plan allows is used up; run again later, or with a larger plan"
            )
        return _BUSY_S if pause_s is None else pause_s

    def _refuse(self, said: Response, spent: Spent) -> NoReturn:
        if said.status not in _REFUSALS:
            self._bill(spent, said)
        raise refusal(said.status, urlparse_cached(said).netloc, self._api)

    def _bill(self, spent: Spent, said: Response) -> None:
        """Count a call that brought no page: what its answer says that it cost, else by the store file."""
        try:
            cost = cost_of(loaded(said.body), self._api.cost)
        except ApiAnswerUnreadable:
            cost = None
        spent.billed += int(self._api.bills_failures) if cost is None else cost


def key_of(api: Api | None) -> str:
    """Return the key from the environment; "" where none is asked for, or it isn't there."""
    return os.environ.get(api.key_env, "").strip() if api and api.key_env else ""


def refusal(status: int, host: str, api: Api) -> FetchFailed:
    """Return what a status of the API's own means for the page, and for the run."""
    api_says = f"the scraping API at {host} answers HTTP {status}"
    match status:
        case 401 | 403:
            held = f"in the environment variable {api.key_env}" if api.key_env else "that [fetch.api] sends"
            return ApiKeyRefused(f"{api_says}: it refuses the key {held}; set one that is valid, and run again")
        case 402:
            return ApiQuotaUsedUp(f"{api_says}: it wants to be paid first; top up its account, and run again")
        case 429:
            return ApiBusy(f"{api_says}, also after the time that it asked for")
        case _:
            return ApiFailed(api_says)


def _named(error: Exception, host: str, timeout_s: float) -> Exception:
    """Return an exception of the same kind that names the API instead of the call."""
    match error:
        case DownloadTimeoutError():
            return DownloadTimeoutError(f"the scraping API at {host} gave no answer within {timeout_s:g} s")
        case CannotResolveHostError():
            return CannotResolveHostError(f"the name of the scraping API at {host} can't be resolved")
        case DownloadConnectionRefusedError():
            return DownloadConnectionRefusedError(f"the scraping API at {host} can't be connected to")
        case DownloadCancelledError():  # trying again would bring the same, for the same money
            return ApiAnswerUnreadable(f"the answer of the scraping API at {host} is larger than DOWNLOAD_MAXSIZE")
        case ResponseDataLossError():
            return ResponseDataLossError(f"the answer of the scraping API at {host} broke off")
        case _:
            return DownloadFailedError(f"the call of the scraping API at {host} failed: {type(error).__name__}")


def _kind(said: Response) -> str:
    return (said.headers.get("Content-Type") or b"").decode("latin-1")


def _or_one(cost: int | None) -> int:
    return 1 if cost is None else cost
