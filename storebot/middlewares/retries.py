"""Retries of what failed by itself, as long as the run has any left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.retry import RetryMiddleware as ScrapyRetryMiddleware
from scrapy.http import Request, Response

from storebot.middlewares.again import again
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy import Spider


class RetryMiddleware(ScrapyRetryMiddleware):
    """Scrapy's, within the run's budget of retries, and always from the URL that was asked for first (case R07)."""

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        if response.status not in self.retry_http_codes or not self._may(request):
            return response
        retry = super().process_response(request, response)
        return again(retry) if isinstance(retry, Request) else retry

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Request | Response | None:
        if not isinstance(exception, self.exceptions_to_retry) or not self._may(request):
            return None
        retry = super().process_exception(request, exception)
        return again(retry) if isinstance(retry, Request) else retry

    def _may(self, request: Request) -> bool:
        """Take one retry from the run's budget, unless the request has had its own already."""
        if request.meta.get("dont_retry") or request.meta.get("retry_times", 0) >= self.max_retry_times:
            return True  # Scrapy's gives up, and says so
        run = self.crawler.get_extension(Run)
        return run is None or run.may_retry("network")
