"""Webhooks: changes of stores are posted to who subscribed to them."""
