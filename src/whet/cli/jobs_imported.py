"""Jobs of Hermes on their way in: each waits for a person."""

import os
import time
from pathlib import Path

from msgspec.structs import replace

from whet.agents.hermes import jobs as hermes_jobs
from whet.agents.hermes.jobs import HermesJob
from whet.changes.job_changes import keep
from whet.cli.authoring import author_at
from whet.cli.hermes_home import FROM_HERMES, hermes_home
from whet.cli.output import many, plain, print_json, say
from whet.cli.shown.entries import entry_record
from whet.context.zone import local_zone
from whet.errors import WhetError
from whet.ledger.entries import Entry
from whet.sessions.trust import Trust
from whet.store.disk import text_given
from whet.store.home import Home
from whet.store.job_files import list_jobs
from whet.store.opening import opened

FILE_BYTES = 20_000_000
REASON = "a job of Hermes"


def read_jobs(file: Path, *, workdir: str, taken: tuple[str, ...]) -> tuple[HermesJob, ...]:
    """The jobs in a file of Hermes; `taken` are names that none of them gets."""
    place = hermes_jobs.HermesPlace(
        file.absolute().parent.parent,
        str(Path(os.path.expanduser(workdir or ".")).absolute()),
        local_zone(os.environ),
        time.time(),
    )
    return hermes_jobs.read(_text(file), place, taken=taken)


def propose_jobs(home: Home, path: Path | None, *, workdir: str, as_json: bool) -> int:
    """Let the jobs in a file wait for approval. Nobody knows who wrote their words: Hermes' agent adds jobs too."""
    file = path or hermes_home().joinpath(*hermes_jobs.FILE)
    found = read_jobs(file, workdir=workdir, taken=tuple(each.name for each in list_jobs(home.folder)))
    entries: list[Entry] = []
    refused: list[HermesJob] = []
    with opened(home) as database:
        author = author_at(home, database)._replace(
            trust=Trust.EXTERNAL, origin=replace(FROM_HERMES, said=f"{REASON} in {file}")
        )
        for each in found:
            try:
                entries += [keep(author, each.job)] if each.job else []
            except WhetError as error:
                refused.append(each._replace(job=None, fault=error.message))
    left = [*(each for each in found if each.job is None), *refused]
    if as_json:
        _print_json(entries, found, left)
    else:
        _print(entries, found, left)
    return int(bool(left))


def _print_json(entries: list[Entry], found: tuple[HermesJob, ...], left: list[HermesJob]) -> None:
    print_json(
        {
            "entries": [entry_record(entry) for entry in entries],
            "notes": {each.name: each.notes for each in found if each.notes},
            "left_out": {each.name: each.fault for each in left},
        }
    )


def _print(entries: list[Entry], found: tuple[HermesJob, ...], left: list[HermesJob]) -> None:
    verb = "needs" if len(entries) == 1 else "need"
    say(f"{many(len(entries), 'job')} of Hermes {verb} your approval: `whet lessons --waiting`.")
    for each in found:
        for note in each.notes:
            say(f"{plain(each.name)}: {plain(note)}.")
    for each in left:
        say(f"Left out {plain(each.name)}: {plain(each.fault)}")


def _text(path: Path) -> str:
    return text_given(path, advice="Give Hermes' cron/jobs.json.", most=FILE_BYTES)
