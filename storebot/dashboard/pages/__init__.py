"""The pages: one module each, which declares its views, pictures and deeds. A new page is listed here."""

from __future__ import annotations

from storebot.dashboard.pages import audit
from storebot.dashboard.view import Deed, Picture, View

_MODULES = (audit,)

VIEWS: tuple[View, ...] = tuple(one for module in _MODULES for one in getattr(module, "VIEWS", ()))
PICTURES: tuple[Picture, ...] = tuple(one for module in _MODULES for one in getattr(module, "PICTURES", ()))
DEEDS: tuple[Deed, ...] = tuple(one for module in _MODULES for one in getattr(module, "DEEDS", ()))
