"""What needs an extra says which one, where it isn't installed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

import pytest

from storebot.exceptions import ConfigurationError
from storebot.logs import write_json
from storebot.metrics import registry
from storebot.notify.recipients import read_recipients

NEEDS: dict[str, tuple[str, Callable[[], object]]] = {
    "apprise": ("alerts", lambda: read_recipients({"STOREBOT_ALERTS_OPERATOR": "json://s.example"})),
    "prometheus_client": ("metrics", lambda: registry(list)),
    "pythonjsonlogger": ("logs", lambda: write_json(logging.NullHandler())),
}


@pytest.mark.parametrize("module", NEEDS)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra, use = NEEDS[module]
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigurationError, match=rf"pip install 'storebot\[{extra}\]'"):
        use()


def test_nobody_needs_an_extra_who_tells_nobody() -> None:
    assert [*read_recipients({}).values()] == [(), ()]
