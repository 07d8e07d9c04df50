"""Where a person decides on lessons: approve, edit, refuse, never; one key for each at a terminal."""

import contextlib
import os
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from whet.changes import pending
from whet.cli.acting import actor_of, has_terminal, need_terminal
from whet.cli.analysed import lessons_by_name
from whet.cli.delivery import begin_waiting, hook_tellers, told_sentences
from whet.cli.options import json_command, own_store, yes_option
from whet.cli.output import cautions, give, is_json, next_lines, plain, reviewed, say
from whet.cli.shown.entries import entry_lines, entry_record
from whet.cli.shown.lessons import change_lines, waiting_lines, waiting_record
from whet.errors import WhetError
from whet.improving.learned import propose_lesson, waiting_lessons
from whet.ledger.entries import Actor, Entry
from whet.ledger.folding import difference
from whet.ledger.patches import Form, Patch
from whet.lessons.record import Lesson
from whet.lessons.statements.audit import BUDGET
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.store.settings_file import load
from whet.telling.context.auditing import audit_folder, unaudited
from whet.telling.context.instruction_files import PersonFolder
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import name_of_project, repository_root
from whet.telling.targets.settings import Reader, command_for, readers_of, reads
from whet.text.showing import shown, size_of
from whet.text.words import estimate, many

KEYS = "a approve · l live: half of the sessions first · e edit · r refuse · n never · s skip · q quit"
BACK = "To take this back, run `whet ledger undo {}`."
NEXT = "Next: `whet lessons --waiting` on a terminal, or `whet lessons approve ID...`, `refuse ID...`, `never ID...`."
QUITTING = ("", "q", "\x1b", "\x04")  # the end of input, q, Escape, Ctrl-D
INSTEAD = 3  # statements that a rule could take the place of
names_argument = click.argument("names", nargs=-1, required=True, metavar="ID...")
note_option = click.option("--note", default="", help="Why.")


class Decider(NamedTuple):
    """Who decides, and in which home."""

    home: Home
    database: Database
    actor: Actor

    def approve(self, lesson: Lesson) -> Entry:
        return pending.approve(self.home, self.database, lesson.standing.entry, actor=self.actor, now=time.time())

    def edit(self, lesson: Lesson, text: str) -> Entry:
        say(*reviewed(text), *cautions(text))
        number = lesson.standing.entry
        return pending.approve_edited(self.home, self.database, number, text, actor=self.actor, now=time.time())

    def refuse(self, lesson: Lesson, *, is_never: bool, note: str = "") -> Entry:
        act, number = pending.say_never if is_never else pending.refuse, lesson.standing.entry
        return act(self.home, self.database, number, actor=self.actor, now=time.time(), note=note)


def show_waiting() -> int:
    """List what waits; a person at a terminal is asked about each."""
    actor = actor_of(os.environ)
    with own_store() as (home, database):
        found = waiting_lessons(home, database, now=time.time())
        if found and actor is Actor.PERSON and has_terminal() and not is_json():
            projects = len({each.project for each in found if each.project})
            of = f" of {many(projects, 'project')}"
            say(f"{many(len(found), 'change')}{of if projects else ''} to decide on.")
            _decide_all(Decider(home, database, actor), found)
            return 0
    nothing = next_lines("`whet try` proposes changes, `whet rules` lists what is active.")
    lines = (*waiting_lines(found), NEXT) if found else ("Nothing needs your approval.", *nothing)
    return give({"waiting": [waiting_record(each) for each in found]}, lines)


def show_change(lesson: Lesson) -> int:
    """Print a change that waits, as a diff with all that is known of it."""
    record = {**waiting_record(lesson), "diff": difference(lesson.move.before, lesson.move.after)}
    return give(record, _change_lines(lesson))


def _change_lines(lesson: Lesson) -> Iterator[str]:
    yield from entry_lines(lesson.proposal, lesson.move, lambda _: lesson.seen_by.place)
    yield from budget_lines(lesson.patch, Path.cwd(), PersonFolder(Path.home(), dict(os.environ)))


def budget_lines(patch: Patch, folder: Path, person: PersonFolder | None) -> Iterator[str]:
    """A warning where a rule would take what is read at every start past its budget, and what it could replace."""
    is_told_here = patch.scope.project in ("", name_of_project(folder)) and repository_root(folder) is not None
    if patch.form is not Form.RULE or patch.scope.at_call or not is_told_here:
        return
    after = unaudited(folder, person=person).tokens + estimate(patch.text)
    if after <= BUDGET:
        return
    audit = audit_folder(folder, person=person, is_dated=False)
    yield f"[yellow]With it, {after:,} tokens are read at every start: more than the budget of {BUDGET:,}.[/]"
    instead = audit.replaceable[:INSTEAD]
    if instead:
        places = ", ".join(f"{plain(each.statement.place)} ({each.words})" for each in instead)
        yield f"   It could take the place of {places}."
    else:
        yield f"   {many(len(audit.at_start), 'statement')}; `whet audit --all` lists them."


