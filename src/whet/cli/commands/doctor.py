"""whet doctor: how the home, its store and its machine stand, and the fix for whatever is not in order."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whet.cli.options import json_option
from whet.cli.output import plain, print_json, say, step_line
from whet.text.words import many

if TYPE_CHECKING:
    from whet.machine.home_checks import CheckupRow

WIDTH = len("background work") + 2  # the longest name of a row
MARKS = {"ok": "[green]ok[/]     ", "warning": "[yellow]warning[/]", "failed": "[red]failed[/] "}


@click.command(
    "doctor",
    epilog="Example: whet doctor --json",
    help="Check the home folder: permissions, free space, versions, the database, the ledger, the hashes of all "
    "sessions, the worker, hooks, the provider and the sandbox. Each row that is not in order names its fix. "
    "The exit code is 1 if a check failed.",
)
@json_option
def command(as_json: bool) -> int:
    from whet.machine.doctor import check_up
    from whet.machine.home_checks import CheckupPlace, Health
    from whet.store.home import find_home

    rows: list[CheckupRow] = []
    with step_line("Checking") as progress:
        for row in check_up(CheckupPlace(find_home(os.environ), Path.home(), os.environ, time.time(), progress)):
            rows.append(row)
            if not as_json:
                progress("")
                _show(row)
    failures = sum(row.health is Health.FAILED for row in rows)
    if as_json:
        print_json({"ok": not failures, "checks": [row._asdict() for row in rows]})
        return 1 if failures else 0
    warnings = sum(row.health is Health.WARNING for row in rows)
    say(f"\n{many(failures, 'check')} failed, {many(warnings, 'warning')}.")
    return 1 if failures else 0


def _show(row: "CheckupRow") -> None:
    """At once: what reads the whole store comes last, and may take its time."""
    say(f"{MARKS[row.health]} [bold]{row.name:<{WIDTH}}[/]{plain(row.text)}")
    if row.fix:
        say(f"{'':<{WIDTH + 8}}{plain(row.fix)}")
