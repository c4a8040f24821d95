"""Store files for tests: written into a folder of their own, and read back."""

from __future__ import annotations

from pathlib import Path

from storebot.stores import Store, load_store

LEAST = 'base_url = "https://shop.example"\nproduct_url = "/p/"\n'


def written(folder: Path, text: str, name: str = "acme") -> Path:
    """Write the file of a store into ``folder`` and return its path."""
    path = folder / name / "store.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str = LEAST, base_url: str | None = None) -> Store:
    """Return the store that a file with this text declares."""
    written(folder, text)
    return load_store("acme", [folder], base_url=base_url)
