"""Top-level modules are pure: they import values and functions, and nothing that touches the world."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import whet

ROOT = Path(whet.__file__).parent
MODULES = sorted(path for path in ROOT.glob("*.py") if path.stem != "__init__")
LIBRARIES = {"msgspec", "re2", "cronsim", "fastjsonschema"}
# Of the standard library only what reads no clock, chance, file, network or environment.
PURE = {
    "ast", "bisect", "base64", "binascii", "collections", "contextlib", "dataclasses", "datetime", "difflib", "enum",
    "fnmatch", "fractions", "functools", "hashlib", "heapq", "inspect", "itertools", "json", "math", "operator",
    "posixpath", "re", "shlex", "statistics", "string", "struct", "textwrap", "tomllib", "types", "typing",
    "unicodedata", "urllib", "zoneinfo",
}  # fmt: skip
# Of these only the part that touches nothing.
PARTS = {"pathlib": {"PurePath", "PurePosixPath"}, "random": {"Random"}}
IMPURE_CALLS = {"now", "today", "utcnow", "open", "print", "input"}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and {alias.name for alias in node.names} <= PARTS.get(
            node.module or "", set()
        ):
            continue
        elif isinstance(node, ast.ImportFrom):
            yield from (f"whet.{alias.name}" for alias in node.names) if node.module == "whet" else (node.module or "",)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_top_level_module_imports_nothing_that_touches_the_world(path: Path) -> None:
    allowed = {each.stem for each in MODULES}
    for name in imports(path):
        first, _, rest = name.partition(".")
        if first == "whet":
            assert rest in allowed, f"{path.stem} imports {name}, which is no top-level module"
        elif first in sys.stdlib_module_names:
            assert first in PURE, f"{path.stem} imports {name}"
            assert not name.startswith("urllib.request"), f"{path.stem} imports {name}"
        else:
            assert first in LIBRARIES, f"{path.stem} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_top_level_module_asks_no_clock_and_opens_no_file(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name):
                assert called.id not in IMPURE_CALLS, f"{path.stem} calls {called.id}"
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                clocked = called.value.id in ("datetime", "date") and called.attr in IMPURE_CALLS
                assert not clocked, f"{path.stem} calls {called.value.id}.{called.attr}"
