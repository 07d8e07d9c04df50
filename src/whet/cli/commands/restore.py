"""whet restore: a backup in the place of an empty home, or of the one that is there."""

import os
from pathlib import Path

import click

from whet.cli.acting import actor_of, has_terminal
from whet.cli.options import json_command
from whet.cli.output import bytes_bar, give, moment, plain
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.machine.restore import is_empty, read_manifest, restore
from whet.machine.services import KEYS_FILE
from whet.store.home import Home, find_home
from whet.store.settings_file import load
from whet.text.words import many


@json_command("restore", epilog="Example: whet restore ~/backups/whet-2026-11-16.zip")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Replace the home that is there.")
@click.option(
    "--yes", is_flag=True, help="Do not ask. Without a terminal, --replace also needs the setting trust.commands."
)
def command(file: Path, replace: bool, yes: bool) -> int:
    """Restore the backup in FILE into an empty home. With --replace, put it in the place of the home that is there; the
    old folder is kept beside it. A damaged file changes nothing. Restore only files that you trust: they hold
    settings, rules and jobs.
    """
    home = find_home(os.environ)
    if actor_of(os.environ) is Actor.AGENT:
        raise WhetError("An agent may not restore a backup.", advice="Run it in your own terminal.")
    manifest = read_manifest(file, home)
    if replace and not is_empty(home):
        _confirm(home, yes=yes)
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
    return give(record | {"sessions": manifest.sessions, "entries": manifest.entries}, lines)


def _confirm(home: Home, *, yes: bool) -> None:
    """Ask the person; where nobody can be asked, --yes counts if the settings allow that."""
    if yes and not has_terminal() and not _may_command(home):
        raise WhetError(
            "This needs a person's approval in a terminal.",
            advice="Run it in your own terminal, or set trust.commands to true so that --yes counts without one.",
        )
    server = " and all rows on the server, of every member" if home.database_url else ""
    if not yes:
        click.confirm(f"Replace everything in {home.folder}{server}?", abort=True, err=True)


def _may_command(home: Home) -> bool:
    """Whether the settings allow it; damaged ones, for which a restore is the remedy, allow nothing."""
    try:
        return load(home).trust.commands
    except WhetError:
        return False
