"""Webhooks, decided: which changes a subscription wants, how a message is signed, and what an answer means."""
