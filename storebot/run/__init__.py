"""One execution over one store: what spider, middlewares, pipelines and extensions share while it lasts.

They find it with ``crawler.get_extension(Run)``; none of them talks to the database but through it.
"""

from __future__ import annotations

from storebot.run.run import Run

__all__ = ["Run"]
