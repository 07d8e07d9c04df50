"""whet backup: everything in the home, of one moment, in one file."""

import os
import time
from pathlib import Path

import click

from whet.cli.options import json_command
from whet.cli.output import bytes_bar, give, plain
from whet.machine.backup import back_up
from whet.store.home import find_home
from whet.text.words import many


@json_command("backup", epilog="Example: whet backup ~/backups/whet-2026-11-16.zip")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def command(file: Path) -> int:
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
        "sessions": manifest.sessions,
        "entries": manifest.entries,
        "left_out": [each._asdict() for each in made.left_out],
    }
    lines = (
        f"[bold]{plain(file)}[/]: {many(manifest.sessions, 'session')}, {manifest.entries:,} ledger entries and "
        f"{many(len(manifest.files), 'file')} in {made.size / 1e6:,.1f} MB.",
        *(f"Left out: {plain(each.name)} ({plain(each.reason)})." for each in made.left_out),
        f"To restore it: `whet restore {plain(file)}`.",
    )
    return give(record, lines)
