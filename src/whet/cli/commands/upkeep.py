"""whet backup, restore and doctor: the home in one file, back from it, and how it stands."""

import os
import time
from pathlib import Path

import click

from whet.cli.acting import ask_person, expect_person
from whet.cli.options import json_command
from whet.cli.output import bytes_bar, fields, give, moment, plain, say, step_line
from whet.machine.backup import back_up
from whet.machine.doctor import check_up
from whet.machine.home_checks import CheckupPlace, CheckupRow, Health
from whet.machine.restore import is_empty, read_manifest, restore
from whet.machine.services import KEYS_FILE
from whet.store.home import find_home
from whet.text.words import many

WIDTH = len("background work") + 2  # the longest name of a row
MARKS = {"ok": "[green]ok[/]     ", "warning": "[yellow]warning[/]", "failed": "[red]failed[/] "}


@json_command("backup", epilog="Example: whet backup ~/backups/whet-2026-11-16.zip")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def backup_command(file: Path) -> int:
    """Write the home folder and its database to FILE, as they are at one moment, while Whet is in use. API keys and
    downloaded models are left out. Sessions can hold private text: the file is readable by you alone.
    """
    home, target = find_home(os.environ), Path(os.path.expanduser(file)).absolute()
    with bytes_bar("Copying") as progress:
        made = back_up(home, target, now=time.time(), progress=progress)
    manifest = made.manifest
    record = {
        "path": str(target),
        "bytes": made.size,
        "files": len(manifest.files),
        **fields(manifest, "sessions", "entries"),
        "left_out": [each._asdict() for each in made.left_out],
    }
    lines = (
        f"[bold]{plain(file)}[/]: {many(manifest.sessions, 'session')}, {manifest.entries:,} ledger entries and "
        f"{many(len(manifest.files), 'file')} in {made.size / 1e6:,.1f} MB.",
        *(f"Left out: {plain(each.name)} ({plain(each.reason)})." for each in made.left_out),
        f"To restore it: `whet restore {plain(file)}`.",
    )
    return give(record, lines)


@json_command("restore", epilog="Example: whet restore ~/backups/whet-2026-11-16.zip")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Replace the home that is there.")
@click.option(
    "--yes", is_flag=True, help="Do not ask. Without a terminal, --replace also needs the setting trust.commands."
)
def restore_command(file: Path, replace: bool, yes: bool) -> int:
    """Restore the backup in FILE into an empty home. With --replace, put it in the place of the home that is there; the
    old folder is kept beside it. A damaged file changes nothing. Restore only files that you trust: they hold
    settings, rules and jobs.
    """
    home = find_home(os.environ)
    expect_person("restore a backup")
    manifest = read_manifest(file, home)
    if replace and not is_empty(home):
        server = " and all rows on the server, of every member" if home.database_url else ""
        ask_person(f"Replace everything in {home.folder}{server}?", home, yes=yes)
    with bytes_bar("Restoring", manifest.size) as progress:
        done = restore(file, home, replace=replace, progress=progress)
    record = {"home": str(home.folder), "created": manifest.created, "replaced": done.replaced or None}
    lines = [
        f"Restored the backup of {moment(manifest.created)} to [bold]{plain(home.folder)}[/]: "
        f"{many(manifest.sessions, 'session')}, {manifest.entries:,} ledger entries."
    ]
    if done.replaced:
        lines.append(f"The old folder is {plain(done.replaced)}; delete it when you no longer need it.")
    if not (home.folder / KEYS_FILE).exists():
        lines.append("A backup has no API keys: set them again.")
    lines.append("Next: `whet doctor` checks the home; `whet setup` starts the worker.")
    return give(record | fields(manifest, "sessions", "entries"), lines)


@json_command("doctor", epilog="Example: whet doctor --json")
def doctor_command() -> int:
    """Check the home folder: permissions, free space, versions, the database, the ledger, the hashes of all sessions,
    the worker, hooks, the provider and the sandbox. Each row that is not in order names its fix. The exit code is 1
    if a check failed.
    """
    rows: list[CheckupRow] = []
    with step_line("Checking") as progress:
        for row in check_up(CheckupPlace(find_home(os.environ), Path.home(), os.environ, time.time(), progress)):
            rows.append(row)
            progress("")
            # At once: what reads the whole store comes last, and may take its time.
            say(f"{MARKS[row.health]} [bold]{row.name:<{WIDTH}}[/]{plain(row.text)}")
            say(*((f"{'':<{WIDTH + 8}}{plain(row.fix)}",) if row.fix else ()))
    failures, warnings = (sum(row.health is health for row in rows) for health in (Health.FAILED, Health.WARNING))
    told = f"\n{many(failures, 'check')} failed, {many(warnings, 'warning')}."
    record = {"ok": not failures, "checks": [row._asdict() for row in rows]}
    return give(record, (told,), code=int(bool(failures)))
