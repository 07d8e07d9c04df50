"""How large the house is: lines, files, packages, imports, tables and tests.

.venv/bin/python bench/house.py
"""

import ast
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from whet.store.home import Home
from whet.store.opening import opened

ROOT = Path(__file__).parents[1]
# Those that an index keeps for itself are shadows and do not count.
TABLES = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type != 'shadow' AND name NOT LIKE 'sqlite_%'"


def measured() -> Iterator[tuple[str, str]]:
    source, tests = ({path: path.read_text() for path in (ROOT / name).rglob("*.py")} for name in ("src", "tests"))
    lines = sum(len(text.splitlines()) for text in source.values())
    yield "lines of src", f"{lines:,}"
    yield "files of src", f"{len(source):,}"
    yield (
        "packages",
        f"{sum(path.parent.parent == ROOT / 'src' / 'whet' for path in source if path.stem == '__init__')}",
    )
    yield "imports, share of lines", f"{sum(map(import_lines, source.values())) / lines:.1%}"
    yield "tables in the database", f"{len(tables())}"
    yield "lines of tests", f"{sum(len(text.splitlines()) for text in tests.values()):,}"


def import_lines(text: str) -> int:
    found = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom))
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in found)


def tables() -> list[str]:
    """The tables of an empty home."""
    with tempfile.TemporaryDirectory() as folder, opened(Home(Path(folder) / "home")) as database:
        return [str(name) for (name,) in database.query(TABLES)]


if __name__ == "__main__":
    for name, value in measured():
        sys.stdout.write(f"{name:28}{value:>10}\n")
