"""The worker: what runs jobs, here or on Scrapyd nodes. What becomes of each is decided in `core.jobs`."""
