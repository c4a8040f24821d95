"""Who is there: by a login, or at this machine where nobody needs one."""

from __future__ import annotations

import secrets
import time
from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from storebot.core.dashboard.roles import MOST_PASSWORD, Role
from storebot.core.dashboard.throttle import Throttle
from storebot.dashboard.site import Site, Visitor
from storebot.db import users
from storebot.db.retry import retrying

_FREE_BY_NAME = 5  # failures before one has to wait
_FREE_BY_PEER = 30  # many people may share an address


class Guests:
    """Knows the visitors. Passwords are hashed with Argon2id, with the library's parameters (RFC 9106)."""

    def __init__(self, site: Site) -> None:
        self._site, self._hasher = site, PasswordHasher()
        self._by_name, self._by_peer = Throttle(_FREE_BY_NAME), Throttle(_FREE_BY_PEER)

    @cached_property
    def _nobody(self) -> str:
        """A hash that no password fits."""
        return self._hasher.hash(secrets.token_hex())

    @property
    def secure(self) -> bool:
        """Whether browsers may send the cookies over TLS only."""
        return self._site.public_url.startswith("https://")

    @property
    def public_url(self) -> str:
        return self._site.public_url

    @property
    def prefix(self) -> str:
        """Return what a cookie's name begins with: nobody but this very host may set one called so."""
        return "__Host-" if self.secure else ""

    def need_login(self) -> bool:
        """Whether there are users: then everybody has to log in, from this machine too."""
        with self._site.database.explaining(), self._site.database.read() as conn:
            return users.any_user(conn)

    def local(self, cookie: str) -> Visitor:
        """Return who is at this machine: who can read the database may do all of it."""
        return Visitor(self._site.local_user, Role.OPERATOR, False, cookie)

    def known(self, token: str) -> Visitor | None:
        """Return who logged in under a token."""
        if not token:
            return None
        database = self._site.database
        with database.explaining(), database.read() as conn:
            found = users.of_token(conn, token)
        if found is None:
            return None
        user, stale = found
        if stale:
            retrying(database, lambda conn: users.touch(conn, token))
        return Visitor(user.name, user.role, True, token)

    def wait_s(self, name: str, peer: str) -> float:
        """Return how long the next try has to wait."""
        now_s = time.monotonic()
        return max(self._by_name.wait_s(name, now_s), self._by_peer.wait_s(peer, now_s))

    def log_in(self, name: str, password: str, peer: str) -> str | None:
        """Return the token of a new login; None where name and password don't fit. It takes as long for each name."""
        database = self._site.database
        with database.explaining(), database.read() as conn:
            user = users.named(conn, name)
        fits = self._fits(user.password_hash if user else self._nobody, password[: MOST_PASSWORD + 1])
        if user is None or not fits:
            now_s = time.monotonic()
            self._by_name.failed(name, now_s)
            self._by_peer.failed(peer, now_s)
            return None
        self._by_name.succeeded(name)
        token = secrets.token_urlsafe(32)
        retrying(database, lambda conn: users.log_in(conn, name, token))
        return token

    def log_out(self, token: str) -> None:
        """End a login."""
        retrying(self._site.database, lambda conn: users.log_out(conn, token))

    def _fits(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False
