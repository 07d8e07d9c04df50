"""What is derived from sessions is made again whenever any code changes that decides it."""

import ast
from pathlib import Path

import pytest

import whet
from whet.store.derived import FINDING, LEARNING, TEACHING, code_version

ROOT = Path(whet.__file__).parents[1]
FROM_BEGINNING = ("values", "errors")  # of values themselves, which no package holds


def imported(module: str) -> set[str]:
    """The modules of Whet that one imports, and all that these import."""
    seen, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        path = ROOT.joinpath(*name.split(".")).with_suffix(".py")
        if name in seen or not path.exists():
            continue
        seen.add(name)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("whet."):
                waiting += [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    return seen


@pytest.mark.parametrize(
    ("module", "packages"),
    [
        ("whet.trouble.outcomes.analysis", FINDING),
        ("whet.trouble.finding", FINDING),
        ("whet.trouble.checks", FINDING),
        ("whet.lessons.finding", TEACHING),
        ("whet.lessons.claim_calls", TEACHING),
        ("whet.lessons.following", TEACHING),
        ("whet.lessons.taught_rules", LEARNING),
    ],
)
def test_a_version_covers_all_code_that_decides_what_is_kept(module: str, packages: tuple[str, ...]) -> None:
    used = {name.split(".")[1] for name in imported(module)}
    assert used <= {*packages, *FROM_BEGINNING}


def test_other_code_has_another_version() -> None:
    versions = {code_version(*packages) for packages in (FINDING, TEACHING, LEARNING, (), ("text",))}
    assert len(versions) == 5
    assert code_version("text", "sessions") == code_version("sessions", "text")
