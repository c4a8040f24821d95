"""Who may do what."""

from __future__ import annotations

import re
from enum import StrEnum

from storebot.exceptions import ConfigurationError

LEAST_PASSWORD = 12  # characters; NIST SP 800-63B asks for 8 at least, and for no rules about kinds of them
MOST_PASSWORD = 256
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


class Role(StrEnum):
    """What a person may do."""

    VIEWER = "viewer"  # look at all pages
    OPERATOR = "operator"  # and act

    @property
    def acts(self) -> bool:
        return self is Role.OPERATOR


def role_named(text: str) -> Role:
    """Return a role by its name. Raises ConfigurationError, which names them all."""
    try:
        return Role(text)
    except ValueError:
        raise ConfigurationError(f"role {text!r}: expected one of {', '.join(Role)}") from None


def check_name(name: str) -> None:
    """Raise ConfigurationError where a user can't be called so."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(f"user {name[:80]!r}: expected up to 64 letters, digits and . _ @ -")


def check_password(password: str) -> None:
    """Raise ConfigurationError for a password that is too short or too long."""
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise ConfigurationError(f"the password has to have {LEAST_PASSWORD} to {MOST_PASSWORD} characters")
