"""whet ledger: every change of what agents are told, and the way back from each."""

import contextlib
import os
import time
from collections.abc import Iterator
from typing import NamedTuple

import click
from rich.table import Table

from whet.changes import apply
from whet.changes.apply import settle
from whet.changes.pending import reopen
from whet.cli.acting import actor_of, expect_meant
from whet.cli.delivery import touched, touched_lines
from whet.cli.options import AskedRows, CommandList, json_group, own_store
from whet.cli.output import console, give, is_json, moment, next_lines, plain
from whet.cli.shown.entries import entry_lines, entry_record, patch_cells
from whet.errors import WhetError
from whet.improving.learned import lessons_of
from whet.ledger.entries import Actor, Entry, Key, Step
from whet.ledger.folding import (
    PUTTING,
    Move,
    Trace,
    difference,
    fold,
    grounds_of,
    last_batch,
    move_of,
    seen_from,
    trace,
)
from whet.ledger.patches import Action
from whet.lessons.record import LessonStage
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.sync import TargetChange, tell
from whet.text.showing import shown

EMPTY = "The ledger is empty: nothing has changed yet. `whet try` finds what to change."
PASSING = frozenset({Step.BEGUN, Step.ABANDONED})
ID_LETTERS = 8  # of a lesson; no ledger has so many entries
ROOMY = 120  # columns in which all that is known of an entry has room
ROOMY_ONLY = ("when", "by", "maker")  # what has no room in a narrow terminal: `whet ledger show` tells it
# Of words that never became active: what was decided on them last.
NEVER_ACTIVE = {
    Step.APPROVED: "Approved, then not applied",
    Step.REFUSED: "Refused",
    Step.EXPIRED: "Nobody decided in time",
    Step.ACCEPTED: "A trial accepted it, and nobody applied it",
    Step.REJECTED: "A trial rejected it",
    Step.UNDECIDED: "A trial could not decide",
}


class ListedEntry(NamedTuple):
    """An entry with the grounds of what is active by it."""

    entry: Entry
    grounds: str


ENTRIES: CommandList[ListedEntry] = CommandList(
    {
        "id": lambda row: row.entry.number,
        "when": lambda row: moment(row.entry.at),
        "step": lambda row: _step(row.entry, row.grounds),
        "by": lambda row: row.entry.actor,
        "maker": lambda row: shown(row.entry.maker),
        "what": lambda row: patch_cells(row.entry.patch)[0],
        "text": lambda row: patch_cells(row.entry.patch)[1],
    },
    numbers=("id",),
    spare=("maker", "by"),
    project=lambda row: row.entry.patch.scope.project,
    at=lambda row: row.entry.at,
)


@json_group("ledger", epilog="Example: whet ledger --limit 20")
@ENTRIES.options
@click.option("--limit", type=click.IntRange(1), default=30, show_default=True, help="Maximum number to list.")
@click.option("--all", "everything", is_flag=True, hidden=True, help="Also what was started and abandoned.")
def command(asked: AskedRows, limit: int, everything: bool) -> int:
    """List every change to rules, notes, skills, templates and jobs, newest first. The commands show one entry, explain
    where a sentence came from, and undo changes. Nothing is ever lost, and your own edits are never overwritten.
    """
    own, others, grounds = _entries()
    listed = [entry for entry in (*own, *others) if everything or entry.step not in PASSING]
    with own_store() as (_, database):
        newest = sorted(listed, key=lambda each: -each.number)
        every = (ListedEntry(each, grounds.get(each.number, "")) for each in newest)
        found = ENTRIES.chosen(every, asked, KnownProjects(database))
    rows = found[:limit]
    counted = {entry.number for entry in own}
    records = [
        {**entry_record(each), "counts": each.number in counted, "grounds": grounds or None} for each, grounds in rows
    ]
    foreign = dict.fromkeys(each.maker for each, _ in rows if each.number not in counted)
    lines = _lines(rows, ", ".join(foreign)) if listed else (EMPTY,)
    return give({"total": len(found), "entries": records}, lines)


