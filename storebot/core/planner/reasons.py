"""Why a page is fetched, in words that somebody understands who hasn't read the planner."""

from __future__ import annotations

from storebot.core.planner.hazard import Flag
from storebot.core.planner.lanes import Lane

LANES = {
    Lane.LISTING: "pages of the catalogue: their cards show many products at once",
    Lane.NEW: "found, and never read",
    Lane.SIGNAL: "a card or the sitemap says that it changed",
    Lane.HAZARD: "a change is likely, by how often it changed before",
    Lane.SWEEP: "not looked at for the longest time",
    Lane.AUDIT: "at random, to know what is missed",
    Lane.DUE: "its interval is over, or it's time to ask again",
}
_SIGNALS = {
    Flag.CHECKED: "its sitemap entry moved, and its card shows no change",
    Flag.LASTMOD: "its sitemap entry moved",
    Flag.DIFFERS: "its card shows something else, or vanished",
}


def reason(lane: Lane, flag: Flag, rate: float, since_h: float) -> str:
    """Return why one page is fetched; ``rate`` is changes an hour, ``since_h`` the age of its last look."""
    seen = f"last looked at {ago(since_h)} ago"
    match lane:
        case Lane.NEW:
            return LANES[lane]
        case Lane.SIGNAL if flag in _SIGNALS:
            return f"{_SIGNALS[flag]}; {seen}"
        case Lane.HAZARD:
            return f"changes about every {ago(1 / rate)}; {seen}"
        case Lane.AUDIT:
            return f"at random; {seen}"
    return seen


def ago(hours: float) -> str:
    """Return a time as a person says it: minutes below an hour, hours below three days."""
    if hours < 1:
        return f"{hours * 60:.0f} min"
    return f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} d"
