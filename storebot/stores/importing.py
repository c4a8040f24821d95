"""A Python file of a store's folder, from its text to a module: each text once a process, under a name of its own."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
import traceback
import warnings
from importlib.abc import ExecutionLoader
from importlib.resources.abc import Traversable
from types import ModuleType

from storebot.exceptions import StoreFileError


def read_source(path: Traversable) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise StoreFileError(str(path), "", f"can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise StoreFileError(
            str(path), f"byte {error.start}", "expected UTF-8; save the file in that encoding"
        ) from error


def parsed(path: str, source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "\d" without r before it is a warning, and will be an error of Python
            return ast.parse(source, path)
    except SyntaxError as error:
        hint = "; write a regular expression as r'…'" if "escape" in str(error.msg) else ""
        raise StoreFileError(path, f"line {error.lineno}", f"expected Python: {error.msg}{hint}") from error
    except (ValueError, RecursionError) as error:
        raise StoreFileError(path, "", f"expected Python: {error}") from error


class _Loader(ExecutionLoader):
    """Gives the text that was read, also for tracebacks: a packaged store may lie in a zip."""

    def __init__(self, path: str, source: str) -> None:
        self._path, self._source = path, source

    def get_filename(self, fullname: str) -> str:
        return self._path

    def get_source(self, fullname: str) -> str:
        return self._source


def imported(path: str, source: str) -> ModuleType:
    # A name of its own for each path and text: two stores may each have a product.py, and one store two versions.
    name = f"storebot_store_{hashlib.sha256(repr((path, source)).encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_loader(name, _Loader(path, source), origin=path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic and dataclasses look their module up while it's imported
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        where = place(path, error).removeprefix(f"{path}: ")
        raise StoreFileError(path, where, f"raised {type(error).__name__}: {first_line(error)}") from error
    return module


def place(path: str, error: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"{path}: line {lines[-1]}" if lines else path


def first_line(error: BaseException) -> str:
    """Return the text of an exception, on one line and not too long."""
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else f"{text[:299]}…"
