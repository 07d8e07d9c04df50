"""One word per concept: no two classes of the package have the same name, and no two files of tests."""

import ast
from collections import Counter, defaultdict
from pathlib import Path

import whet

ROOT = Path(whet.__file__).parent


def test_every_class_has_a_name_of_its_own() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_every_file_of_tests_has_a_name_of_its_own() -> None:
    """Two of the same name cannot be collected in one run."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
