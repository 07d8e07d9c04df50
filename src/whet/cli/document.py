"""docs/cli.md and docs/api.md, written from the program: `python -m whet.cli.document [--check] PATH...`."""

import sys
from pathlib import Path

import click

from whet.cli.api_page import api_page
from whet.cli.catalogue import ABOUT, START
from whet.cli.group import group

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
