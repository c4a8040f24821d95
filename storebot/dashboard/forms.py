"""Forms that were sent: read in bounds, and only believed with the token of the page that they were on."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request

from storebot.core.dashboard.requests import is_form_token

LARGEST = 1_000_000  # bytes: a page of holds, all marked, has 10 KB
MOST_FIELDS = 5_000
_KIND = "application/x-www-form-urlencoded"


async def checked_form(request: Request) -> dict[str, list[str]]:
    """Return the fields of a form with their values. Raises HTTPException where it's none of ours."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"expected a form: {_KIND}")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the form has more than {LARGEST:,} bytes")
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"the form can't be read: {error}") from error
    if not is_form_token(fields.pop("form_token", [""])[0], request.scope.get("cookie", "")):
        text = "The page that this was sent from is too old, or isn't ours; nothing was done. Load it again and repeat."
        raise HTTPException(HTTPStatus.FORBIDDEN, text)
    return fields
