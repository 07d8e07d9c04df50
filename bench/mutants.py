"""Tests that bite: small changes to what guards money, trust and proof, and how many of them the tests notice.

.venv/bin/python bench/mutants.py [--each 12] [--seed 1] [MODULE …]

Every mutant is one change to one module (a comparison, a sign, a constant, a condition); the tests of its package must
fail with it. Those that live are listed with their line; a mutant that changes nothing anybody can see is named in
`equivalent_mutants.py` with the reason.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from equivalent_mutants import EQUIVALENT

ROOT = Path(__file__).parents[1]
SECONDS = 240
# Each module with the tests that guard it.
GUARDS: dict[str, tuple[str, ...]] = {
    "ledger/folding": ("tests/ledger",),
    "ledger/entries": ("tests/ledger",),
    "ledger/patches": ("tests/ledger",),
    "ledger/patch_faults": ("tests/ledger",),
    "sessions/trust": ("tests/sessions",),
    "sessions/lineage": ("tests/sessions",),
    "secrets/redactor": ("tests/secrets",),
    "secrets/scan": ("tests/secrets",),
    "evidence/betting": ("tests/evidence",),
    "evidence/verdicts": ("tests/evidence",),
    "evidence/error_budget": ("tests/evidence",),
    "trials/canaries": ("tests/trials",),
    "trials/checks": ("tests/trials",),
    "trials/cases": ("tests/trials",),
}
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """One change: the line as it stood with the part marked, what was changed, and the whole module with it."""

    module: str
    number: int
    line: str
    change: str
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.module, self.line, self.change


def changed(node: ast.AST) -> str:
    """Change a node in place, and say how; nothing where it is of no kind that can be changed."""
    match node:
        case ast.Compare(ops=[first, *_]) if type(first) in COMPARED:
            other = COMPARED[type(first)]
            node.ops[0] = other()
            return f"{type(first).__name__} to {other.__name__}"
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            return f"to {type(node.op).__name__}"
        case ast.BinOp() if type(node.op) in COMPUTED and not _is_text(node):
            before = type(node.op).__name__
            node.op = COMPUTED[type(node.op)]()
            return f"{before} to {type(node.op).__name__}"
        case ast.Constant(value=bool()):
            node.value = not node.value
            return f"to {node.value}"
        case ast.Constant(value=int() | float() as number):
            node.value = number + 1 if number + 1 != number else number * 2
            return f"to {node.value}"
        case ast.If() | ast.IfExp():
            node.test = ast.UnaryOp(ast.Not(), node.test)
            return "condition turned round"
        case ast.Call(func=ast.Name()) if isinstance(node.func, ast.Name) and node.func.id in SWAPPED:
            node.func.id = SWAPPED[node.func.id]
            return f"to {node.func.id}"
    return ""


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str) for side in sides)


def mutants(module: str) -> Iterator[Mutant]:
    source = (ROOT / "src" / "whet" / f"{module}.py").read_text()
    lines = source.splitlines()
    tree = ast.parse(source)
    skipped = {id(inner) for node in ast.walk(tree) for part in _unseen(node) for inner in ast.walk(part)}
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in skipped or not isinstance(node, ast.stmt | ast.expr):
            continue
        twin = ast.parse(source)
        target = next(each for number, each in enumerate(ast.walk(twin)) if number == place)
        change = changed(target)
        if change:
            changed_source = ast.unparse(ast.fix_missing_locations(twin))
            yield Mutant(module, node.lineno, _marked(lines[node.lineno - 1], node), change, changed_source)


def _marked(line: str, node: ast.stmt | ast.expr) -> str:
    """The line with the changed part between « and »; a part that goes on in the next line has no end here."""
    written = line.encode()
    end = node.end_col_offset if node.end_lineno == node.lineno else None
    before, part, after = written[: node.col_offset], written[node.col_offset : end], written[end or len(written) :]
    return f"{before.decode()}«{part.decode()}{'»' if end else ''}{after.decode()}".strip()


def _unseen(node: ast.AST) -> Iterator[ast.AST]:
    """What no run can show: annotations, and the arguments of class statements."""
    match node:
        case ast.AnnAssign():
            yield node.annotation
        case ast.FunctionDef():
            yield from (
                argument.annotation
                for argument in ast.walk(node.args)
                if isinstance(argument, ast.arg) and argument.annotation
            )
            if node.returns:
                yield node.returns
        case ast.ClassDef():
            yield from node.keywords


def is_killed(mutant: Mutant) -> bool:
    """Whether the tests of the package fail, or never end, with the mutant; the mirrored test file is asked first."""
    with tempfile.TemporaryDirectory(prefix="whet-mutant-") as folder:
        # With what was compiled before: a run compiles the mutant and nothing else.
        shutil.copytree(ROOT / "src" / "whet", Path(folder, "whet"))
        Path(folder, "whet", f"{mutant.module}.py").write_text(mutant.source)
        guards = GUARDS[mutant.module]
        mirrors = [mirror for guard in guards if (ROOT / (mirror := _mirror(guard, mutant.module))).is_file()]
        rest = [*guards, *(f"--ignore={mirror}" for mirror in mirrors)]
        return any(_fail(folder, tests) for tests in (mirrors, rest) if tests)


def _mirror(guard: str, module: str) -> str:
    return f"{guard}/test_{Path(module).name}.py"


def _fail(folder: str, tests: list[str]) -> bool:
    options = ["-q", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    environment = {
        **os.environ,
        "PYTHONPATH": folder,
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(folder, "examples")),  # one mutant's examples are no other's
    }
    try:
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return True
    return ran.returncode != 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(GUARDS))
    parser.add_argument("--each", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    total = killed = 0
    print("| module | mutants | killed | equivalent |\n|---|--:|--:|--:|")
    living: list[Mutant] = []
    for module in options.modules:
        found = list(mutants(module))
        chosen = random.Random(options.seed).sample(found, min(options.each, len(found)))
        with ThreadPoolExecutor(options.workers) as pool:
            dead = list(pool.map(is_killed, chosen))
        alive = [mutant for mutant, is_dead in zip(chosen, dead, strict=True) if not is_dead]
        excused = [mutant for mutant in alive if mutant.key in EQUIVALENT]
        living += [mutant for mutant in alive if mutant.key not in EQUIVALENT]
        total, killed = total + len(chosen) - len(excused), killed + sum(dead)
        print(f"| {module} | {len(chosen)} | {sum(dead)} | {len(excused)} |", flush=True)
    print(f"{killed} of {total} killed ({killed / max(1, total):.0%}; aim 95 %)")
    for mutant in living:
        print(f"alive: {mutant.module}:{mutant.number}: {mutant.change}: {mutant.line}")
    return int(killed < 0.95 * total)


if __name__ == "__main__":
    sys.exit(main())
