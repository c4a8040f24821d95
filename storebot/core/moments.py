"""Times that people write in arguments."""

from __future__ import annotations

from datetime import UTC, datetime

from storebot.exceptions import ConfigurationError


def moment_ms(option: str, text: str) -> int:
    """Return a time such as 2026-11-30, 2026-11-30T08:00 or 2026-11-30T08:00+01:00, in milliseconds since the epoch.

    Without an offset it is UTC. `ConfigurationError` names the option where it is none.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigurationError(f"{option} {text}: expected a time such as 2026-11-30 or 2026-11-30T08:00") from None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
