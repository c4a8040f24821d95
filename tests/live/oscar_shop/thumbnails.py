"""Thumbnails that are the picture itself: nobody looks at this shop."""

from __future__ import annotations

from types import SimpleNamespace


class AsUploaded:
    """What oscar's templates ask for a small picture (``OSCAR_THUMBNAILER``)."""

    def generate_thumbnail(self, source: object, **_: object) -> SimpleNamespace:
        return SimpleNamespace(url=f"/media/{source}")  # a file's name, or that of "no picture"

    def delete_thumbnails(self, source: object) -> None:
        """There is nothing to delete."""
