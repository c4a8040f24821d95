"""Every key of a store file is documented, in the model and in docs/adding-a-store.md, with the same words."""

from __future__ import annotations

from pathlib import Path

from storebot.stores.keys import Key, known_keys

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "adding-a-store.md"


def row(key: Key) -> str:
    """Return the line of the table that documents a key."""
    name = f"**`[{key.name}]`**" if key.is_section else f"`{key.name}`"
    default = key.default if key.default in ("", "required", "none") else f"`{key.default}`"
    return f"| {name} | {default} | {key.description} |"


def test_every_key_says_what_it_is_for() -> None:
    assert [key.name for key in known_keys() if not key.description.endswith((".", "`.)"))] == []


def test_sections_come_before_their_keys() -> None:
    seen: set[str] = set()
    for key in known_keys():
        section = key.name.rpartition(".")[0]
        assert not section or section in seen
        seen.add(key.name)


def test_the_table_of_the_document_is_the_model() -> None:
    table = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert table[1:] == [row(key) for key in known_keys()]
