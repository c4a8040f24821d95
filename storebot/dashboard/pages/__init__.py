"""The pages: one module each, which declares its views, pictures and deeds. A new page is listed here."""

from __future__ import annotations

from storebot.dashboard.pages import (
    audit,
    blocks,
    changes,
    deciding,
    deliveries,
    exports,
    health,
    holds,
    job_deeds,
    jobs,
    now,
    product,
    product_versions,
    products,
    requeue,
    run,
    run_kept,
    run_visits,
    store,
    store_charts,
    store_deeds,
)
from storebot.dashboard.view import Deed, Foreign, Picture, View

_MODULES = (
    audit,
    blocks,
    changes,
    deciding,
    deliveries,
    exports,
    health,
    holds,
    job_deeds,
    jobs,
    now,
    product,
    product_versions,
    products,
    requeue,
    run,
    run_kept,
    run_visits,
    store,
    store_charts,
    store_deeds,
)

VIEWS: tuple[View, ...] = tuple(one for module in _MODULES for one in getattr(module, "VIEWS", ()))
PICTURES: tuple[Picture, ...] = tuple(one for module in _MODULES for one in getattr(module, "PICTURES", ()))
DEEDS: tuple[Deed, ...] = tuple(one for module in _MODULES for one in getattr(module, "DEEDS", ()))
FOREIGN: tuple[Foreign, ...] = tuple(one for module in _MODULES for one in getattr(module, "FOREIGN", ()))
