"""What a browser does with the dashboard's forms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from httpx2 import Response
from starlette.testclient import TestClient

from storebot.core.dashboard.requests import form_token as made_of
from storebot.dashboard.gatekeeper import SESSION, VISIT

_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


def form_token(client: TestClient, path: str = "/audit") -> str:
    """Return the token of the forms of a page; where it has none, the one that they would have."""
    found = _TOKEN.search(client.get(path).text)
    return found[1] if found else made_of(client.cookies.get(SESSION) or client.cookies.get(VISIT) or "")


def post(client: TestClient, path: str, fields: Mapping[str, str | Sequence[str]], *, page: str = "/audit") -> Response:
    """Send a form that is on a page."""
    data = {"form_token": form_token(client, page), "back": page, **fields}
    return client.post(path, data=data)