@json_command("approve", epilog="Example: whet lessons approve 12 14")
@names_argument
@yes_option
def approve(names: tuple[str, ...], yes: bool) -> int:
    """Apply changes exactly as shown. You see each text and confirm, on a terminal; without one, only with --yes and
    where the setting trust.commands allows it.
    """
    with _person(yes=yes) as (by, is_allowed):
        lessons = chosen_lessons(by.home, by.database, names)
        for lesson in lessons:
            say(*_change_lines(lesson), aloud=not is_allowed)
        if not is_allowed:
            sizes = "; ".join(size_of(lesson.move.after or "") for lesson in lessons)
            what = "this" if len(lessons) == 1 else f"these {len(lessons)}"
            click.confirm(f"Approve exactly {what} ({sizes})?", abort=True, err=True)
        made = [by.approve(each) for each in lessons]
        told = (in_force(entry, by.home, by.database) for entry in made)
        return give({"applied": [entry_record(entry) for entry in made]}, told)


@json_command("edit", epilog='Example: whet lessons edit 12 "Run the checks with make check."')
@click.argument("name", metavar="ID")
@click.argument("text", required=False)
@yes_option
def edit(name: str, text: str | None, yes: bool) -> int:
    """Apply a change in your own words, which are yours from then on; what was proposed is refused. Without TEXT, your
    editor opens.
    """
    with _person(yes=yes) as (by, is_allowed):
        (lesson,) = chosen_lessons(by.home, by.database, (name,))
        words = (text or "").strip() or _ask_for_words(lesson)
        if not words:
            return 0
        if not is_allowed:
            click.confirm(f"Apply exactly this ({size_of(words)})?", abort=True, err=True)
        made = by.edit(lesson, words)
        return give({"applied": [entry_record(made)]}, (in_force(made, by.home, by.database),))


@json_command("refuse", epilog="Example: whet lessons refuse 12 14")
@names_argument
@note_option
def refuse(names: tuple[str, ...], note: str) -> int:
    """Refuse changes permanently."""
    return _refuse(names, note, is_never=False)


@json_command("never", epilog="Example: whet lessons never 12 14")
@names_argument
@note_option
def never(names: tuple[str, ...], note: str) -> int:
    """Refuse changes, and never propose again what says the same or is for the same failure."""
    return _refuse(names, note, is_never=True)


COMMANDS = (approve, edit, refuse, never)


@contextlib.contextmanager
def _person(*, yes: bool) -> Iterator[tuple[Decider, bool]]:
    """The person who decides; whether they need not be asked again. Raises WhetError for anybody else."""
    home, actor = find_home(os.environ), actor_of(os.environ)
    pending.need_person(actor)
    is_allowed = yes and load(home).trust.commands
    if not is_allowed:
        need_terminal()
    with opened(home) as database:
        yield Decider(home, database, actor), is_allowed


def chosen_lessons(
    home: Home, database: Database, names: tuple[str, ...], expect: Callable[[Sequence[Lesson]], None] | None = None
) -> list[Lesson]:
    """The waiting lessons of these ids or numbers, proposed first where nobody has decided on them; nothing is done
    where one of them cannot be decided on, or where they are not as expected.
    """
    found = _waiting_by_name(home, database)
    new = [name for name in names if name not in found]
    known = lessons_by_name(home, database) if new else {}
    if missing := [name for name in new if name not in known]:
        advice = "Give the id of a lesson, as `whet lessons` shows it, or the entry of a change that waits."
        raise WhetError(f"No lesson {missing[0]} waits for you.", advice=advice)
    if expect is not None:
        expect([found.get(name) or known[name] for name in names])
    if new:
        entries = {name: propose_lesson(home, database, known[name], now=time.time()).number for name in new}
        names = tuple(str(entries.get(name, name)) for name in names)
        found = _waiting_by_name(home, database)
    return list({found[name].standing.entry: found[name] for name in names}.values())


def _waiting_by_name(home: Home, database: Database) -> dict[str, Lesson]:
    """What waits by the id of its lesson, and by its entry."""
    waiting = waiting_lessons(home, database, now=time.time())
    return {name: each for each in reversed(waiting) for name in (each.id, str(each.standing.entry))}


