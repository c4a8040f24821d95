"""Signs that a service takes for markup in plain text: escaped for those that would, and for no other.

Apprise escapes plain text for what it sends as HTML (Telegram, mail) and for Slack. These get it as it is, and read it
as Markdown: a name such as ``USB_C hub [2*4]`` would lose its signs (cases N01, N02).
"""

from __future__ import annotations

import re

_SERVICES = frozenset({"discord", "mmost", "mmosts", "rocket", "rockets", "zulip", "guilded"})  # Apprise's schemes
_ADDRESS_OR_SIGN = re.compile(r"(https?://\S+)|([\\*_~`|])|(?m:^)([#>])")


def escaped(text: str, service: str) -> str:
    """Return a plain text as a service shows it as it is. Addresses stay: they'd lead elsewhere."""
    if service not in _SERVICES:
        return text
    return _ADDRESS_OR_SIGN.sub(lambda found: found[1] or f"\\{found[2] or found[3]}", text)
