"""Signatures of Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence

from storebot.exceptions import ConfigurationError

PREFIX = "whsec_"
_LEAST_BYTES = 24  # and at most 64, says the specification
_MOST_BYTES = 64


def read_secrets(variable: str, text: str) -> tuple[bytes, ...]:
    """Return the keys of a variable: one, or while a key is replaced several, separated by spaces.

    Raises ConfigurationError with the variable's name, and never with the text.
    """
    found = tuple(_key(variable, place, word) for place, word in enumerate(text.split(), 1))
    if not found:
        raise ConfigurationError(f"{variable} isn't set in the environment: expected {PREFIX} and 32 bytes in base64")
    return found


def signed(message_id: str, at_s: int, body: bytes, keys: Sequence[bytes]) -> dict[str, str]:
    """Return the headers that prove who sent a body, and when: a signature by each key, the first key's first."""
    content = f"{message_id}.{at_s}.".encode() + body
    signatures = [base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode() for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at_s),
        "webhook-signature": " ".join(f"v1,{one}" for one in signatures),
    }


def _key(variable: str, place: int, word: str) -> bytes:
    wrong = f"{variable}: secret {place} isn't {PREFIX} and {_LEAST_BYTES} to {_MOST_BYTES} bytes in base64"
    if not word.startswith(PREFIX):
        raise ConfigurationError(wrong)
    try:
        key = base64.b64decode(word.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise ConfigurationError(wrong) from None
    if not _LEAST_BYTES <= len(key) <= _MOST_BYTES:
        raise ConfigurationError(wrong)
    return key
