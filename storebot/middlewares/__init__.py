"""Downloader middlewares: thin shells around decisions that live in storebot.core."""
