"""Scrapy commands of the project: options, one call, an exit code."""
