"""What the dashboard's process knows besides the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from storebot.core.alerts.alerting import Rules
from storebot.core.alerts.conditions import Limits
from storebot.core.dashboard.roles import Role
from storebot.db.database import Database
from storebot.exceptions import ConfigurationError, UnknownStore
from storebot.stores import load_store
from storebot.stores.model import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The parts that pages and deeds share."""

    database: Database
    folders: Sequence[str] = ()  # of store files
    archive: Path | None = None  # folder of the page archives; None: none are kept
    failed_pages: Path | None = None  # folder of the pages that couldn't be read; None: none are kept
    exports: Path | None = None  # folder that exports go to
    logs: Path | None = None  # folder of the worker's logs
    disks: Mapping[str, Path] = field(default_factory=dict)  # that `scrapy alerts` looks at, by what they hold
    limits: Limits = field(default_factory=Limits)  # of the alerts file
    rules: Rules = field(default_factory=Rules)  # of the same
    lease_s: float = 60.0
    local_user: str = ""  # who acts where there is no login
    public_url: str = ""  # where TLS is put in front

    def store_file(self, name: str) -> tuple[Store | None, str]:
        """Return a store's file, or why it can't be read."""
        try:
            return load_store(name, list(self.folders)), ""
        except UnknownStore:
            return None, "there is no store file of this name any more"
        except ConfigurationError as error:
            return None, " ".join(str(error).split())


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks: somebody logged in, or who is at this machine."""

    name: str
    role: Role
    login: bool  # whether there is a login to end
    cookie: str  # that form tokens are made of
