"""Log lines as JSON, one object a line: with the run, the store, and the key of the page that a line is about."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from scrapy.http import Request, Response

from storebot.core.urls import url_key
from storebot.exceptions import ConfigurationError, InvalidURL

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from storebot.stores.model import Store

_FIELDS = "%(levelname)s %(name)s %(message)s"
_NAMES = {"levelname": "level", "name": "logger"}


def write_json(
    handler: logging.Handler, store: Store | None = None, run_id: Callable[[], int] = lambda: 0, kind: str = ""
) -> None:
    """Have a handler write JSON. Raises ConfigurationError where the library isn't installed.

    Each line has ``at`` (UTC), ``level``, ``logger`` and ``message``; those of a run have ``run``, ``store`` and
    ``kind``, and ``key`` where they name an address of one of its products.
    """
    try:
        from pythonjsonlogger.core import RESERVED_ATTRS
        from pythonjsonlogger.orjson import OrjsonFormatter
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"{error}: STOREBOT_LOG_JSON needs it, pip install 'storebot[logs]'") from error

    class RunFormatter(OrjsonFormatter):
        """The library's, with what a line is about."""

        def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
            super().add_fields(log_data, record, message_dict)
            if store is not None:
                log_data |= {"run": run_id() or None, "store": store.name, "kind": kind}
                if (key := key_of(record.args, store)) is not None:
                    log_data["key"] = key

    handler.setFormatter(
        RunFormatter(
            _FIELDS, rename_fields=_NAMES, timestamp="at", reserved_attrs=[*RESERVED_ATTRS, "spider", "taskName"]
        )
    )


def root_handler(settings: BaseSettings) -> logging.Handler:
    """Have all log lines go where Scrapy's settings say (``LOG_FILE``, or stderr), and return the handler."""
    handler: logging.Handler = logging.StreamHandler()
    if path := settings.get("LOG_FILE"):
        mode = "a" if settings.getbool("LOG_FILE_APPEND") else "w"
        handler = logging.FileHandler(path, mode=mode, encoding=settings.get("LOG_ENCODING"))
    handler.setLevel(settings.get("LOG_LEVEL"))
    logging.root.setLevel(logging.NOTSET)
    logging.root.addHandler(handler)
    return handler


def key_of(args: object, store: Store) -> str | None:
    """Return the key of the first address of a product that a line was made with; None where there is none."""
    values: Iterable[object] = args.values() if isinstance(args, Mapping) else args if isinstance(args, tuple) else ()
    for value in values:
        url = value.url if isinstance(value, Request | Response) else value
        if isinstance(url, str) and url.startswith(("http://", "https://")) and store.is_product(url):
            try:
                return url_key(url, store.key_rules)
            except InvalidURL:  # a sentence that begins with an address
                continue
    return None
