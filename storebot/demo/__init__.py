"""The demo store: a believable shop on loopback, grown from a seed, with a clock and a switchboard of lies."""

from __future__ import annotations

from storebot.demo.client import DemoClient
from storebot.demo.running import DemoProcess, DemoStore

__all__ = ["DemoClient", "DemoProcess", "DemoStore"]
