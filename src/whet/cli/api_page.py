"""docs/api.md, written from the signatures and docstrings of `import whet`."""

import ast
import inspect
import textwrap
from collections.abc import Iterator

import whet

HEAD = """# From Python

`import whet` lets programs do what the commands do. It loads nothing until you use a name, and every name is typed. If
the caller makes a mistake, it raises a `whet.WhetError` with advice.

`make format` generates this page from the program; `make check` fails if it is out of date. The tests run every example
in the project folder, with a home that contains `examples/sessions`. [examples/](../examples) has three complete
programs: `score_sessions.py`, `judge_experiment.py` and `warm_start_openai.py`.
"""
SECTIONS = {
    "Functions": ("read", "redact", "analyse", "troubles", "judge", "mine", "warm_start", "audit"),
    "The store": ("Store", "SessionFilters", "Session", "Hit", "Item"),
    "Values": (
        "Transcript", "Message", "Skipped", "Redacted", "Analysis", "SessionTrouble", "Trouble",
        "Intervention", "Lesson", "Verdict", "Template", "Audit", "WhetError",
    ),
}  # fmt: skip


def api_page() -> str:
    """The page: every name with its signature or its fields, what it promises, and its example."""
    sections = [HEAD]
    for title, names in SECTIONS.items():
        sections.append(f"## {title}\n")
        sections += (piece for name in names for piece in _described(name))
    return "\n".join(sections)


def _described(name: str) -> Iterator[str]:
    documented = getattr(whet, name)
    source = textwrap.dedent(inspect.getsource(documented))
    [node] = ast.parse(source).body
    lines = source.splitlines()
    home = f"From `{documented.__module__}`."
    if isinstance(node, ast.FunctionDef):
        yield _piece(f"whet.{name}", _signature(node, lines), inspect.getdoc(documented), home)
    elif isinstance(node, ast.ClassDef):
        public = [each for each in node.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")]
        properties = "\n".join(_property(each) for each in public if each.decorator_list)
        yield _piece(f"whet.{name}", _shape(node, lines), inspect.getdoc(documented), properties, home)
        for method in (each for each in public if not each.decorator_list):
            yield _piece(f"{name}.{method.name}", _signature(method, lines), ast.get_docstring(method))


def _piece(heading: str, code: str, documented: str | None, *more: str) -> str:
    words, mark, example = (documented or "").partition(">>> ")
    shown = f"```pycon\n{mark}{example.rstrip()}\n```" if mark else ""
    pieces = (f"### {heading}", f"```python\n{code}\n```", words.strip(), shown, *more)
    return "\n\n".join(piece for piece in pieces if piece) + "\n"


def _shape(node: ast.ClassDef, lines: list[str]) -> str:
    """The fields of a value as they are written, with what is said beside them; else how one is made."""
    fields = [lines[each.lineno - 1].strip() for each in node.body if isinstance(each, ast.AnnAssign)]
    if fields:
        return "\n".join(fields)
    made = next(each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
    return _signature(made, lines).replace("def __init__(self, ", f"{node.name}(").replace(" -> None:", "")


def _signature(node: ast.FunctionDef, lines: list[str]) -> str:
    """The head of a function, as it is written."""
    return textwrap.dedent("\n".join(lines[node.lineno - 1 : node.body[0].lineno - 1]))


def _property(node: ast.FunctionDef) -> str:
    kind = f": {ast.unparse(node.returns)}" if node.returns else ""
    said = (ast.get_docstring(node) or "").partition("\n")[0]
    return f"- `{node.name}{kind}`{': ' if said else ''}{said}"
