"""whet doctor: how the home, its store and its machine stand, and the fix for whatever is not in order."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whet.cli.options import json_option
from whet.cli.output import many, plain, print_json, say
from whet.cli.progress import step_line

if TYPE_CHECKING:
    from whet.upkeep.home_checks import CheckupRow

MOST_NAMED = 10
WIDTH = len("background work") + 2  # the longest name of a row
MARKS = {"ok": "[green]ok[/]     ", "warning": "[yellow]warning[/]", "failed": "[red]failed[/] "}


@click.command(
    "doctor",
    epilog="Example: whet doctor --json",
    help="Check the home folder: permissions, free space, versions, the database, the ledger, the hashes of all "
    "sessions, the worker, hooks, the provider and the sandbox. Each row that is not in order names its fix. "
    "The exit code is 1 if a check failed.",
)
@click.option(
    "--repair",
    "is_repair",
    is_flag=True,
    help="Make a damaged SQLite database anew from everything in it that can be read. The damaged file is kept.",
)
@json_option
def command(is_repair: bool, as_json: bool) -> int:
    from whet.store.home import find_home
    from whet.upkeep.doctor import check_up
    from whet.upkeep.home_checks import CheckupPlace, Health

    if is_repair:
        _repair(as_json=as_json)
        return 0
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


def _repair(*, as_json: bool) -> None:
    from whet.store.home import find_home
    from whet.upkeep.repair import repair

    done = repair(find_home(os.environ))
    if as_json:
        tables = [each._asdict() for each in done.tables]
        print_json({**done._asdict(), "tables": tables})
        return
    saved = f"{many(done.count('sessions'), 'session')} and {many(done.count('messages'), 'message')}"
    say(f"Saved {saved}, and {done.count('entries'):,} ledger entries.")
    for each in done.tables:
        if not each.is_whole:
            say(f"Some rows of {each.name} could not be read.")
    for ids, what in ((done.shortened, "Kept only the beginning of"), (done.removed, "Nothing could be saved of")):
        if ids:
            more = f" and {len(ids) - MOST_NAMED:,} more" if len(ids) > MOST_NAMED else ""
            say(f"{what} {many(len(ids), 'session')}: {plain(', '.join(ids[:MOST_NAMED]))}{more}.")
    say(f"The damaged file is {plain(done.kept)}. Next: `whet import` reads again what was lost; then `whet doctor`.")
