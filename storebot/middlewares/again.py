"""The request that begins a visit anew."""

from __future__ import annotations

from scrapy.http import Request

# What a visit learned on its way to the last response, and says nothing of the next one. How often it was redirected
# stays: no visit may be sent about without end.
OF_THE_LAST_TRY = ("page", "reading", "links", "redirect_urls", "redirect_reasons", "verbatim_url", "proxy_tries")


def again(request: Request) -> Request:
    """Return a request for what the visit asked for first, not for where redirects have led (case R07)."""
    redirected = request.meta.get("redirect_urls")
    new = request.replace(url=redirected[0] if redirected else request.url, dont_filter=True)
    for name in OF_THE_LAST_TRY:
        new.meta.pop(name, None)
    return new
