"""whet migrate: take over what another agent keeps in its home, in one go."""

import os
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

from whet.changes.author import Author
from whet.changes.pending import need_person
from whet.cli.acting import actor_of, careful, person_at, trust_at, why_waits
from whet.cli.hermes_pieces import FROM_HERMES, HermesPiece, hermes_home, pieces, variables
from whet.cli.options import json_command
from whet.cli.output import give, plain, say
from whet.errors import WhetError
from whet.ledger.entries import Entry, Step
from whet.ledger.patches import Action
from whet.own.told.memory import NoteChange, Reason, Refusal
from whet.sessions.trust import Trust
from whet.store.files import beneath, make_folder
from whet.store.home import Home, find_home, prepare_home
from whet.store.memory_files import NAMES, MemoryFolder, hermes_shelf, load
from whet.store.memory_files import change as change_page
from whet.store.opening import opened
from whet.text.showing import shown
from whet.text.words import many

KINDS = {
    "identity": "identity",
    "note": "notes",
    "skill": "skills",
    "job": "jobs",
    "template": "templates",
    "setting": "settings",
}
LINE_LETTERS = 400
NOBODY = "it needs a person: run this in your own terminal, or set trust.commands to true and give --yes"


class TakenPiece(NamedTuple):
    """A piece that is here now or waits, with its entries in the ledger."""

    piece: HermesPiece
    entries: tuple[Entry, ...]


class MigrationReport(NamedTuple):
    """What became of the pieces of a home."""

    taken: list[TakenPiece]
    known: list[HermesPiece]
    left: list[HermesPiece]


@json_command("migrate", epilog="Example: whet migrate hermes --dry-run")
@click.argument("agent", type=click.Choice(["hermes"]))
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--only", multiple=True, type=click.Choice(list(KINDS)), help="Only pieces of this kind. Repeatable.")
@click.option("--back", is_flag=True, help="Add your notes to Hermes' own memory instead; its own notes are kept.")
@click.option("--dry-run", is_flag=True, help="Show what would be taken, without taking it.")
@click.option("--yes", is_flag=True, help="Do not ask; without a terminal, see the setting trust.commands.")
def command(agent: str, path: Path | None, only: tuple[str, ...], back: bool, dry_run: bool, yes: bool) -> int:
    """Take over a Hermes home: notes, skills, jobs, templates, model, MCP servers, enforcement and SOUL.md. You see
    what there is first and confirm. Hermes' home stays as it is; running it again takes only what is new. Keys and
    passwords are not copied. To take back notes, skills, jobs or templates, run `whet ledger undo`.
    """
    folder = hermes_home(path)
    if not folder.is_dir():
        raise WhetError(f"There is no folder {folder}.", advice=f"Name its home: `whet migrate {agent} PATH`.")
    home = find_home(os.environ)
    if back:
        return _give_notes(home, folder)
    prepare_home(home)
    with opened(home) as database:
        # Hermes' agent wrote most of it, whoever asks for it.
        author = person_at(home, database)._replace(trust=Trust.AGENT, origin=FROM_HERMES)
        found = [each for each in pieces(author, folder) if not only or each.kind in only]
        wanted = [each for each in found if each.take and not each.is_known]
        say(*_plan_lines(folder, wanted))
        if wanted and not dry_run and not yes:
            click.confirm("Take all of this?", abort=True, err=True)
        may_decide = trust_at(home, author.actor, yes=yes) is Trust.OPERATOR
        migration = MigrationReport(
            [],
            [each for each in found if each.is_known],
            [each for each in found if not each.take and not each.is_known],
        )
        for each in () if dry_run else wanted:
            _take(migration, each, careful(author, yes=yes), may_decide=may_decide)
    needed = tuple(name for name in variables(folder) if name not in os.environ)
    lines = _report_lines(migration, needed, dry_run=dry_run)
    return give(_record(migration, wanted if dry_run else [], needed), lines)


def _take(migration: MigrationReport, piece: HermesPiece, author: Author, *, may_decide: bool) -> None:
    """Every piece by itself: one that is refused keeps no other out."""
    if piece.take is None or (piece.needs_person and not may_decide):
        migration.left.append(piece._replace(why=NOBODY))
        return
    try:
        migration.taken.append(TakenPiece(piece, tuple(piece.take(author))))
    except WhetError as error:
        migration.left.append(piece._replace(why=error.message))


