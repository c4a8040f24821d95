"""The documentation against the code: what it names exists, what exists is named, and its links lead somewhere."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path
from urllib.parse import unquote

import pytest

from storebot.core.job_kinds import KINDS
from storebot.core.jobs import VERDICTS, Verdict
from storebot.core.summary import Summary
from storebot.demo.lies import LIES
from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus
from storebot.stores import load_store

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
README, MAKEFILE = ROOT / "README.md", ROOT / "Makefile"
SETTINGS, COMMANDS = ROOT / "docs" / "settings.md", ROOT / "docs" / "commands.md"

# How CONTRIBUTING.md says where things go, and what a store's folder may hold.
EXAMPLES = {"storebot/x/y.py", "tests/x/test_y.py", "product.py", "catalogue.py"}

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CELL = re.compile(r"(?<!\\)\|")

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def table(path: Path, *headers: str) -> list[list[str]]:
    """Return the rows of the one table of a document whose header begins with these words."""
    lines = text(path).splitlines()
    starts = [number for number, line in enumerate(lines) if cells(line)[: len(headers)] == list(headers)]
    assert len(starts) == 1, f"{path.name}: {len(starts)} tables begin with {headers}"
    found: list[list[str]] = []
    for line in lines[starts[0] + 2 :]:
        if not line.startswith("|"):
            break
        found.append(cells(line))
    return found


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(line.strip().strip("|"))] if line.startswith("|") else []


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture
def defaults(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Return storebot's own settings as they are where the environment says nothing."""
    source = text(ROOT / "storebot" / "settings.py")
    for name in set(re.findall(r"STOREBOT_[A-Z_]+", source)):
        monkeypatch.delenv(name, raising=False)
    settings = runpy.run_path(str(ROOT / "storebot" / "settings.py"))
    return {name: value for name, value in settings.items() if name.startswith("STOREBOT_")}


def test_settings_are_documented_with_their_defaults_and_no_others(defaults: dict[str, object]) -> None:
    rows = table(SETTINGS, "setting", "default")
    documented = {named(name)[0]: ast.literal_eval(named(default)[0]) for name, default, *_ in rows}
    assert documented == defaults
    assert len(rows) == len(documented)


def test_settings_say_which_of_them_the_environment_sets() -> None:
    source = text(ROOT / "storebot" / "settings.py")
    by_environment = set(re.findall(r'environ\.get\("(STOREBOT_[A-Z_]+)"', source))
    assert {named(row[0])[0] for row in table(SETTINGS, "setting") if row[2] == "env"} == by_environment


def test_settings_are_read_where_they_are_said_to_be_read() -> None:
    wrong = [
        f"{setting} isn't in {reader}"
        for row in table(SETTINGS, "setting")
        for setting in named(row[0])
        for reader in named(row[4])
        if setting not in text(ROOT / "storebot" / reader)
    ]
    assert not wrong


@each_document
def test_a_document_names_no_setting_that_does_not_exist(document: Path, defaults: dict[str, object]) -> None:
    used = {name for path in (ROOT / "tests").rglob("*.py") for name in re.findall(r"STOREBOT_[A-Z_]+", text(path))}
    assert set(re.findall(r"STOREBOT_[A-Z_]*[A-Z]", text(document))) <= defaults.keys() | used


def test_every_command_has_its_place_in_the_docs() -> None:
    modules = {path.stem for path in (ROOT / "storebot" / "commands").glob("*.py")} - {"__init__"}
    assert {row[0] for row in table(COMMANDS, "command")} == {f"`scrapy {name}`" for name in modules}
    headings = set(re.findall(r"^## (\w+)$", text(COMMANDS), re.MULTILINE))
    assert headings == modules


def test_exit_codes_of_the_readme_are_those_of_the_code() -> None:
    documented = {int(code): name for code, name, _ in table(README, "code", "name")}
    assert documented == {int(code): code.name.lower().replace("_", " ") for code in ExitCode}


def test_outcomes_of_the_docs_are_those_of_the_code() -> None:
    assert {named(row[0])[0] for row in table(COMMANDS, "outcome")} == {outcome.value for outcome in Outcome}


