"""What everybody who starts browsers for us is to the tier `attached`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple
from urllib.parse import urlsplit

from storebot.exceptions import FetchFailed
from storebot.fetch.browsing.visitor import Visitor


class ProfileFailed(FetchFailed):
    """Raised where a vendor doesn't start, or make, a profile; its text has the vendor's own words."""


class Profile(NamedTuple):
    """A browser that runs: its id at the vendor's, and the address of its DevTools."""

    id: str
    endpoint: str
    is_ours: bool = False  # made for one visitor, and deleted at the end


class Vendor(ABC):
    """Starts a browser for a visitor and stops it. ``has_profiles``: each is one visitor, in its own first context."""

    has_profiles: ClassVar[bool] = True

    @abstractmethod
    async def start(self, visitor: Visitor) -> Profile:
        """Return a browser for a visitor. Raises ProfileFailed, or TierUnusable where there won't be any."""

    @abstractmethod
    async def stop(self, profile: Profile) -> None:
        """Stop it, and delete it if it's ours. Raises ProfileFailed."""


class Plain(Vendor):
    """A browser that runs already, for all visitors: each has a context of its own. It is never stopped."""

    has_profiles: ClassVar[bool] = False

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint

    @property
    def host(self) -> str:
        """Where it runs."""
        return urlsplit(self._endpoint).hostname or ""

    async def start(self, visitor: Visitor) -> Profile:
        return Profile("", self._endpoint)

    async def stop(self, profile: Profile) -> None:
        """Nothing: it isn't ours."""


def shown(endpoint: str) -> str:
    """Return an endpoint without what may be a key: its path, its query and its credentials."""
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.hostname}:{parts.port}"
