"""The stages that run on saved rows: the one place where they are registered (decision 0021)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module

from storebot.core.enrich.price_lows import Lows
from storebot.core.enrich.same_product import SameProduct
from storebot.core.enrich.unit_price import UnitPrices
from storebot.core.score import Confidence
from storebot.core.stage import READABLE, CatalogueStage, ListingStage, Stage
from storebot.db.types import STAGE_LENGTH
from storebot.exceptions import ConfigurationError

BUILT_IN: dict[str, type[Stage]] = {
    "same_product": SameProduct,
    "price_lows": Lows,
    "unit_price": UnitPrices,
    "score": Confidence,
}
ENRICH = ("same_product", "price_lows", "unit_price")  # what `scrapy stage enrich` runs
ALL = "all"
_SETS = {ALL, "enrich"}
_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{STAGE_LENGTH - 1}}}")


def load_stages(own: Mapping[str, str | None]) -> dict[str, Stage]:
    """Return all stages by name, storebot's first; ``own`` is STOREBOT_STAGES, whose None takes one out.

    Raises ConfigurationError, naming the entry, for what can't be imported or isn't a stage.
    """
    stages: dict[str, Stage] = {name: made() for name, made in BUILT_IN.items()}
    for name, path in own.items():
        if not _NAME.fullmatch(name) or name in _SETS:
            raise ConfigurationError(
                f"STOREBOT_STAGES: {name!r} can't be a stage's name: a-z, 0-9 and _, a letter first, and not "
                f"{' or '.join(sorted(_SETS))}"
            )
        if path is None:
            stages.pop(name, None)
        else:
            stages[name] = _made(name, path)
    return stages


def chosen(name: str, stages: Mapping[str, Stage]) -> list[str]:
    """Return the names of the stages that ``name`` stands for, in the order in which they run."""
    if name == ALL:
        return list(stages)
    if name == "enrich":
        return [stage for stage in ENRICH if stage in stages]
    if name not in stages:
        known = [*stages, *sorted(_SETS)]
        near = get_close_matches(name, known, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ConfigurationError(f"stage {name!r}: there is none{hint}; there are {', '.join(known)}")
    return [name]


def _made(name: str, path: str) -> Stage:
    where = f"STOREBOT_STAGES: {name!r}: {path}"
    module, _, attribute = str(path).rpartition(".")
    try:
        found = getattr(import_module(module), attribute)
        stage = found()
    except Exception as error:  # code of a user may raise anything, and an empty module name raises ValueError
        raise ConfigurationError(f"{where}: can't be made: {type(error).__name__}: {error}") from error
    across = hasattr(stage, "derive_all")
    if not isinstance(stage, CatalogueStage if across else ListingStage):
        raise ConfigurationError(
            f"{where}: isn't a stage: it needs `version`, and `reads` with `derive(subject)` or `derive_all(subjects)` "
            "(storebot.core.stage)"
        )
    if not (isinstance(stage.version, str) and 1 <= len(stage.version) <= STAGE_LENGTH):
        raise ConfigurationError(f"{where}: its version must be a text of 1 to {STAGE_LENGTH} characters")
    if isinstance(stage, ListingStage) and not set(stage.reads) <= READABLE:
        raise ConfigurationError(f"{where}: `reads` may name {', '.join(sorted(READABLE))}, not {stage.reads!r}")
    return stage
