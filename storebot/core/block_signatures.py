"""What block pages are known by: one row per sign, with where it is looked for and how far it can be trusted."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a block page wants."""

    CHALLENGE = "challenge"  # a script has to run, or work to be done
    CAPTCHA = "captcha"
    DENIED = "denied"
    LOGIN = "login"
    RATE_LIMIT = "rate-limit"
    WAITING_ROOM = "waiting-room"
    EMPTY = "empty"

    @property
    def transient(self) -> bool:
        """Whether waiting helps: neither a ban nor a reason to change the identity."""
        return self in (Kind.RATE_LIMIT, Kind.WAITING_ROOM, Kind.EMPTY)


class Where(StrEnum):
    """Which part of a response a row is looked for in."""

    HEADER = "header"  # "name: text": the header has the text in its value; "name:" for its mere presence
    TITLE = "title"
    BODY = "body"
    URL = "url"  # the final one


class Strength(IntEnum):
    """How much a sign proves."""

    HINT = 0  # stands on good pages of the vendor's customers too: only says whose block it is, if it is one
    WEAK = 1  # stands on some good pages: needs a second sign
    STRONG = 2  # stands on block pages alone


class Signature(NamedTuple):
    """One sign. ``pattern`` is lower-case text that must be contained; ``source`` says how we know."""

    vendor: str
    kind: Kind
    where: Where
    pattern: str
    strength: Strength
    source: str


_H, _W, _S = Strength.HINT, Strength.WEAK, Strength.STRONG
_CF_DOCS = "https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/"
_CF_SEEN = "saved challenge pages of 2016–2024"
_AWS_DOCS = "https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-actions.html"
_SEEN = "saved block pages"
_KNOWN = "quoted in public by people who met it; no page of it in our corpus"
_AKAMAI_CPT = "https://github.com/germondai/trawl/pull/33"
_AKAMAI_SBSD = "https://github.com/D4Vinci/Scrapling/pull/213"
_AMAZON = "https://github.com/adamlwgriffiths/amazon_scraper/issues/25"
_AWS_HTML = "https://github.com/germondai/trawl/pull/82"
_DATADOME_JS = "https://github.com/alex-on-ai/WebReaper/issues/15"
_F5_JS = "https://github.com/sneakypete81/updatescanner/issues/580"
_PX = "https://github.com/0xjas0/Chegg-Answer-Bot/issues/34"
_SHOPIFY = "ten public repositories of Shopify themes, whose tests skip on it"
_VERCEL = "https://github.com/alltheplaces/alltheplaces/pull/18413"

