"""Pure packages hold values and functions: they import each other, and nothing that touches the world."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import whet

ROOT = Path(whet.__file__).parent
PACKAGES = ("text", "sessions", "secrets", "trouble", "lessons", "ledger", "own", "evidence", "trials")
TOP = ("errors", "values")  # the two modules that every package may use
MODULES = sorted(
    (*(ROOT / f"{name}.py" for name in TOP), *(path for name in PACKAGES for path in (ROOT / name).rglob("*.py")))
)
LIBRARIES = {"msgspec", "re2", "cronsim", "fastjsonschema", "tomlkit", "yaml"}
# Of the standard library only what reads no clock, chance, file, network or environment.
PURE = {
    "ast", "bisect", "base64", "binascii", "collections", "contextlib", "copy", "csv", "dataclasses", "datetime",
    "difflib", "enum", "fnmatch", "fractions", "functools", "hashlib", "heapq", "inspect", "itertools", "json", "math",
    "operator", "posixpath", "re", "shlex", "statistics", "string", "struct", "textwrap", "tomllib", "types", "typing",
    "unicodedata", "urllib", "zoneinfo",
}  # fmt: skip
# Of these only the part that touches nothing.
PARTS = {
    "codecs": {"BOM_UTF16_BE", "BOM_UTF16_LE"},
    "io": {"StringIO"},
    "pathlib": {"PurePath", "PurePosixPath", "PureWindowsPath"},
    "random": {"Random"},
}
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


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_every_folder_of_pure_modules_is_there() -> None:
    assert all((ROOT / name / "__init__.py").exists() for name in PACKAGES)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_pure_module_imports_nothing_that_touches_the_world(path: Path) -> None:
    for name in imports(path):
        first, _, rest = name.partition(".")
        if first == "whet":
            package = rest.partition(".")[0]
            assert package in (*PACKAGES, *TOP), f"{name_of(path)} imports {name}, which touches the world"
        elif first in sys.stdlib_module_names:
            assert first in PURE, f"{name_of(path)} imports {name}"
            assert not name.startswith("urllib.request"), f"{name_of(path)} imports {name}"
        else:
            assert first in LIBRARIES, f"{name_of(path)} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_pure_module_asks_no_clock_and_opens_no_file(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name):
                assert called.id not in IMPURE_CALLS, f"{name_of(path)} calls {called.id}"
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                clocked = called.value.id in ("datetime", "date") and called.attr in IMPURE_CALLS
                assert not clocked, f"{name_of(path)} calls {called.value.id}.{called.attr}"