def _lines(rows: list[ListedEntry], foreign: str) -> Iterator[str | Table]:
    is_roomy = console().width >= ROOMY
    columns = {name: show for name, show in ENTRIES.columns.items() if is_roomy or name not in ROOMY_ONLY}
    listed = rows if is_roomy else [row._replace(grounds="") for row in rows]
    yield from ENTRIES._replace(columns=columns).lines(listed, none="No change matches: try fewer filters.")
    if foreign:
        names = plain(shown(foreign))
        yield f"Changes by {names} apply to them, and here only if you approve them: `whet lessons --waiting`."
    yield from next_lines("`whet ledger show ID` for the evidence and the verdict, `whet ledger undo ID` to undo.")


def _step(entry: Entry, grounds: str) -> str:
    """The step, with the entry that it is about and the grounds of what is active."""
    return f"{entry.step}{f' {entry.about}' if entry.about else ''}{f', {grounds}' if grounds else ''}"


@command.command("show", epilog="Example: whet ledger show 'run the tests'")
@click.argument("words", nargs=-1, required=True, metavar="ID|TEXT...")
def show(words: tuple[str, ...]) -> int:
    """Show one entry with its evidence and a diff, by its ID; or by words: which entry added them, on what evidence,
    and whether they are active, wait, or were refused or undone.
    """
    if len(words) == 1 and words[0].isdecimal():
        return _show_entry(int(words[0]))
    return _show_words(" ".join(words))


def _show_entry(number: int) -> int:
    with own_store() as (home, database):
        ledger = ledger_of(home, database)
        entry = ledger.entry(number)
        entries = ledger.entries()
        active = next((item for item in ledger.state().items if item.number == number), None)
        named = KnownProjects(database).shown
    grounds = grounds_of(active, entries) if active else ""
    before = fold(each for each in entries if each.number < (entry.begun or number))
    if any(each.number == number for each in entries):
        move = move_of(seen_from(entry.home, before), entry)
    else:  # what it changed elsewhere is not in force here
        patch = entry.patch
        move = Move(Key(patch.form, patch.name, entry.home), None, patch.text if entry.after else None)
    record = {**entry_record(entry), "grounds": grounds or None, "diff": difference(move.before, move.after)}
    active_line = (f"Active {plain(grounds)}.",) if grounds else ()
    return give(record, (*entry_lines(entry, move, named), *active_line))


@command.command("undo", epilog="Example: whet ledger undo")
@click.argument("names", nargs=-1, metavar="[ID]...")
@click.option("--note", default="", help="Why, with ID.")
def undo(names: tuple[str, ...], note: str) -> int:
    """Undo the last change; run it again to undo the one before. With ID, of an entry or a lesson, undo that decision,
    unless something later changed the same item: what was refused, even for ever, waits again. If the last change is
    not a rule, note or skill that you decided on yourself, you are asked first; without a terminal, give its ID. The
    files of targets are brought up to date, and named.
    """
    actor = actor_of(os.environ)
    with own_store() as (home, database):
        ledger = ledger_of(home, database)
        entries = [_decision(home, database, name) for name in names]
        last = {change.number for change in last_batch(ledger.state().done)}
        if not entries:
            expect_meant(home, ledger)
        if not entries or (not note and len(entries) == 1 and entries[0].number in last):
            made = apply.undo(home, database, actor=actor, now=time.time())
        else:
            is_reopening = all(each.step is Step.REFUSED for each in entries)
            with database.writing() if is_reopening else contextlib.nullcontext():
                made = tuple(_undone(home, database, each, actor, note) for each in entries)
        files = tell(home, database, now=time.time())
    return _report(made, files)


