"""whet doctor: how the home, its store and its machine stand, and the fix for whatever is not in order."""

import os
import time
from pathlib import Path

from whet.cli.options import json_command
from whet.cli.output import give, plain, say, step_line
from whet.machine.doctor import check_up
from whet.machine.home_checks import CheckupPlace, CheckupRow, Health
from whet.store.home import find_home
from whet.text.words import many

WIDTH = len("background work") + 2  # the longest name of a row
MARKS = {"ok": "[green]ok[/]     ", "warning": "[yellow]warning[/]", "failed": "[red]failed[/] "}


@json_command("doctor", epilog="Example: whet doctor --json")
def command() -> int:
    """Check the home folder: permissions, free space, versions, the database, the ledger, the hashes of all sessions,
    the worker, hooks, the provider and the sandbox. Each row that is not in order names its fix. The exit code is 1
    if a check failed.
    """
    rows: list[CheckupRow] = []
    with step_line("Checking") as progress:
        for row in check_up(CheckupPlace(find_home(os.environ), Path.home(), os.environ, time.time(), progress)):
            rows.append(row)
            progress("")
            _show(row)
    failures, warnings = (sum(row.health is health for row in rows) for health in (Health.FAILED, Health.WARNING))
    told = f"\n{many(failures, 'check')} failed, {many(warnings, 'warning')}."
    record = {"ok": not failures, "checks": [row._asdict() for row in rows]}
    return give(record, (told,), code=int(bool(failures)))


def _show(row: CheckupRow) -> None:
    """At once: what reads the whole store comes last, and may take its time."""
    say(f"{MARKS[row.health]} [bold]{row.name:<{WIDTH}}[/]{plain(row.text)}")
    if row.fix:
        say(f"{'':<{WIDTH + 8}}{plain(row.fix)}")