def test_every_pair_of_the_last_line_is_explained() -> None:
    told = {"reason": "why", "missed": ("that",), "currency": "EUR", "tiers": {"api": 1}}
    line = Summary(kind="refresh", store="acme", outcomes={}, **told).line()  # type: ignore[arg-type]  # of many types
    pairs = set(re.findall(r"(\w+)=", line))
    assert {name for row in table(COMMANDS, "pair") for name in named(row[0])} - {"new", "error"} == pairs


def test_statuses_of_a_run_are_explained() -> None:
    (row,) = [row for row in table(COMMANDS, "pair") if row[0] == "`status`"]
    assert set(named(row[1])) == {status.value for status in RunStatus} - {RunStatus.RUNNING}


def test_lies_of_the_docs_are_those_of_the_demo_store() -> None:
    rows = [*table(COMMANDS, "lie"), *table(COMMANDS, "guard")]
    documented = {named(name)[0]: set(named(options)) for name, _, options in rows}
    assert documented == {name: set(lie.defaults) for name, lie in LIES.items()}


def test_what_becomes_of_a_job_is_explained_for_each_exit_code_and_verdict() -> None:
    rows = table(ROOT / "docs" / "operating.md", "exit", "verdict")
    documented = {code: named(verdict)[0] for code, verdict, _ in rows}
    assert {code: documented[code] for code in documented if code.isdecimal()} == {
        str(code): verdict.value for code, verdict in VERDICTS.items()
    }
    assert set(documented.values()) == {verdict.value for verdict in Verdict}


def test_kinds_of_jobs_are_those_of_the_code_with_their_arguments() -> None:
    documented = {named(kind)[0]: named(arguments) for kind, _, arguments in table(COMMANDS, "kind", "runs")}
    assert documented == {name: list(kind.arguments) for name, kind in KINDS.items()}


@each_document
def test_links_of_a_document_lead_to_a_file_and_a_heading(document: Path) -> None:
    dead = []
    for link in _LINK.findall(_CODE_BLOCK.sub("", text(document))):
        address, _, heading = unquote(link).partition("#")
        if "://" in address:
            continue
        target = document.parent / address if address else document
        if not target.exists() or (heading and heading not in anchors(target)):
            dead.append(link)
    assert not dead


def anchors(document: Path) -> set[str]:
    """Return the anchors that a forge makes of headings: lower case, spaces to hyphens, other signs gone."""
    headings = re.findall(r"^#+ (.+)$", _CODE_BLOCK.sub("", text(document)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@each_document
def test_modules_that_a_document_names_exist(document: Path) -> None:
    modules = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", text(document))) - EXAMPLES
    assert not [name for name in modules if not any((base / name).exists() for base in (ROOT / "storebot", ROOT))]


@each_document
def test_make_targets_that_a_document_names_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", text(MAKEFILE), re.MULTILINE))
    commands = re.findall(r"(?:`|^    )make ([a-z]+)", text(document), re.MULTILINE)
    assert set(commands) <= targets
    if document == README:
        assert commands[:2] == ["demo", "test"]


def test_the_store_file_of_the_readme_is_valid_and_has_five_lines(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```$", text(README), re.MULTILINE | re.DOTALL)
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "store.toml").write_text(example, encoding="utf-8")
    store = load_store("acme", [tmp_path])
    assert store.product_pattern.search("https://acme.example/products/anvil")
    assert len(example.splitlines()) == 5


def test_layers_of_the_docs_are_those_that_are_checked() -> None:
    config = text(ROOT / ".importlinter")
    declared = re.findall(r"layers =\n(.*?)\nexhaustive", config, re.DOTALL)[0]
    present = {
        path.stem for path in (ROOT / "storebot").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    checked = [[name for name in re.findall(r"\w+", line) if name in present] for line in declared.splitlines()]
    documented = [named(layer) for layer, _ in table(ROOT / "docs" / "architecture.md", "layer")]
    assert documented == [layer for layer in checked if layer]


def test_every_decision_says_context_choice_refused_and_consequences() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    numbers = [page.name[:4] for page in pages]
    assert numbers == [f"{number:04}" for number in range(1, len(pages) + 1)]
    for page in pages:
        assert re.findall(r"^## (\w+)$", text(page), re.MULTILINE) == ["Context", "Choice", "Refused", "Consequences"]
        assert text(page).startswith(f"# {page.name[:4]}: ")
