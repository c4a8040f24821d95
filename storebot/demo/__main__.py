"""The process behind `DemoProcess`: takes one JSON argument, prints where it is, serves until its parent is gone."""

from __future__ import annotations

import json
import sys

from storebot.demo.options import ShopOptions
from storebot.demo.running import run
from storebot.demo.server import Opened


def main() -> None:
    """Serve the store that the argument describes."""
    arguments = json.loads(sys.argv[1])
    options = ShopOptions(**arguments["options"])
    run(options, arguments["host"], arguments["port"], _announce, orphan=True)


def _announce(opened: Opened) -> None:
    print(json.dumps([opened.url, str(opened.certificate or "")]), flush=True)


if __name__ == "__main__":
    main()