def _refuse(names: tuple[str, ...], note: str, *, is_never: bool) -> int:
    actor = actor_of(os.environ)
    pending.need_person(actor)
    with own_store() as (home, database):
        by = Decider(home, database, actor)
        made = [by.refuse(each, is_never=is_never, note=note) for each in chosen_lessons(home, database, names)]
    word = "Never again" if is_never else "Refused"
    lines = [f"{word}: {entry.patch.form} {plain(entry.patch.name)}." for entry in made]
    lines += [BACK.format(entry.number) for entry in made]
    return give({"refused": [entry_record(entry) for entry in made]}, lines)


def _decide_all(by: Decider, lessons: Sequence[Lesson]) -> None:
    """Ask about one change after another, until all are decided on or the person stops."""
    decided = 0
    for place, lesson in enumerate(lessons, start=1):
        say(f"[bold]{place} of {len(lessons)}: {plain(shown(lesson.group))}[/]")
        say(*change_lines(lesson))
        made = _decide(by, lesson)
        if made is None:
            break
        decided += made
    left = len(lessons) - decided
    rest = f" {many(left, 'change')} left: to continue, run `whet lessons --waiting`." if left else ""
    say(f"Decided on {many(decided, 'change')}.{rest}")


def _decide(by: Decider, lesson: Lesson) -> bool | None:
    """Whether the person decided; None where they quit. What cannot be done is said, and asked again."""
    while True:
        key = _press(f"{KEYS} ({size_of(lesson.move.after or '')})")
        if key in QUITTING:
            return None
        if key == "s":
            return False
        try:
            done = _done_by(by, lesson, key)
        except WhetError as error:
            say(f"[red]{plain(error.message)}[/] {plain(error.advice)}")
            continue
        if done:
            say(done)
            return True


def _press(prompt: str) -> str:
    """The key that is pressed after the prompt is shown: what was typed before it decides nothing."""
    terminal = sys.stdin.fileno()
    settings = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSAFLUSH)
        say(prompt)
        return os.read(terminal, 1).decode(errors="replace").lower()
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, settings)


def _done_by(by: Decider, lesson: Lesson, key: str) -> str:
    """What a key did, in words; empty where nothing was done."""
    match key:
        case "a":
            return in_force(by.approve(lesson), by.home, by.database)
        case "l":
            made = begin_waiting(by.home, by.database, lesson.proposal, actor=by.actor)
            [entry] = made.entries
            return f"Approved: {entry.patch.form} {plain(entry.patch.name)} is {plain(made.words)}."
        case "e":
            words = _ask_for_words(lesson)
            return in_force(by.edit(lesson, words), by.home, by.database) if words else ""
        case "r" | "n":
            refused = by.refuse(lesson, is_never=key == "n")
            more = " Nothing that says the same will be proposed again." if key == "n" else ""
            return f"Refused.{more} {BACK.format(refused.number)}"
    return ""


def _ask_for_words(lesson: Lesson) -> str:
    """The person's own words; empty if they are left unchanged."""
    words = lesson.patch.text
    if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        text = (click.edit(words, extension=".md") or "").rstrip("\n")
    else:
        text = str(click.prompt("New text", default="", show_default=False, err=True)).strip()
    if text and text != words:
        return text
    say("The text is unchanged.")
    return ""


def in_force(made: Entry, home: Home, database: Database) -> str:
    """What a person reads after a yes: that it is active, and who is told it."""
    active = f"Approved and active: {made.patch.form} {plain(made.patch.name)} (entry {made.number})."
    if made.patch.form is not Form.RULE or not made.after:
        return active
    return f"{active}\n{plain(told_to(made, home, database))}"


def told_to(made: Entry, home: Home, database: Database) -> str:
    """Which agents are told a rule and by what, or the command that is missing."""
    rule = ledger_of(home, database).state().get(Form.RULE, made.patch.name)
    assert rule is not None
    scope = rule.scope
    _, paths = readers_of(home, rule, now=time.time())
    project = f" in {shown(KnownProjects(database).shown(scope.project))}" if scope.project else ""
    tellers = hook_tellers(home)
    told = told_sentences(
        tellers.among(name for each in tellers for name in each if reads(Reader(name), rule)), project
    )
    if paths:
        told.append(f"To write it to {', '.join(paths)}, run `whet sync`.")
    if told:
        return " ".join(told)
    command = command_for(database, scope.project)
    return f"No agent is told it yet. Run `{command}` and `whet sync`, or `whet setup` for hooks."
