"""docs/cli.md and docs/api.md, written from the program: `python tests/documents.py [--check] PATH...`."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

import whet
from whet.cli.catalogue import ABOUT, START
from whet.cli.group import group

API_HEAD = """# From Python

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
    sections = [API_HEAD]
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


HEAD = f"""# The command line

{ABOUT} {START}

`make format` generates this page from the program; `make check` fails if it is out of date.

Environment variables: `WHET_HOME` (the home folder, default `~/.whet`), `WHET_DATABASE_URL` (a Postgres
database instead of the embedded one), `NO_COLOR`. Exit codes: 0 done (an empty list too), 1 failed or nothing found by
a search, 2 wrong usage, 130 interrupted. Errors go to standard error as text with advice, also with `--json`.
"""


def document() -> str:
    """The page: every command with its help as the program prints it."""
    context = click.Context(group, info_name="whet")
    sections = [HEAD]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        sections += _sections(command, context, name)
    return "\n".join(sections)


def _sections(command: click.Command, parent: click.Context, name: str) -> list[str]:
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100, max_content_width=100)
    found = [f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"]
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            child = command.get_command(context, inner)
            if child is not None:
                found += _sections(child, context, inner)
    return found


PAGES = {"cli.md": document, "api.md": api_page}


def main() -> None:
    for path in (Path(each) for each in sys.argv[1:] if each != "--check"):
        page = PAGES[path.name]()
        if "--check" not in sys.argv:
            path.write_text(page, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != page:
            sys.exit(f"{path} is out of date: run `make format`.")


if __name__ == "__main__":
    main()