def _decision(home: Home, database: Database, name: str) -> Entry:
    """The entry that is meant: by its number, or the last decision on a lesson by its id."""
    ledger = ledger_of(home, database)
    if name.isdecimal() and len(name) < ID_LETTERS:
        return ledger.entry(int(name))
    lesson = next((each for each in lessons_of(home, database) if each.id == name), None)
    if lesson is None or not lesson.standing.entry or lesson.standing.stage is LessonStage.WAITING:
        raise WhetError(f"Nobody has decided on a lesson {name}.", advice="`whet lessons --all` lists all of them.")
    return ledger.entry(lesson.standing.entry)


def _undone(home: Home, database: Database, entry: Entry, actor: Actor, note: str) -> Entry:
    if entry.step is Step.REFUSED:
        return reopen(home, database, entry.number, actor=actor, now=time.time())
    return apply.revert(home, database, entry.number, actor=actor, now=time.time(), note=note)


@command.command("redo", epilog="Example: whet ledger redo")
def redo() -> int:
    """Redo the change that was undone last."""
    with own_store() as (home, database):
        made = apply.redo(home, database, actor=actor_of(os.environ), now=time.time())
        files = tell(home, database, now=time.time())
    return _report(made, files)


def _show_words(text: str) -> int:
    found = trace(_entries()[0], text)
    if not found and not is_json():
        raise WhetError(
            "No entry contains these words.",
            advice="Try fewer words, exactly as written. Text that you typed into a file yourself is not in the "
            "ledger.",
        )
    with own_store() as (_, database):
        named = KnownProjects(database).shown
    records: list[dict[str, object]] = []
    lines: list[str] = []
    for each in found:
        entry, ended = each
        patch = entry.patch
        records.append({**entry_record(entry), "state": _state(each), "ended": entry_record(ended) if ended else None})
        lines.append(f"[bold]{_standing(each)}[/bold]")
        lines += entry_lines(entry, Move(Key(patch.form, patch.name), None, patch.text), named)
    return give({"text": text, "entries": records}, lines, code=int(not found))


def _state(found: Trace) -> str:
    """What became of words, in one word for programs."""
    entry, ended = found
    if ended is not None:
        return str(ended.step)
    return "active" if entry.step in PUTTING else "waits"


def _standing(found: Trace) -> str:
    entry, ended = found
    if entry.step not in PUTTING:
        end = f", entry {ended.number}, {moment(ended.at)}" if ended else ": `whet lessons --waiting` decides on it"
        return f"Not active. {NEVER_ACTIVE[ended.step] if ended else 'Waits for your approval'}{end}:"
    if ended is None:
        return "Active:"
    took = {Action.CHANGE: "replaced", Action.REMOVE: "removed"}.get(ended.patch.action, "replaced")
    how = took if ended.step in PUTTING else str(ended.step)
    return f"No longer active, {how} by entry {ended.number}, {moment(ended.at)}:"


def _entries() -> tuple[list[Entry], list[Entry], dict[int, str]]:
    """The entries that count in this home, with nothing left unfinished, and those of other members on rules.

    The last says of each entry that put something in force on what grounds it is.
    """
    with own_store() as (home, database):
        ledger = ledger_of(home, database)
        settle(home, ledger, now=time.time())
        own = [entry for entry in ledger.entries() if entry.home in ("", ledger.home)]
        grounds = {item.number: grounds_of(item, own) for item in ledger.state().items}
        if fault := next(iter(ledger.faults()), "") or ledger.lost():
            click.echo(f"The ledger was changed outside Whet: {fault}. For the fix, run `whet doctor`.", err=True)
        return own, ledger.of_others(), grounds


def _report(made: tuple[Entry, ...], files: tuple[TargetChange, ...]) -> int:
    lines = map(_became, made)
    record = {"entries": [entry_record(entry) for entry in made], "files": touched(files)}
    return give(record, (*lines, *touched_lines(files)))


def _became(entry: Entry) -> str:
    what = f"{entry.patch.form} {plain(entry.patch.name)}"
    if entry.step is Step.PROPOSED:
        return f"Waits again: {what} (entry {entry.number})."
    return f"Entry {entry.about} was {entry.step}: the {what} is {'restored' if entry.after else 'removed'}."
