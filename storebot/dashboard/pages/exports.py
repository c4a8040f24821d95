"""Exports: what was handed on, how far it may be believed, and whether its files are still what they were."""

from __future__ import annotations

from storebot.core.dashboard.paging import as_text, from_text
from storebot.dashboard import export_files
from storebot.dashboard.export_files import Found
from storebot.dashboard.view import Ask, Deed, Facts, NotFound, Order, Told, View
from storebot.exceptions import ExportFailed
from storebot.exports.verifying import faults, manifest_in

_PER_PAGE = 30
_MOST_FAULTS = 5  # that are told one by one


def read(ask: Ask) -> Facts:
    """Return the exports of a store, or the newest of each."""
    folder, store = ask.site.exports, ask.query.get("store", "")
    known = export_files.stores(folder)
    before = str(from_text(ask.query["after"], (str,))[0]) if ask.query.get("after") else ""
    rows = export_files.of_store(folder, store, before, _PER_PAGE) if store else []
    more = rows[_PER_PAGE - 1].name if len(rows) > _PER_PAGE else ""
    newest = [found for name in known for found in export_files.of_store(folder, name, "", 0)] if not store else []
    return {
        "store": store,
        "stores": known,
        "folder": str(folder) if folder else "",
        "rows": [_facts(one) for one in (rows[:_PER_PAGE] if store else newest)],
        "next": as_text((more,)) if more else None,
    }


def one(ask: Ask) -> Facts:
    """Return an export with its manifest."""
    store, name = ask.path["store"], ask.path["name"]
    where = export_files.place(ask.site.exports, store, name)
    if where is None:
        raise NotFound("there is no such export here")
    try:
        manifest = manifest_in(where)[1]
    except ExportFailed as error:
        raise NotFound(str(error)) from error
    return {"store": store, "name": name, "manifest": dict(manifest)}


def _facts(found: Found) -> Facts:
    said = found.manifest or {}
    return {
        "store": found.store,
        "name": found.name,
        "why": found.why,
        "whole": found.manifest is not None,
        **{name: said.get(name) for name in ("what", "status", "reason", "stale_since", "taken_at", "rows")},
        "formats": sorted({str(one.get("format")) for one in said.get("files", ())}),
        "size_bytes": sum(int(one.get("size_bytes", 0)) for one in said.get("files", ())),
    }


def _tell(order: Order) -> Told:
    store, name = order.path["store"], order.path["name"]
    if export_files.place(order.site.exports, store, name) is None:
        raise ValueError("there is no such export here")
    return Told(store, f"export {name}")


def _verify(order: Order) -> str:
    where = export_files.place(order.site.exports, order.path["store"], order.path["name"])
    if where is None:
        raise ValueError("there is no such export any more")
    _, manifest = manifest_in(where)
    found = [one.removeprefix(f"{where}/") for one in faults(where, manifest)]
    if found:
        more = f"; and {len(found) - _MOST_FAULTS} more" if len(found) > _MOST_FAULTS else ""
        raise ExportFailed(f"it isn't what its manifest says: {'; '.join(found[:_MOST_FAULTS])}{more}")
    return f"all {len(manifest['files'])} files are what the manifest says"


VIEWS = (
    View("/exports", "exports", "exports.html", read, parameters=("store", "after")),
    View("/exports/{store}/{name}", "export", "export.html", one),
)
DEEDS = (Deed("/exports/{store}/{name}/verify", "verify_export", _tell, _verify),)
