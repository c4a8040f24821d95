"""The process behind `DemoProcess`: takes one JSON argument, prints its address, serves until its parent is gone."""

from __future__ import annotations

import json
import sys

from storebot.demo.options import ShopOptions
from storebot.demo.running import run


def main() -> None:
    """Serve the store that the argument describes."""
    arguments = json.loads(sys.argv[1])
    options = ShopOptions(**arguments["options"])
    run(options, arguments["host"], arguments["port"], lambda url: print(url, flush=True), orphan=True)


if __name__ == "__main__":
    main()