SIGNATURES: tuple[Signature, ...] = (
    # Cloudflare. The beacon (scripts/jsd, __CF$cv$params) is on good pages, so the platform's path alone is weak.
    Signature("cloudflare", Kind.CHALLENGE, Where.HEADER, "cf-mitigated: challenge", _S, _CF_DOCS),
    Signature("cloudflare", Kind.CAPTCHA, Where.TITLE, "attention required! | cloudflare", _S, _CF_SEEN),
    Signature("cloudflare", Kind.DENIED, Where.TITLE, "used cloudflare to restrict access", _S, _CF_SEEN),
    Signature("cloudflare", Kind.WAITING_ROOM, Where.TITLE, "waiting room powered by cloudflare", _S, _KNOWN),
    Signature("cloudflare", Kind.CHALLENGE, Where.BODY, "cf_chl_opt", _S, _CF_SEEN),
    Signature("cloudflare", Kind.CHALLENGE, Where.BODY, "cf-browser-verification", _S, _CF_SEEN),
    Signature("cloudflare", Kind.CHALLENGE, Where.BODY, "jschl_vc", _S, _CF_SEEN),
    Signature("cloudflare", Kind.CHALLENGE, Where.BODY, "/cdn-cgi/l/chk_", _S, _CF_SEEN),
    Signature("cloudflare", Kind.CHALLENGE, Where.BODY, "/orchestrate/chl_", _S, _CF_SEEN),
    Signature("cloudflare", Kind.DENIED, Where.BODY, "error code: 10", _W, "the plain text of errors 1005–1020"),
    Signature("cloudflare", Kind.DENIED, Where.BODY, "cf-error-details", _W, _CF_SEEN),
    Signature("cloudflare", Kind.CHALLENGE, Where.BODY, "/cdn-cgi/challenge-platform/", _W, _CF_SEEN),
    Signature("cloudflare", Kind.CHALLENGE, Where.TITLE, "just a moment...", _W, _CF_SEEN),
    Signature("cloudflare", Kind.DENIED, Where.HEADER, "server: cloudflare", _H, "good pages too"),
    # Akamai writes its denial with each sign as a character reference.
    Signature("akamai", Kind.DENIED, Where.BODY, "reference&#32;&#35;", _S, _SEEN),
    Signature("akamai", Kind.DENIED, Where.BODY, "errors.edgesuite.net", _S, _SEEN),
    Signature("akamai", Kind.DENIED, Where.BODY, "errors&#46;edgesuite&#46;net", _S, _SEEN),
    Signature("akamai", Kind.CHALLENGE, Where.BODY, "/_sec/cp_challenge/", _S, _KNOWN),
    Signature("akamai", Kind.CHALLENGE, Where.BODY, "sec-if-cpt-container", _S, _AKAMAI_CPT),
    Signature("akamai", Kind.CHALLENGE, Where.BODY, "/_sec/verify?provider=interstitial", _S, _KNOWN),
    Signature("akamai", Kind.CHALLENGE, Where.BODY, "/.well-known/sbsd", _W, _AKAMAI_SBSD),
    Signature("akamai", Kind.CHALLENGE, Where.BODY, "powered and protected by akamai", _W, _AKAMAI_CPT),
    Signature("akamai", Kind.DENIED, Where.BODY, "you don't have permission to access", _W, "Apache says so too"),
    Signature("akamai", Kind.DENIED, Where.HEADER, "server: akamaighost", _H, _SEEN),
    # DataDome: good pages load js.datadome.co, block pages and the JSON for XHR name captcha-delivery.com.
    Signature("datadome", Kind.CAPTCHA, Where.BODY, "captcha-delivery.com", _S, _SEEN),
    Signature("datadome", Kind.CAPTCHA, Where.URL, "captcha-delivery.com/", _S, _SEEN),
    Signature(
        "datadome", Kind.DENIED, Where.HEADER, "x-dd-b:", _S, "https://docs.datadome.co/reference/validate-request"
    ),
    Signature("datadome", Kind.DENIED, Where.HEADER, "x-datadome:", _H, "good pages too"),
    Signature("datadome", Kind.DENIED, Where.HEADER, "server: datadome", _H, _KNOWN),
    Signature("datadome", Kind.CAPTCHA, Where.BODY, "please enable js and disable any ad blocker", _S, _DATADOME_JS),
    # PerimeterX (HUMAN): good pages have _pxAppId and the sensor.
    Signature("perimeterx", Kind.CAPTCHA, Where.BODY, "px-captcha", _S, _SEEN),
    Signature("perimeterx", Kind.CAPTCHA, Where.BODY, "captcha.px-cdn.net", _S, _SEEN),
    Signature("perimeterx", Kind.CAPTCHA, Where.BODY, "captcha.px-cloud.net", _S, _KNOWN),
    Signature("perimeterx", Kind.CAPTCHA, Where.BODY, '"blockscript":', _S, "its JSON for XHR"),
    Signature("perimeterx", Kind.CAPTCHA, Where.TITLE, "access to this page has been denied", _S, _PX),
    # Imperva: its script is injected into good pages, the incident's frame and sentence aren't.
    Signature("imperva", Kind.CHALLENGE, Where.BODY, "/_incapsula_resource?swudnsai=", _S, _SEEN),
    Signature("imperva", Kind.DENIED, Where.BODY, "incapsula incident id", _S, _SEEN),
    Signature("imperva", Kind.CAPTCHA, Where.TITLE, "pardon our interruption", _S, _KNOWN),
    Signature("imperva", Kind.CAPTCHA, Where.BODY, "distil_r_captcha", _S, _KNOWN),
    Signature("imperva", Kind.CHALLENGE, Where.BODY, "/_incapsula_resource", _W, "good pages too"),
    Signature("imperva", Kind.DENIED, Where.HEADER, "x-iinfo:", _H, "good pages too"),
    Signature("imperva", Kind.DENIED, Where.HEADER, "x-cdn: imperva", _H, "good pages too"),
    Signature("imperva", Kind.DENIED, Where.HEADER, "x-cdn: incapsula", _H, "good pages too"),
    # Kasada: p.js runs on good pages, ips.js on the interstitial.
    Signature("kasada", Kind.CHALLENGE, Where.BODY, "/ips.js?", _S, _SEEN),
    Signature("kasada", Kind.CHALLENGE, Where.BODY, "window.kpsdk=", _W, _SEEN),
    Signature("kasada", Kind.CHALLENGE, Where.HEADER, "x-kpsdk-r:", _W, _SEEN),
    Signature("kasada", Kind.CHALLENGE, Where.HEADER, "x-kpsdk-ct:", _H, "good pages too"),
    # F5
    Signature("f5-asm", Kind.CHALLENGE, Where.BODY, "please enable javascript to view the page content", _S, _F5_JS),
    Signature("f5-asm", Kind.DENIED, Where.BODY, "the requested url was rejected. please consult with", _S, _SEEN),
    Signature("f5-asm", Kind.CHALLENGE, Where.BODY, 'window["bobcmn"]', _W, "its script also runs on good pages"),
    Signature("f5-asm", Kind.DENIED, Where.TITLE, "request rejected", _W, _SEEN),
    # Amazon's own robot check, which shops that sell in its style copy
    Signature("amazon", Kind.CAPTCHA, Where.BODY, "api-services-support@amazon.com", _S, _AMAZON),
    Signature("amazon", Kind.CAPTCHA, Where.BODY, "opfcaptcha.amazon.com", _S, _AMAZON),
    Signature("amazon", Kind.CAPTCHA, Where.BODY, "/errors/validatecaptcha", _S, _AMAZON),
    Signature("amazon", Kind.CAPTCHA, Where.URL, "/errors/validatecaptcha", _S, _AMAZON),
    # Shopify's storefronts: the status 430 too, which blocks.py knows
    Signature(
        "shopify",
        Kind.CHALLENGE,
        Where.BODY,
        "your connection needs to be verified before you can proceed",
        _S,
        _SHOPIFY,
    ),
    Signature("shopify", Kind.CHALLENGE, Where.TITLE, "verifying your connection", _W, _SHOPIFY),
    Signature("shopify", Kind.DENIED, Where.HEADER, "powered-by: shopify", _H, "good pages too"),
    Signature("shopify", Kind.DENIED, Where.HEADER, "x-shopid:", _H, "good pages too"),
    # AWS
    Signature("aws-waf", Kind.CHALLENGE, Where.HEADER, "x-amzn-waf-action: challenge", _S, _AWS_DOCS),
    Signature("aws-waf", Kind.CAPTCHA, Where.HEADER, "x-amzn-waf-action: captcha", _S, _AWS_DOCS),
    Signature("aws-waf", Kind.CHALLENGE, Where.BODY, "window.gokuprops", _S, _AWS_HTML),
    Signature("aws-waf", Kind.CHALLENGE, Where.BODY, "awswafcookiedomainlist", _W, _AWS_HTML),
    Signature("aws-waf", Kind.CHALLENGE, Where.BODY, ".token.awswaf.com/", _W, "good pages may load the integration"),
    Signature("cloudfront", Kind.DENIED, Where.BODY, "generated by cloudfront (cloudfront)", _W, "its errors 5xx too"),
    # Google's "sorry" page
    Signature("google", Kind.CAPTCHA, Where.BODY, "our systems have detected unusual traffic", _S, _KNOWN),
    Signature("google", Kind.CAPTCHA, Where.BODY, 'id="captcha-form" action="index"', _S, _SEEN),
    Signature("google", Kind.CAPTCHA, Where.URL, "/sorry/index?", _S, _KNOWN),
    # Others
    Signature("anubis", Kind.CHALLENGE, Where.BODY, "/.within.website/x/cmd/anubis/", _S, _SEEN),
    Signature("anubis", Kind.CHALLENGE, Where.TITLE, "making sure you're not a bot", _S, _SEEN),
    Signature("chaitin-safeline", Kind.CHALLENGE, Where.BODY, "/.safeline/", _S, _SEEN),
    Signature("qrator", Kind.CHALLENGE, Where.BODY, "/__qrator/qauth", _S, _SEEN),
    Signature("qrator", Kind.DENIED, Where.HEADER, "server: qrator", _H, "good pages too"),
    Signature("radware", Kind.CAPTCHA, Where.TITLE, "radware bot manager captcha", _S, _SEEN),
    Signature("radware", Kind.CAPTCHA, Where.BODY, "validate.perfdrive.com", _S, _KNOWN),
    Signature("radware", Kind.CAPTCHA, Where.URL, "validate.perfdrive.com", _S, _KNOWN),
    Signature("radware", Kind.CAPTCHA, Where.BODY, "cdn.perfdrive.com/", _W, "the sensor of good pages too"),
    Signature("sucuri", Kind.DENIED, Where.TITLE, "sucuri website firewall", _S, _KNOWN),
    Signature("sucuri", Kind.CHALLENGE, Where.BODY, "sucuri_cloudproxy_js", _S, _KNOWN),
    Signature("sucuri", Kind.DENIED, Where.HEADER, "x-sucuri-block:", _S, _KNOWN),
    Signature("sucuri", Kind.DENIED, Where.HEADER, "x-sucuri-id:", _H, "good pages too"),
    Signature("ddos-guard", Kind.CHALLENGE, Where.TITLE, "ddos-guard", _S, _KNOWN),
    Signature("ddos-guard", Kind.CHALLENGE, Where.BODY, "/.well-known/ddos-guard/", _W, _KNOWN),
    Signature("ddos-guard", Kind.DENIED, Where.HEADER, "server: ddos-guard", _H, "good pages too"),
    Signature("wordfence", Kind.DENIED, Where.BODY, "generated by wordfence", _S, _KNOWN),
    Signature(
        "vercel",
        Kind.CHALLENGE,
        Where.HEADER,
        "x-vercel-mitigated:",
        _S,
        _VERCEL,
    ),
    Signature("vercel", Kind.CHALLENGE, Where.TITLE, "vercel security checkpoint", _S, _VERCEL),
    Signature("siteground", Kind.CAPTCHA, Where.HEADER, "sg-captcha: challenge", _S, _KNOWN),
    Signature("siteground", Kind.CAPTCHA, Where.URL, "/.well-known/sgcaptcha/", _S, _KNOWN),
    Signature("siteground", Kind.CAPTCHA, Where.BODY, "/.well-known/sgcaptcha/", _S, _KNOWN),
    Signature("imunify360", Kind.CAPTCHA, Where.HEADER, "server: imunify360-webshield", _W, _KNOWN),
    Signature("imunify360", Kind.CHALLENGE, Where.BODY, "wsidchk", _S, _KNOWN),
    Signature("reblaze", Kind.CHALLENGE, Where.BODY, "window.rbzns", _S, _KNOWN),
    Signature("alibaba-cloud", Kind.CAPTCHA, Where.HEADER, "bxpunish:", _S, _KNOWN),
    Signature("alibaba-cloud", Kind.CAPTCHA, Where.BODY, "/_____tmd_____/", _S, _KNOWN),
    Signature("modsecurity", Kind.DENIED, Where.BODY, "this error was generated by mod_security", _S, _KNOWN),
    Signature("litespeed", Kind.CAPTCHA, Where.BODY, "/.lsrecap/", _S, _KNOWN),
    Signature("yandex", Kind.CAPTCHA, Where.URL, "/showcaptcha?", _S, _KNOWN),
    Signature("queue-it", Kind.WAITING_ROOM, Where.URL, ".queue-it.net/", _S, _KNOWN),
    Signature("queue-it", Kind.WAITING_ROOM, Where.BODY, "queue-it.net", _H, "good pages load its script"),
    # Front ends of single large sites that answer robots in their own way
    Signature("linkedin", Kind.LOGIN, Where.HEADER, "x-li-pop:", _H, "recorded with HTTP 999"),
    Signature("linkedin", Kind.LOGIN, Where.HEADER, "x-li-proto:", _H, "recorded with HTTP 999"),
    Signature("reddit", Kind.RATE_LIMIT, Where.HEADER, "server: snooserv", _H, "recorded with HTTP 429"),
    Signature("douban", Kind.DENIED, Where.HEADER, "server: marco/", _H, "recorded with HTTP 418"),
    Signature("weibo", Kind.CHALLENGE, Where.TITLE, "sina visitor system", _S, "recorded with HTTP 200"),
    Signature(
        "youtube",
        Kind.LOGIN,
        Where.BODY,
        '<ytd-app disable-upgrade="true">',
        _W,
        "recorded with HTTP 200, an empty shell",
    ),
    # Waiting rooms of the shops themselves
    Signature("generic", Kind.WAITING_ROOM, Where.BODY, "maximum number of active", _W, "cloudscraper issue 227"),
    Signature("generic", Kind.WAITING_ROOM, Where.BODY, "you are now in line", _W, "common wording"),
    Signature("generic", Kind.WAITING_ROOM, Where.BODY, "waiting room", _W, "common wording"),
    Signature("generic", Kind.WAITING_ROOM, Where.BODY, "warteraum", _W, "common wording"),
    Signature("generic", Kind.WAITING_ROOM, Where.BODY, "virtual queue", _W, "common wording"),
    # Wording that nobody owns
    Signature("generic", Kind.DENIED, Where.TITLE, "access denied", _W, "common wording"),
    Signature("generic", Kind.DENIED, Where.TITLE, "forbidden", _W, "common wording"),
    Signature("generic", Kind.DENIED, Where.TITLE, "you have been blocked", _W, "common wording"),
    Signature("generic", Kind.DENIED, Where.TITLE, "unusual activity", _W, "common wording"),
    Signature("generic", Kind.RATE_LIMIT, Where.TITLE, "too many requests", _W, "RFC 6585's own phrase"),
    Signature("generic", Kind.CAPTCHA, Where.TITLE, "robot check", _W, "inventory-hunter issue 184"),
    Signature("generic", Kind.CAPTCHA, Where.TITLE, "robot or human", _W, "common wording"),
    Signature("generic", Kind.CAPTCHA, Where.TITLE, "are you a robot", _W, "common wording"),
    Signature("generic", Kind.CAPTCHA, Where.TITLE, "human verification", _W, "common wording"),
    Signature("generic", Kind.CAPTCHA, Where.TITLE, "security check", _W, "common wording"),
    Signature("generic", Kind.CAPTCHA, Where.TITLE, "bot verification", _W, "common wording"),
    Signature("generic", Kind.CHALLENGE, Where.TITLE, "checking your browser", _W, "common wording"),
    Signature("generic", Kind.CHALLENGE, Where.TITLE, "one moment, please", _W, "common wording"),
    Signature("generic", Kind.CAPTCHA, Where.TITLE, "captcha", _W, "common wording"),
    Signature("generic", Kind.CAPTCHA, Where.BODY, "enter the characters you see", _W, "inventory-hunter issue 184"),
    Signature("generic", Kind.CAPTCHA, Where.BODY, "not a robot", _W, "common wording"),
    Signature("generic", Kind.CAPTCHA, Where.BODY, "verify you are human", _W, "common wording"),
    Signature("generic", Kind.CAPTCHA, Where.BODY, "verify that you are human", _W, "common wording"),
    Signature("generic", Kind.CAPTCHA, Where.BODY, "unusual traffic", _W, "common wording"),
    Signature("generic", Kind.CAPTCHA, Where.BODY, "complete the captcha", _W, "common wording"),
    Signature("generic", Kind.DENIED, Where.BODY, "access denied", _W, "common wording"),
    Signature("generic", Kind.DENIED, Where.BODY, "you have been blocked", _W, "common wording"),
    Signature("generic", Kind.DENIED, Where.BODY, "automated access", _W, "common wording"),
    Signature("generic", Kind.DENIED, Where.BODY, "your ip address has been", _W, "common wording"),
    Signature("generic", Kind.RATE_LIMIT, Where.BODY, "rate limit", _W, "common wording"),
    Signature("generic", Kind.CHALLENGE, Where.BODY, "checking your browser before accessing", _W, "common wording"),
    # Not "you need to enable JavaScript to run this app": an application's empty page says so, and is no block.
    Signature("generic", Kind.CHALLENGE, Where.BODY, "enable javascript and cookies to continue", _W, "common wording"),
    Signature("generic", Kind.CHALLENGE, Where.BODY, "please turn javascript on and reload", _W, "common wording"),
    Signature(
        "generic",
        Kind.CHALLENGE,
        Where.BODY,
        "enable javascript before you are allowed to see this page",
        _S,
        "https://github.com/sneakypete81/updatescanner/issues/108",
    ),
    Signature("generic", Kind.CHALLENGE, Where.TITLE, "javascript is required", _W, "common wording"),
    Signature("generic", Kind.CHALLENGE, Where.TITLE, "please enable javascript", _W, "common wording"),
)
