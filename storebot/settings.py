"""Scrapy settings of the project; storebot's own are in the last block, each with its reason and its reader.

What a store's owner asks for (delay, concurrency, user agent, robots) is in the store file and is set by
`storebot.spiders.base.StoreSpider`, at Scrapy's "spider" priority: ``-s NAME=VALUE`` wins over it.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec


def _switch(name: str, text: str) -> bool:
    """Read a switch of the environment, where each text would be true (case G02). Raises ValueError."""
    word = text.strip().lower()
    if word not in _WORDS:
        raise ValueError(f"{name}: expected one of {', '.join(filter(None, _WORDS))}, got {text!r}")
    return _WORDS[word]


_WORDS = {"1": True, "true": True, "yes": True, "on": True}
_WORDS |= {"": False, "0": False, "false": False, "no": False, "off": False}

BOT_NAME = "storebot"
SPIDER_MODULES = ["storebot.spiders"]
NEWSPIDER_MODULE = "storebot.spiders"
# Scrapy imports all commands that it finds, with what each needs (numpy, a web server), whichever is asked for. So it
# finds that one; all of them for `scrapy --help`, Scrapy's own commands, and a name that is none.
COMMANDS_MODULE = "storebot.commands"
if sys.argv[1:] and sys.argv[1].isidentifier() and find_spec(f"{COMMANDS_MODULE}.{sys.argv[1]}"):
    COMMANDS_MODULE = f"{COMMANDS_MODULE}.{sys.argv[1]}"

# A polite guest by default: the bot names itself, and asks robots.txt. `[politeness]` of a store file sets the rest.
USER_AGENT = "storebot/0.1 (catalogue monitor; set STOREBOT_CONTACT to your page or address)"
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "storebot"
DOWNLOAD_DELAY = 1.0
DOWNLOAD_DELAY_JITTER = 0.5
CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 1

# One handler for both schemes: a request's tier says by which of the store's tools it is fetched.
# No other scheme has one: no shop leads to a file of this machine.
DOWNLOAD_HANDLERS_BASE: dict[str, str] = {}
DOWNLOAD_HANDLERS = {scheme: "storebot.fetch.handler.LadderDownloadHandler" for scheme in ("http", "https")}
DOWNLOAD_TIMEOUT = 60  # Scrapy's 180 s let one dead page hold a polite crawl for three minutes
DOWNLOAD_VERIFY_CERTIFICATES = True  # off by default in Scrapy 2.19
DOWNLOAD_MAXSIZE = 64 * 1024 * 1024  # the sitemap protocol allows 50 MB uncompressed
RETRY_TIMES = 2
# With 429 and 503, by which the store asks for time: the pacing middleware has the whole host wait first. A product
# page's 429 is the block middleware's, which sees it before.
RETRY_HTTP_CODES = [500, 502, 503, 504, 522, 524, 408, 429]
LOG_LEVEL = "INFO"
FEED_EXPORT_ENCODING = "utf-8"

# Scrapy's default of 100 starts 100 tasks for every response: 0.8 of 2.5 ms a page (SPEED).
CONCURRENT_ITEMS = 1
# Pages are claimed from the database exactly once; a set of all fingerprints would grow with the store.
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"
# By priority, the newest first. Scrapy's default also spreads requests over hosts, by looking at each one's URL twice:
# a run has one host, and the downloader's slots hold each to its delay.
SCHEDULER_PRIORITY_QUEUE = "scrapy.pqueues.ScrapyPriorityQueue"
WARN_ON_GENERATOR_RETURN_VALUE = False  # inspects the source of the callback for every page (7 % of a crawl)
DOWNLOADER = "storebot.lean_engine.Downloader"
ITEM_PROCESSOR = "storebot.lean.ItemPipelineManager"
STATS_CLASS = "storebot.lean.StatsCollector"
LOG_FORMATTER = "storebot.lean.LogFormatter"
STATS_DUMP = False  # the run row and the last line say it; -s STATS_DUMP=1 shows all

# Scrapy's base lists are empty here, and what is used stands below in full: a part that is switched off by None is
# imported nevertheless (the remote control alone brings a web server, 0.2 s of every start), and every part that is on
# is called for every page.
DOWNLOADER_MIDDLEWARES_BASE: dict[str, int] = {}
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}
EXTENSIONS_BASE: dict[str, int] = {}
# Not used: offsite (the spider judges where a redirect ended), httpauth, httpcache, metarefresh (decodes every body).
DOWNLOADER_MIDDLEWARES = {
    "storebot.middlewares.robots.RobotsMiddleware": 100,
    "storebot.lean.HeadersMiddleware": 400,  # DefaultHeaders, UserAgent and DownloadTimeout in one
    "storebot.middlewares.retries.RetryMiddleware": 550,
    # On a response: decompress 590, then blocks 588, then ladder 580, then retry 550. At 900 a block page would be seen
    # compressed.
    "storebot.middlewares.ladder.LadderMiddleware": 580,
    "storebot.middlewares.blocks.BlockMiddleware": 588,
    "storebot.middlewares.unpacking.UnpackingMiddleware": 590,
    "storebot.middlewares.redirects.RedirectMiddleware": 600,
    # Who asks is known before the cookies are put in; what a failure says of a proxy, before anybody tries again.
    "storebot.middlewares.identities.IdentityMiddleware": 690,
    "storebot.lean.CookiesMiddleware": 700,
    "storebot.middlewares.proxies.ProxyMiddleware": 740,
    "storebot.lean.ProxyMiddleware": 750,
    # Sees every answer as it came, and stops what an ending run must not send any more.
    "storebot.middlewares.pacing.PacingMiddleware": 830,
    # When proxies are known, and before a request that isn't sent could be counted.
    "storebot.middlewares.addresses.AddressMiddleware": 835,
    # Whoever comes after it only counts what is sent.
    "storebot.middlewares.budget.BudgetMiddleware": 840,
    "storebot.lean_engine.DownloaderStats": 850,
}
# No spider middleware: every status reaches the spider, which has an outcome for each; depth and referer aren't used.
# Not used: telnet and remote control (both listen on a port in every crawl), logstats (Progress says more), feed export
# (items are visits; exports read the database), spider state, throttle.
EXTENSIONS = {
    "storebot.lean.CoreStats": 0,
    "scrapy.extensions.logcount.LogCount": 0,
    "scrapy.extensions.memusage.MemoryUsage": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
    "storebot.run.Run": 0,
    "storebot.extensions.Breaker": 10,
    "storebot.extensions.Progress": 30,
    "storebot.extensions.Heartbeat": 40,
}
ITEM_PIPELINES = {
    "storebot.pipelines.Normalise": 100,
    "storebot.pipelines.Validate": 200,
    "storebot.pipelines.Fingerprint": 300,
    "storebot.pipelines.Keep": 350,
    "storebot.pipelines.Save": 400,
}

# --- storebot's own settings: also in docs/settings.md ----------------------------------------------------------------

# Where everything is saved. Read by storebot.run and every command. An absolute path (or a server) is required under
# Scrapyd, whose working directory is the daemon's.
STOREBOT_DATABASE_URL = os.environ.get("STOREBOT_DATABASE_URL", "sqlite:///var/storebot.db")
# Folders with store folders of your own, separated as in PATH. Read by the store loader; they win over packaged ones.
STOREBOT_STORES = os.environ.get("STOREBOT_STORES", "")
# A URL or mail address for the user agent, so that a store's owner can reach you. Read by StoreSpider.
STOREBOT_CONTACT = os.environ.get("STOREBOT_CONTACT", "")
# Pages claimed at once: enough to keep the downloader busy, few enough that a crash gives little back. Read by Run.
STOREBOT_CLAIM_BATCH = 200
# How long a claim and the store's lease outlive a silent process. Read by Run, which extends both at a third of it.
STOREBOT_LEASE_S = 300
# Group commit: a transaction is written at so many records or after so many seconds, whichever is first. Read by Run.
STOREBOT_COMMIT_ROWS = 100
STOREBOT_COMMIT_S = 1.0
# Records that may wait for a commit before the crawl waits for the database. Read by pipelines.Save.
STOREBOT_MAX_UNSAVED = 1000
# First wait before a page that failed is tried again, in seconds. Read by Run.
STOREBOT_ERROR_BACKOFF_S = 3600
# The longest pause of a store that asks for time (429, 503), in seconds: one that wants more is left alone until then,
# and the run ends. Read by PacingMiddleware.
STOREBOT_BLOCK_WAIT_MAX_S = 3600
# How old a robots.txt may be that an earlier run read, in seconds, a day at most (RFC 9309 §2.4); 0: each run asks.
# Read by RobotsMiddleware.
STOREBOT_ROBOTS_MAX_AGE_S = 86400
# The most retries of one run, of whatever kind: network errors, fresh identities and proxies after a block, and
# dearer tiers. And, after the first 50, their share of the requests: the budgets that core/retry_budget.py cites have
# 10 and 20 per cent. Read by Run.
STOREBOT_RETRIES_MAX = 5000
STOREBOT_RETRIES_SHARE = 0.3
# How long a run waits while all proxies of a tier rest, in seconds; then it ends, as a shop's [fetch.proxies] is never
# gone without. Longer than the first rest after a block (10 min). Read by IdentityMiddleware.
STOREBOT_PROXY_WAIT_MAX_S = 900
# Days for which single visits are kept; what they cost by day is kept for ever. 0 keeps all. Not below 31: price_lows
# asks how often a page was looked at in 30 days. Read by Run and commands.db.
STOREBOT_VISITS_KEEP_DAYS = 90
# Where pages are kept that couldn't be read, for who mends the store; "" keeps none. Read by FailedPages.
STOREBOT_FAILED_PAGES = os.environ.get("STOREBOT_FAILED_PAGES", "var/failed_pages")
# The most of them that are kept of one store: a redesign breaks all pages in the same way. Read by FailedPages.
STOREBOT_FAILED_PAGES_MAX = 50
# Where the pages that were read are kept, a file a store; "" or "off" keeps none. Read by Keeper and the commands.
STOREBOT_ARCHIVE = os.environ.get("STOREBOT_ARCHIVE", "var/pages")
# Whose attempt this process is: set by the worker, on a Scrapyd node too. Read by commands.crawl, which notes its end.
STOREBOT_JOB = os.environ.get("STOREBOT_JOB", "")
# Which code a Scrapyd node has to run (jobs.own_code); "": any. Set by the worker, read by commands.crawl.
STOREBOT_JOB_CODE = ""
# Where the worker writes what jobs print, a file for each attempt, and for how many days. Read by commands.worker.
STOREBOT_JOB_LOGS = os.environ.get("STOREBOT_JOB_LOGS", "var/jobs")
STOREBOT_JOB_LOGS_KEEP_DAYS = 30
# Jobs that a worker runs at a time: a crawl takes 100 to 200 MB. Read by commands.worker.
STOREBOT_WORKER_CONCURRENCY = 2
# How long a job that is stopped may take to save what it has, before it's killed. Longer than a request may take, less
# than systemd waits (TimeoutStopSec of deploy/storebot-worker.service). Read by commands.worker.
STOREBOT_WORKER_GRACE_S = 60
# Scrapyd nodes that crawl for the worker, as http://user:password@host:6800, separated by spaces; "": crawls are
# processes of its own machine. And the project's name there. Read by commands.worker.
STOREBOT_SCRAPYD_URLS = os.environ.get("STOREBOT_SCRAPYD_URLS", "")
STOREBOT_SCRAPYD_PROJECT = "storebot"
# "json": the last line of a crawl is followed by the same as one JSON line. Read by the crawl command.
STOREBOT_SUMMARY = os.environ.get("STOREBOT_SUMMARY", "")
# The file that says what is told when, TOML; "" tells by the defaults. Who is told is secret, and stands in the
# environment alone. Read by notify.tending.
STOREBOT_ALERTS = os.environ.get("STOREBOT_ALERTS", "")
# Stages of your own: {"name": "dotted.path.Stage"}; None instead of a path takes one of storebot's out. Read by
# commands.stage.
STOREBOT_STAGES: dict[str, str | None] = {}
# "auto": a progress bar on a terminal, lines elsewhere; "bar", "lines" or "off". Read by extensions.Progress and
# commands.stage.
STOREBOT_PROGRESS = os.environ.get("STOREBOT_PROGRESS", "auto")
# True: log lines are JSON, which is the extra storebot[logs]. Read by the crawl command.
STOREBOT_LOG_JSON = _switch("STOREBOT_LOG_JSON", os.environ.get("STOREBOT_LOG_JSON", ""))
if STOREBOT_LOG_JSON:  # Scrapy makes its handler three times over, each time with its own form
    LOG_INSTALL_ROOT_HANDLER = False
# Path of the browser for the tier `browser`; "" for the first Chromium or Chrome on PATH. Read by fetch.browser.
STOREBOT_CHROMIUM = os.environ.get("STOREBOT_CHROMIUM", "")
# The handler of Scrapy's that fetches for the http tier, and calls scraping APIs. Read by fetch.http.
STOREBOT_HTTP_HANDLER = "storebot.fetch.http11.BoundedHTTP11DownloadHandler"
# The fast mode, for stores without a browser tier: aiohttp's client (experimental in Scrapy 2.19) and uvloop, which is
# the extra storebot[fast]. Read here: the reactor is installed before a spider could ask for another loop.
STOREBOT_FAST = _switch("STOREBOT_FAST", os.environ.get("STOREBOT_FAST", ""))
if STOREBOT_FAST:
    ASYNCIO_EVENT_LOOP = "uvloop.Loop"
    STOREBOT_HTTP_HANDLER = "storebot.fetch.fast.CheckedAiohttpDownloadHandler"
