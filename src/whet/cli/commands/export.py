"""whet export: write sessions in an interchange form."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import click
import msgspec

from whet.cli.options import filter_options, json_command, own_store
from whet.cli.output import give, is_json
from whet.errors import WhetError
from whet.sessions.exports import as_atif, as_openai, as_trajectory
from whet.store import sessions
from whet.store.folders import sync
from whet.store.listing import Filters, find, list_sessions
from whet.text.words import many

EVERYTHING = 1 << 31
WRITERS = {"openai": as_openai, "atif": as_atif, "trajectories": as_trajectory}


@json_command("export", epilog="Example: whet export --source codex --format openai --output codex.jsonl")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@filter_options
@click.option(
    "--format",
    "form",
    type=click.Choice(list(WRITERS)),
    default="openai",
    show_default=True,
    help="Format of the export.",
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to create. Default: standard output."
)
def command(
    ids: tuple[str, ...],
    filters: Filters,
    form: str,
    output: Path | None,
) -> int:
    """Export sessions as one JSON document per line: those named, or all that match the filters."""
    if ids and any(filters):
        raise WhetError("Give session ids or filters, not both.", advice="whet export ID, or whet export --source pi")
    if is_json() and output is None:
        raise WhetError(
            "--json reports on a written file.", advice="Give --output FILE; the export itself is JSON too."
        )
    with own_store() as (_, database):
        chosen = [find(database, each) for each in ids] or list_sessions(database, filters, limit=EVERYTHING)
        if not chosen:
            raise WhetError("No sessions match.", advice="To list sessions, run `whet sessions`.")
        with _target(output) as file:
            for session in chosen:
                file.write(msgspec.json.encode(WRITERS[form](sessions.load(database, session))) + b"\n")
    if output and not is_json():
        click.echo(f"Wrote {many(len(chosen), 'session')} to {output}.", err=True)
    return give({"sessions": len(chosen), "path": str(output)}, ())


@contextlib.contextmanager
def _target(output: Path | None) -> Iterator[IO[bytes]]:
    """Where the export goes. A file appears whole or not at all, and none is overwritten."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if output.exists():
        raise WhetError(f"{output} already exists.", advice="Name another file, or remove it first.")
    part = output.with_name(f".{output.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            yield file
            file.flush()
            sync(file.fileno())
        part.rename(output)
    except OSError as error:
        raise WhetError(f"{output} cannot be written: {error.strerror}.", advice="Name another file.") from error
    finally:
        part.unlink(missing_ok=True)
