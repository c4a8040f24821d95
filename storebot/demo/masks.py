"""Pages that stand in a page's place while a lie is told: challenges, refusals, errors. All texts are our own."""

from __future__ import annotations

from functools import lru_cache

from storebot.demo.filler import javascript

CHALLENGE_SIZES = {"small": 0, "large": 272_000}  # bytes of script before the marker

# https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/
CHALLENGE_HEADERS = {"Server": "cloudflare", "cf-mitigated": "challenge", "CF-RAY": "8f00d3m0c4fe-LHR"}


@lru_cache(maxsize=len(CHALLENGE_SIZES))
def challenge(size: str) -> bytes:
    """Return a challenge page: ``small`` (2 KB), or ``large`` (275 KB) whose marker comes after 272,000 bytes."""
    script = b"<script>" + javascript("challenge", CHALLENGE_SIZES[size]) + b"</script>\n" if size == "large" else b""
    title = b"Just a moment..." if size == "small" else b"Thistle &amp; Thorn"
    opening = b'<!DOCTYPE html>\n<html lang="en-US">\n<head>\n<meta charset="utf-8">\n<title>' + title + b"</title>\n"
    robots = b'<meta name="robots" content="noindex,nofollow">\n</head>\n<body>\n'
    return opening + robots + script + _TURNSTILE + javascript("tail", 900) + b"</script>\n</body>\n</html>\n"


_TURNSTILE = (
    b'<div class="main-wrapper" role="main"><h1>127.0.0.1</h1>\n'
    b'<p id="cf-please-wait">Checking that the connection is secure. This may take a few seconds.</p>\n'
    b"<noscript><p>Enable JavaScript and cookies to continue</p></noscript></div>\n"
    b'<form id="challenge-form" action="/?__cf_chl_f_tk=d3m0" method="POST">'
    b'<input type="hidden" name="md" value="d3m0"></form>\n'
    b'<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8f00d3m0c4fe"></script>\n'
    b'<script>window._cf_chl_opt={cvId:"3",cType:"managed",cRay:"8f00d3m0c4fe"};\n'
)

INTERSTITIAL = (
    b'<!DOCTYPE html>\n<html><head><title>Thistle &amp; Thorn</title><meta http-equiv="refresh" content="0"></head>\n'
    b"<body><p>We are getting the shop ready for you.</p></body></html>\n"
)
_RELOAD = (
    b"<!DOCTYPE html>\n<html><head><title>Thistle &amp; Thorn</title></head>\n"
    b"<body><p>We are getting the shop ready for you. It takes a moment, and the page comes back by itself;"
    b" cookies have to be allowed for that.</p>\n"
    b"<script>%ssetTimeout(function () { location.reload(); }, 100);</script></body></html>\n"
)
RELOAD_BY_SCRIPT = _RELOAD % b""


def cookie_by_script(cookie: str) -> bytes:
    """Return the page whose script sets the cookie itself: it comes with no header."""
    return _RELOAD % b"document.cookie = '%s; path=/'; " % cookie.encode()


FORBIDDEN = (
    b"<!DOCTYPE html>\n<html><head><title>Access Denied</title></head>\n<body><h1>Access Denied</h1>\n"
    b"<p>You don't have permission to access this page on this server.</p>\n"
    b"<p>Reference #18.d3m0.1767594600</p></body></html>\n"
)
TOO_MANY = (
    b"<!DOCTYPE html>\n<html><head><title>Too Many Requests</title></head>\n"
    b"<body><h1>Too Many Requests</h1>\n<p>Please slow down and try again later.</p></body></html>\n"
)
ERROR = (
    b"<!DOCTYPE html>\n<html><head><title>Something went wrong</title></head>\n"
    b"<body><h1>Something went wrong</h1>\n<p>Our servers could not complete this request.</p></body></html>\n"
)
