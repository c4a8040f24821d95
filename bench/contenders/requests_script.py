"""The script that starts many projects: requests one after another, parsel, one commit per page."""

from __future__ import annotations

import requests
from parsel import Selector

from bench.contenders.common import Database, arguments, finish, read, selectors


def main() -> None:
    """Crawl over one kept connection."""
    urls, path = arguments()
    paths, database, pages = selectors(), Database(path, batch=1), 0
    with requests.Session() as session:
        for url in urls:
            response = session.get(url, timeout=30)
            response.raise_for_status()
            database.save(url, read(Selector(response.text).css, paths))
            pages += 1
    database.close()
    finish(pages, database.saved)


if __name__ == "__main__":
    main()
