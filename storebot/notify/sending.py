"""Delivering one message to one recipient, by Apprise."""

from __future__ import annotations

from storebot.core.alerts.markup import escaped
from storebot.core.alerts.message import Message
from storebot.notify.recipients import Recipient, apprise, hushed

TIMEOUT_S = 30.0


def deliver(recipient: Recipient, message: Message) -> str:
    """Send a message; return "" when its service took it, else why not, in one line without secrets.

    The text is plain: Apprise, or `escaped`, has each service show it as it is.
    """
    library = apprise()
    asset = library.AppriseAsset(app_id="storebot", app_desc="storebot", app_url="", async_mode=False)
    sender = library.Apprise(asset=asset)
    with hushed():
        service = library.Apprise.instantiate(recipient.url, asset=asset)
        if service.overflow_mode == library.OverflowMode.UPSTREAM:  # which a service answers with "too long"
            service.overflow_mode = library.OverflowMode.SPLIT
        sender.add(service)
        result = sender.notify(
            title=escaped(message.title, recipient.service),
            body=escaped(message.body, recipient.service),
            notify_type=message.severity.value,
            body_format=library.NotifyFormat.TEXT,
            timeout=TIMEOUT_S,
        )
    if result:
        return ""
    said = " ".join(entry.message for entry in result.logs()) or f"not delivered: {result.status}"
    return recipient.without_secrets(" ".join(said.split()))[:300]
