"""By which user agent a browser names itself to a store."""

from __future__ import annotations

from storebot.stores.model import Store


def whole_agent(store: Store, user_agent: str, bot_name: str) -> str:
    """Return the whole user agent where somebody set one; "" where the browser's own is sent, and the bot's behind it.

    What was set is said at the start of the run (`core.overrides`).
    """
    return user_agent if store.politeness.user_agent or bot_name.lower() not in user_agent.lower() else ""
