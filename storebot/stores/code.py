"""The code of one page type of a store: its function and its SELECTORS, checked before anything is fetched."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from types import ModuleType
from typing import Any, cast

from storebot.core.page import Page
from storebot.core.parsing.rules import Rule, compile_rule
from storebot.exceptions import StoreFileError
from storebot.stores.importing import imported, parsed, place, read_source
from storebot.stores.select import Select
from storebot.stores.wording import clipped, nearest, shown

RETURNS = {"product": "a Product, or a list of them", "catalogue": "a Catalogue"}
_RULES = 'a selector such as "h1::text", or a list of them'


@dataclass(frozen=True, slots=True)
class Code:
    """One imported file: its function, its compiled SELECTORS, and what identifies its text."""

    path: str
    function: Callable[[Page, Select], object]
    selectors: Mapping[str, tuple[Rule, ...]]
    digest: str  # SHA-256 hex of the text

    def where(self, error: BaseException) -> str:
        """Return the line of this file that an exception came through, as ``path: line 7``."""
        return place(self.path, error)


def load_code(path: Traversable, kind: str) -> Code:
    """Import a file whose function is called ``kind`` (product, catalogue).

    Raises StoreFileError, its text a line for each fault: no Python, an exception on import, no SELECTORS, selectors
    that don't compile, no such function. An unchanged file is imported once a process.
    """
    source = read_source(path)
    tree = parsed(str(path), source)
    module = imported(str(path), source)
    faults: list[StoreFileError] = []
    selectors = _selectors(str(path), module, tree, faults)
    function = _function(str(path), module, kind, faults)
    if faults:
        raise joined(faults)
    digest = hashlib.sha256(source.encode()).hexdigest()
    return Code(path=str(path), function=function, selectors=selectors, digest=digest)


def joined(faults: list[StoreFileError]) -> StoreFileError:
    """Return the first fault, with the text of all, a line each."""
    faults[0].args = ("\n".join(str(fault) for fault in faults),)
    return faults[0]


def _selectors(
    path: str, module: ModuleType, tree: ast.Module, faults: list[StoreFileError]
) -> dict[str, tuple[Rule, ...]]:
    said = getattr(module, "SELECTORS", None)
    lines = _lines(tree)
    if not isinstance(said, dict):
        found = "there is none" if said is None else f"got {shown(said)}"
        example = 'SELECTORS = {"name": "h1::text"}'
        faults.append(
            StoreFileError(path, lines.get("", "line 1"), f"expected a dictionary such as {example}, {found}")
        )
        return {}
    compiled: dict[str, tuple[Rule, ...]] = {}
    for name, texts in said.items():
        where = f"{lines.get(name, lines.get('', ''))}: SELECTORS[{clipped(str(name))}]".removeprefix(": ")
        try:
            compiled[name] = _rules(name, texts)
        except ValueError as error:
            faults.append(StoreFileError(path, where, " ".join(str(error).split())))
    return compiled


def _rules(name: object, texts: object) -> tuple[Rule, ...]:
    if not isinstance(name, str):
        raise ValueError(f"expected a text as the name, got {shown(name)}")
    listed = [texts] if isinstance(texts, str) else texts
    if not isinstance(listed, (list, tuple)) or not listed or not all(isinstance(text, str) for text in listed):
        raise ValueError(f"expected {_RULES}, got {shown(texts) if texts else 'nothing'}")
    return tuple(compile_rule(text) for text in listed)


def _lines(tree: ast.Module) -> dict[object, str]:
    """Return the line of SELECTORS, under "", and of each of its keys."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "SELECTORS" for target in targets):
            value = getattr(node, "value", None)
            keys = value.keys if isinstance(value, ast.Dict) else []
            found: dict[object, str] = {
                key.value: f"line {key.lineno}" for key in keys if isinstance(key, ast.Constant)
            }
            return {**found, "": f"line {node.lineno}"}
    return {}


def _function(
    path: str, module: ModuleType, kind: str, faults: list[StoreFileError]
) -> Callable[[Page, Select], object]:
    function: Any = getattr(module, kind, None)
    expected = f"expected a function {kind}(page, select) that returns {RETURNS[kind]}"
    if function is None:
        close = nearest(kind, [name for name, value in vars(module).items() if inspect.isfunction(value)])
        faults.append(StoreFileError(path, "", f"{expected}; there is {f'only {close}' if close else 'none'}"))
    elif not inspect.isfunction(function):
        faults.append(StoreFileError(path, "", f"{expected}; {kind} is no function"))
    elif problem := _unfit(function):
        faults.append(StoreFileError(path, f"line {function.__code__.co_firstlineno}", f"{expected}; {problem}"))
    return cast("Callable[[Page, Select], object]", function)


def _unfit(function: Callable[..., object]) -> str:
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return "it's async, and there is nothing to wait for"
    if inspect.isgeneratorfunction(function):
        return "it yields; use return"
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return f"it takes {inspect.signature(function)}"
    return ""
