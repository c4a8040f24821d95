"""The crawlers that storebot is measured beside: scripts ``URLS_FILE DATABASE_FILE``, each printing one JSON line."""
