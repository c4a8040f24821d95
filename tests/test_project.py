"""The project's outside: what make promises, what is pinned, what the wheel holds, who may import whom."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import storebot

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "bench/requirements.txt")


def run(*argv: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


def pins(name: str) -> dict[str, str]:
    """Return the lines of a requirements file that install something, by package."""
    lines = [line.strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    wanted = [line for line in lines if line and not line.startswith(("#", "-r "))]
    return {re.split(r"[=<>~! ;\[]", line)[0].lower().replace("_", "-"): line for line in wanted}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_make_help_lists_every_target() -> None:
    if shutil.which("make") is None:
        pytest.skip("make isn't installed")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    declared = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert declared
    shown = run("make", "--no-print-directory", "help").stdout
    for target in declared[1].split():
        assert re.search(rf"make {target}\t\S", shown), f"{target}: no `## sentence` behind it"


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_is_pinned_to_one_version(name: str) -> None:
    loose = [line for line in pins(name).values() if not re.match(r"[\w.\-]+==[\w.]+( ; .+)?$", line)]
    assert not loose


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_name_no_registry(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*-(-index-url|-extra-index-url|i |f |-find-links)", text, re.MULTILINE)


def test_one_package_has_one_version_in_all_requirements() -> None:
    versions: dict[str, set[str]] = {}
    for name in REQUIREMENTS:
        for package, line in pins(name).items():
            versions.setdefault(package, set()).add(line)
    assert {package: lines for package, lines in versions.items() if len(lines) > 1} == {}


def test_every_dependency_is_pinned_in_requirements(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *(line for lines in extras.values() for line in lines)]
    names = {re.split(r"[=<>~! ;\[]", line)[0] for line in wanted} - {"storebot"}
    assert names <= pins("requirements.txt").keys()


def test_the_extra_all_holds_every_other_extra(project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(everything.removeprefix("storebot[").removesuffix("]").split(",")) == extras.keys() - {"all"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel from a copy of what git would hold, with the setuptools of this environment."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "storebot", source / "storebot", ignore=shutil.ignore_patterns("__pycache__"))
    coded = source / "storebot" / "stores" / "coded-shop"  # a store's folder need not be a name of Python
    coded.mkdir()
    for name in ("store.toml", "product.py", "catalogue.py"):
        (coded / name).write_text("")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = run(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(target), str(source)
    )
    assert build.returncode == 0, build.stderr
    (path,) = target.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    """Store files and migrations are read at run time: one that is left behind fails only when installed."""
    packaged = {name for name in wheel.namelist() if name.startswith("storebot/")}
    present = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "storebot").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert present - packaged == set()
    assert any(name.startswith("storebot/db/migrations/versions/") for name in packaged)
    assert "storebot/stores/books/store.toml" in packaged
    assert {f"storebot/stores/coded-shop/{name}" for name in ("store.toml", "product.py", "catalogue.py")} <= packaged


def test_the_wheel_says_the_version_and_scrapys_entry_point(wheel: zipfile.ZipFile) -> None:
    about = f"storebot-{storebot.__version__}.dist-info"
    assert "settings = storebot.settings" in wheel.read(f"{about}/entry_points.txt").decode()
    assert f"\nVersion: {storebot.__version__}\n" in wheel.read(f"{about}/METADATA").decode()


def test_imports_keep_to_the_layers() -> None:
    done = run(str(Path(sys.executable).with_name("lint-imports")), "--no-cache")
    assert done.returncode == 0, done.stdout


def test_an_import_against_the_layers_is_found(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "storebot", tmp_path / "storebot", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    (tmp_path / "storebot" / "core" / "wrong.py").write_text("import scrapy\nfrom storebot import db\n")
    (tmp_path / "storebot" / "spiders" / "wrong.py").write_text("import sqlalchemy\n")
    done = run(str(Path(sys.executable).with_name("lint-imports")), "--no-cache", cwd=tmp_path)
    assert done.returncode == 1
    for broken in (
        "storebot.core.wrong -> scrapy",
        "storebot.core.wrong -> storebot.db",
        "storebot.spiders.wrong -> sqlalchemy",
    ):
        assert broken in done.stdout


def test_ci_runs_what_a_user_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    text = script.read_text(encoding="utf-8")
    assert "set -euo pipefail" in text
    assert {"make lint", "make test"} <= set(text.splitlines())


def test_a_crawl_starts_without_what_other_commands_need() -> None:
    code = (
        "import sys; sys.argv[1:] = ['crawl', 'unknown']\n"
        "from scrapy.cmdline import execute\n"
        "try: execute()\n"
        "except SystemExit: print([name for name in ('numpy', 'storebot.commands.plan') if name in sys.modules])"
    )
    done = run(sys.executable, "-c", code)
    assert (done.stdout, "no spider is named 'unknown'" in done.stderr) == ("[]\n", True)
    all_commands = run(sys.executable, "-m", "scrapy", "--help").stdout
    assert " plan " in all_commands
    assert " crawl " in all_commands
