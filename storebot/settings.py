"""Scrapy settings of the project; storebot's own are in the last block, each with its reason and its reader.

What a store's owner asks for (delay, concurrency, user agent, robots) is in the store file and is set by
`storebot.spiders.base.StoreSpider`, at Scrapy's "spider" priority: ``-s NAME=VALUE`` wins over it.
"""

from __future__ import annotations

import os

BOT_NAME = "storebot"
SPIDER_MODULES = ["storebot.spiders"]
NEWSPIDER_MODULE = "storebot.spiders"
COMMANDS_MODULE = "storebot.commands"

# A polite guest by default: the bot names itself, and asks robots.txt. `[politeness]` of a store file sets the rest.
USER_AGENT = "storebot/0.1 (catalogue monitor; set STOREBOT_CONTACT to your page or address)"
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "storebot"
DOWNLOAD_DELAY = 1.0
DOWNLOAD_DELAY_JITTER = 0.5
CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 1

DOWNLOAD_TIMEOUT = 60  # Scrapy's 180 s let one dead page hold a polite crawl for three minutes
DOWNLOAD_VERIFY_CERTIFICATES = True  # off by default in Scrapy 2.19
DOWNLOAD_MAXSIZE = 64 * 1024 * 1024  # the sitemap protocol allows 50 MB uncompressed
RETRY_TIMES = 2
# Without 429 and 503: those are the store asking for time, and the block middleware waits and tries once more.
RETRY_HTTP_CODES = [500, 502, 504, 522, 524, 408]
LOG_LEVEL = "INFO"
FEED_EXPORT_ENCODING = "utf-8"

# Scrapy's default of 100 starts 100 tasks for every response: 0.8 of 2.5 ms a page (SPEED).
CONCURRENT_ITEMS = 1
# Pages are claimed from the database exactly once; a set of all fingerprints would grow with the store.
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"
WARN_ON_GENERATOR_RETURN_VALUE = False  # inspects the source of the callback for every page (7 % of a crawl)
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
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": 550,
    # On a response: decompress 590, then blocks 588, then retry 550. At 900 a block page would be seen compressed.
    "storebot.middlewares.blocks.BlockMiddleware": 588,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": 590,
    "storebot.middlewares.redirects.RedirectMiddleware": 600,
    "storebot.lean.CookiesMiddleware": 700,
    "storebot.lean.ProxyMiddleware": 750,
    "scrapy.downloadermiddlewares.stats.DownloaderStats": 850,
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
    "storebot.extensions.CrawlDelay": 20,
    "storebot.extensions.Progress": 30,
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
# How long a block page or a 429 may make one visit wait before its one retry, in seconds, and a robots.txt that isn't
# answered each of its two. Read by BlockMiddleware and RobotsMiddleware.
STOREBOT_BLOCK_WAIT_MAX_S = 60
# Where pages are kept that couldn't be read, for who mends the store; "" keeps none. Read by FailedPages.
STOREBOT_FAILED_PAGES = os.environ.get("STOREBOT_FAILED_PAGES", "var/failed_pages")
# The most of them that are kept of one store: a redesign breaks all pages in the same way. Read by FailedPages.
STOREBOT_FAILED_PAGES_MAX = 50
# Where the pages that were read are kept, a file a store; "" or "off" keeps none. Read by Keeper and the commands.
STOREBOT_ARCHIVE = os.environ.get("STOREBOT_ARCHIVE", "var/pages")
# "json": the last line of a crawl is followed by the same as one JSON line. Read by the crawl command.
STOREBOT_SUMMARY = os.environ.get("STOREBOT_SUMMARY", "")
# Stages of your own: {"name": "dotted.path.Stage"}; None instead of a path takes one of storebot's out. Read by
# commands.stage.
STOREBOT_STAGES: dict[str, str | None] = {}
# "auto": a progress bar on a terminal, lines elsewhere; "bar", "lines" or "off". Read by extensions.Progress and
# commands.stage.
STOREBOT_PROGRESS = os.environ.get("STOREBOT_PROGRESS", "auto")
# The fast mode, for stores without a browser tier: aiohttp's client (experimental in Scrapy 2.19) and uvloop, which is
# the extra storebot[fast]. Read here: the reactor is installed before a spider could ask for another loop.
STOREBOT_FAST = os.environ.get("STOREBOT_FAST", "").strip().lower() in ("1", "true", "yes", "on")
if STOREBOT_FAST:
    ASYNCIO_EVENT_LOOP = "uvloop.Loop"
    DOWNLOAD_HANDLERS = {
        scheme: "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler" for scheme in ("http", "https")
    }
