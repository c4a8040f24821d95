"""What is wrong with a store file, one line a fault, in the order in which a person would mend them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from storebot.exceptions import StoreFileError
from storebot.stores.keys import Key, known_keys
from storebot.stores.wording import nearest, shown

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLACE = re.compile(r"\[[0-9]+\]")  # of a table in a list of them
# pydantic's error types for the plain values of the model -> what was expected
_EXPECTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than_equal": "a number of at most {le:g}",
    "literal_error": "{expected}",
    "model_type": "a section",
}


def syntax_problem(path: str, error: tomllib.TOMLDecodeError) -> StoreFileError:
    """Return the error for text that is no TOML, with its line and column."""
    found = re.fullmatch(r"(?P<what>.*) \(at (?P<where>line \d+, column \d+|end of document)\)", str(error), re.DOTALL)
    what, where = (found["what"], found["where"]) if found else (str(error), "")
    hint = "; write a regular expression in single quotes: '\\d+'" if "backslash" in what or "Unescaped" in what else ""
    return StoreFileError(path, where, f"expected TOML (https://toml.io): {what}{hint}")


def problems(path: str, error: ValidationError, known: Sequence[Key] = ()) -> StoreFileError:
    """Return all that the model refused as one error: about the first fault, its text a line for each.

    ``known`` are the keys that there are, without them those of a store file.
    """
    known = known or known_keys()
    details = error.errors(include_url=False)
    unknown = [_unknown(path, fault, known) for fault in details if fault["type"] == "extra_forbidden"]
    meant = {fault.nearest for fault in unknown}
    others = [_other(path, fault, known) for fault in details if fault["type"] != "extra_forbidden"]
    # A misspelt key is one fault, not two: its right name isn't reported as missing as well.
    faults = unknown + [
        fault for fault in others if not (fault.problem.startswith("is missing") and fault.key in meant)
    ]
    first = faults[0]
    first.args = ("\n".join(str(fault) for fault in faults),)
    return first


def _unknown(path: str, fault: ErrorDetails, known: Sequence[Key]) -> StoreFileError:
    *section, name = (str(part) for part in fault["loc"] if not isinstance(part, int))
    prefix = "".join(f"{part}." for part in section)
    valid = [key.name for key in known]
    beside = [dotted.removeprefix(prefix) for dotted in valid if dotted.rpartition(".")[0] == prefix.rstrip(".")]
    elsewhere = {dotted.rpartition(".")[2]: dotted for dotted in reversed(valid)}
    if name not in elsewhere and (close := nearest(name, beside)):
        return StoreFileError(path, _dotted(fault), "unknown key", prefix + close)
    in_list = any(isinstance(part, int) for part in fault["loc"])  # what it says belongs to its entry
    if not in_list and (close := nearest(name, elsewhere)):
        return StoreFileError(path, _dotted(fault), f"unknown key; {_place(elsewhere[close])}", elsewhere[close])
    return StoreFileError(path, _dotted(fault), f"unknown key; expected one of {', '.join(beside)}")


def _place(key: str) -> str:
    section, _, name = key.rpartition(".")
    return f"{name} belongs in [{section}]" if section else f"{name} belongs above the first [section]"


def _other(path: str, fault: ErrorDetails, known: Sequence[Key]) -> StoreFileError:
    key, context = _dotted(fault), fault.get("ctx", {})
    if fault["type"] == "store_file":
        return StoreFileError(path, context["key"] or key, context["problem"], context["nearest"])
    if fault["type"] == "missing":
        return StoreFileError(path, key, f"is missing: expected {_description(key, known)}")
    expected = _expected(fault["type"], context) or fault["msg"]
    return StoreFileError(path, key, f"expected {expected}, got {shown(fault['input'])}")


def _expected(kind: str, context: Mapping[str, object]) -> str:
    return _EXPECTED.get(kind, "").format_map(context)


def _description(key: str, known: Sequence[Key]) -> str:
    name = _PLACE.sub("", key)
    text = next(one.description for one in known if one.name == name)
    return (text[0].lower() + text[1:]).rstrip(".").replace("`", "")


def _dotted(fault: ErrorDetails) -> str:
    """Return the key as TOML writes it, so that one with a space, dot or line break stays readable on one line.

    A table of a list has its place, counted from nought: ``gate.planned[0].from``.
    """
    parts = (
        f"[{part}]" if isinstance(part, int) else f".{part if _BARE.fullmatch(part) else json.dumps(part)}"
        for part in fault["loc"]
    )
    return "".join(parts).removeprefix(".")
