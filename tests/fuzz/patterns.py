"""Every regular expression of the core, and the texts that would make each of them backtrack."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]  # sre's own parser: typeshed doesn't list it
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, NamedTuple

import storebot
import storebot.core

_SCANS = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})
_CALLS = _SCANS | {"match", "fullmatch"}
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_MAX_BRANCHES = 4
_OF_CATEGORY = {
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_NOT_WORD: "-",
}


class Named(NamedTuple):
    """A pattern of the core: where it stands, and whether the code looks for it anywhere in a text."""

    name: str
    pattern: re.Pattern[Any]
    scans: bool


def patterns() -> list[Named]:
    """Return the patterns of all modules below `storebot.core`: compiled ones, and those written into calls."""
    scanned = _scanned()
    found: dict[tuple[object, int], Named] = {}
    for module in _modules():
        for name, value in vars(module).items():
            for pattern in _within(_made(value)):
                is_scanned = value is not pattern or (module.__name__, name) in scanned or ("", name) in scanned
                named = Named(f"{module.__name__}.{name}", pattern, is_scanned)
                found.setdefault((pattern.pattern, pattern.flags), named)
        for named in _literals(module):
            found.setdefault((named.pattern.pattern, named.pattern.flags), named)
    return sorted(found.values(), key=lambda one: (one.name, str(one.pattern.pattern)))


def attacks(pattern: re.Pattern[Any], size: int) -> Iterator[Any]:
    """Yield texts of about ``size`` characters: the beginnings of a match over and over, and each repeat at length."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    for text in dict.fromkeys(text for text in _texts(tree, size) if text):
        yield text.encode("utf-8", "replace") if isinstance(pattern.pattern, bytes) else text


def _made(value: object) -> object:
    """Return what a module makes of patterns when they are asked for the first time: `functools.cache`, no argument."""
    is_lazy = hasattr(value, "cache_info") and not inspect.signature(value).parameters  # type: ignore[arg-type]
    return value() if is_lazy else value  # type: ignore[operator]


def _modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(storebot.core.__path__, "storebot.core."):
        yield importlib.import_module(info.name)


def _within(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _within(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from _within(inner)


def _scanned() -> set[tuple[str, str]]:
    """Return the variables on which the program calls `search` and its like: with their module, or "" for any."""
    found: set[tuple[str, str]] = set()
    root = Path(storebot.__path__[0])
    for path in root.rglob("*.py"):
        module = ".".join(("storebot", *path.relative_to(root).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in _SCANS:
                owner = node.value
                if isinstance(owner, ast.Name):
                    found.add((module, owner.id))
                elif isinstance(owner, ast.Attribute):
                    found.add(("", owner.attr))
    return found


def _literals(module: ModuleType) -> Iterator[Named]:
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        first = node.args[0]
        is_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.func.attr in _CALLS
        if is_re and isinstance(first, ast.Constant) and isinstance(first.value, str | bytes):
            flags = re.IGNORECASE if any(isinstance(one, ast.Attribute) for one in node.args[1:]) else 0
            name = f"{module.__name__}:{node.lineno}"
            yield Named(name, re.compile(first.value, flags), node.func.attr in _SCANS)


def _texts(tree: Any, size: int) -> Iterator[str]:
    for start, parts in _beginnings(tree, ""):
        yield _filled(start, size)
        for part in parts:
            for pump in _pumps(part):
                yield start + _filled(pump, size)
                # Once more with the beginning between: each of them starts a search that may go to the end.
                yield _filled(start + pump * 20, size)


def _filled(text: str, size: int) -> str:
    return text * (size // len(text) + 1) if text else ""


def _beginnings(tree: Any, before: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield a text for each beginning of the pattern, with the parts that may come next."""
    text = before
    for op, argument in tree:
        yield text, [(op, argument)]
        if op is codes.BRANCH:
            for branch in argument[1][:_MAX_BRANCHES]:
                yield from _beginnings(branch, text)
        elif op is codes.SUBPATTERN:
            yield from _beginnings(argument[-1], text)
        elif op is codes.ATOMIC_GROUP:
            yield from _beginnings(argument, text)
        text += _sample([(op, argument)])
    yield text, []


def _pumps(part: tuple[Any, Any]) -> Iterator[str]:
    op, argument = part
    if op in _REPEATS and argument[1] is codes.MAXREPEAT:
        yield from (sample for sample in _samples(argument[2]) if sample)
    elif op in (codes.ASSERT, codes.ASSERT_NOT):
        for inner in argument[1]:
            yield from _pumps(inner)


def _samples(tree: Iterable[Any]) -> list[str]:
    """Return short texts that the pattern matches, one for each of its first branches."""
    parts = list(tree)
    if len(parts) == 1:
        op, argument = parts[0]
        if op is codes.BRANCH:
            return [sample for branch in argument[1][:12] for sample in _samples(branch)]
        if op is codes.SUBPATTERN:
            return _samples(argument[-1])
        if op is codes.IN:
            return list(dict.fromkeys(_of_set(argument, index) for index in range(3)))
    return [_sample(parts)]


def _sample(tree: Iterable[Any]) -> str:
    text = ""
    for op, argument in tree:
        if op is codes.LITERAL:
            text += chr(argument)
        elif op is codes.NOT_LITERAL:
            text += "a" if argument != ord("a") else "b"
        elif op is codes.ANY:
            text += "a"
        elif op is codes.IN:
            text += _of_set(argument, 0)
        elif op is codes.BRANCH:
            text += _sample(argument[1][0])
        elif op is codes.SUBPATTERN:
            text += _sample(argument[-1])
        elif op is codes.ATOMIC_GROUP:
            text += _sample(argument)
        elif op in _REPEATS:
            text += _sample(argument[2]) * min(max(argument[0], min(1, argument[1])), 50)
    return text


def _of_set(items: list[Any], index: int) -> str:
    """Return one character of a set: that of its ``index``-th member; of a negated one, some letter or mark."""
    if items and items[0][0] is codes.NEGATE:
        excluded = re.compile(f"[{''.join(_in_words(one) for one in items[1:])}]")
        allowed = [char for char in "a1 \n=/-{<>\"'" if not excluded.match(char)] or ["\u00e9"]
        return allowed[min(index, len(allowed) - 1)]
    op, argument = items[min(index, len(items) - 1)]
    if op is codes.LITERAL:
        return chr(argument)
    return chr(argument[0]) if op is codes.RANGE else _OF_CATEGORY.get(argument, "a")


def _in_words(item: tuple[Any, Any]) -> str:
    op, argument = item
    if op is codes.LITERAL:
        return re.escape(chr(argument))
    if op is codes.RANGE:
        return f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
    return {
        codes.CATEGORY_DIGIT: r"\d",
        codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_NOT_WORD: r"\W",
    }[argument]