def _plan_lines(folder: Path, wanted: list[HermesPiece]) -> Iterator[str]:
    yield f"Found in {plain(str(folder))}:" if wanted else f"Nothing new in {plain(str(folder))}."
    for kind, title in KINDS.items():
        of_kind = [each for each in wanted if each.kind == kind]
        if of_kind:
            yield f"[bold]{title}[/] ({len(of_kind)})"
        for each in of_kind:
            note = f" ({each.note})" if each.note else ""
            # Whole, however long: the person agrees to it.
            yield f"  {plain(shown(' '.join((each.name + note).split())))}"


def _report_lines(migration: MigrationReport, needed: tuple[str, ...], *, dry_run: bool) -> Iterator[str]:
    made = [entry for each in migration.taken for entry in each.entries]
    waiting = sum(any(entry.step is Step.PROPOSED for entry in each.entries) for each in migration.taken)
    if not dry_run:
        yield f"Taken: {_counted(each.piece for each in migration.taken)}."
    if migration.known:
        yield f"Taken before or the same here already: {_counted(migration.known)}."
    for each in migration.left:
        yield f"Left there: {each.kind} {plain(_line(each.name))}: {plain(_line(each.why))}"
    if needed:
        yield f"Secrets were not copied. Variables to set where you need them: {plain(', '.join(needed))}."
    if waiting:
        yield f"{many(waiting, 'piece')} {'needs' if waiting == 1 else 'need'} your approval: `whet lessons --waiting`."
        yield from why_waits(made)
    if dry_run:
        yield "Nothing was changed. To take it, run it without --dry-run."
    elif migration.taken:
        yield "To take back what is in the ledger, run `whet ledger undo`; for settings, `whet config --unset`."
    yield "Next: `whet import` takes in Hermes' sessions."


def _line(words: str) -> str:
    """Words of another's file, on a line of bearable length."""
    return shown(textwrap.shorten(words, LINE_LETTERS, placeholder=" …"))


def _counted(found: Iterable[HermesPiece]) -> str:
    kinds = [each.kind for each in found]
    counts = [
        f"{kinds.count(kind)} {kind if kinds.count(kind) == 1 else KINDS[kind]}" for kind in KINDS if kind in kinds
    ]
    return ", ".join(counts) or "nothing"


def _record(migration: MigrationReport, wanted: list[HermesPiece], needed: tuple[str, ...]) -> dict[str, object]:
    return {
        "would_take": [{"kind": each.kind, "name": each.name} for each in wanted],
        "taken": [
            {
                "kind": piece.kind,
                "name": piece.name,
                "note": piece.note or None,
                "entries": [entry.number for entry in entries],
                "waits": any(entry.step is Step.PROPOSED for entry in entries),
            }
            for piece, entries in migration.taken
        ],
        "known": [{"kind": each.kind, "name": each.name} for each in migration.known],
        "left": [{"kind": each.kind, "name": each.name, "reason": each.why} for each in migration.left],
        "variables": list(needed),
    }


def _give_notes(home: Home, hermes: Path) -> int:
    """Add the notes of this home to Hermes' own memory."""
    need_person(actor_of(os.environ))
    shelf = hermes_shelf(hermes)
    make_folder(beneath(hermes, shelf.folder.name))
    tried = [
        (note.text, change_page(shelf, name, [NoteChange(Action.ADD, note.text)]))
        for name in NAMES
        for note in load(MemoryFolder(home.folder), name).notes
    ]
    refused = [(text, made) for text, made in tried if isinstance(made, Refusal)]
    left = [{"note": text, "reason": made.message} for text, made in refused if made.reason is not Reason.DUPLICATE]
    added = len(tried) - len(refused)
    lines = (f"Left out: {plain(each['note'])}\n  {plain(each['reason'])}" for each in left)
    told = f"Added {many(added, 'note')} to {plain(shelf.folder)}; {len(refused) - len(left)} were already there."
    record = {"added": added, "known": len(refused) - len(left), "left_out": left}
    return give(record, (*lines, told), code=int(bool(left)))
