"""The two phases as Scrapy spiders: backfill walks the whole store once, refresh revisits what is known."""
