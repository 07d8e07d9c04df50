"""Where a person decides on lessons: approve, edit, refuse, never, undo; one key for each at a terminal."""

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
from whet.changes.apply import revert
from whet.cli.acting import actor_of, has_terminal, need_terminal
from whet.cli.delivery import begin_waiting, hook_tellers, told_sentences, touched, touched_lines
from whet.cli.options import json_command, own_store, yes_option
from whet.cli.output import cautions, give, is_json, next_lines, plain, reviewed, say
from whet.cli.shown.audit import budget_lines
from whet.cli.shown.entries import entry_lines, entry_record
from whet.cli.shown.lessons import QUOTES_SHOWN, change_lines, waiting_lines, waiting_record
from whet.errors import WhetError
from whet.improving.learned import learned, propose_lesson, waiting_lessons
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Form, Patch
from whet.ledger.traces import difference
from whet.lessons.record import Lesson, LessonStage
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.store.settings_file import load
from whet.telling.context.instruction_files import PersonFolder
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.reaching import Reader, command_for, readers_of, reads
from whet.telling.targets.sync import tell
from whet.text.showing import shown, size_of
from whet.text.words import many

KEYS = "a approve · l live: half of the sessions first · e edit · r refuse · n never · s skip · q quit"
BACK = "To take this back, run `whet lessons undo {}`."
NEXT = "Next: `whet lessons --waiting` on a terminal, or `whet lessons approve ID...`, `refuse ID...`, `never ID...`."
QUITTING = ("", "q", "\x1b", "\x04")  # the end of input, q, Escape, Ctrl-D
_PROJECT = "project"
names_argument = click.argument("names", nargs=-1, required=True, metavar="ID...")
note_option = click.option("--note", default="", help="Why.")


class Decider(NamedTuple):
    """Who decides, and in which home."""

    home: Home
    database: Database
    actor: Actor


def show_waiting() -> int:
    """List what waits; a person at a terminal is asked about each."""
    actor = actor_of(os.environ)
    with own_store() as (home, database):
        found = waiting_lessons(home, database, now=time.time())
        if found and actor is Actor.PERSON and has_terminal() and not is_json():
            projects = len({each.project for each in found if each.project})
            say(f"{many(len(found), 'change')}{f' of {many(projects, _PROJECT)}' if projects else ''} to decide on.")
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
    yield from over_budget(lesson.patch)


def over_budget(patch: Patch) -> Iterator[str]:
    """Where a rule would take the files of this folder's project past their budget."""
    return budget_lines(patch, Path.cwd(), PersonFolder(Path.home(), dict(os.environ)))


@json_command("approve", epilog="Example: whet lessons approve 12 14")
@names_argument
@yes_option
def approve(names: tuple[str, ...], yes: bool) -> int:
    """Apply changes exactly as shown. You see each text and confirm, on a terminal; without one, only with --yes and
    where the setting trust.commands allows it.
    """
    with _person(yes=yes) as (by, is_allowed):
        lessons = chosen_lessons(by, names, proposing=True)
        for lesson in lessons:
            say(*_change_lines(lesson), aloud=not is_allowed)
        if not is_allowed:
            sizes = "; ".join(size_of(lesson.move.after or "") for lesson in lessons)
            what = "this" if len(lessons) == 1 else f"these {len(lessons)}"
            click.confirm(f"Approve exactly {what} ({sizes})?", abort=True, err=True)
        made = [
            pending.approve(by.home, by.database, each.standing.entry, actor=by.actor, now=time.time())
            for each in lessons
        ]
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
        (lesson,) = chosen_lessons(by, (name,), proposing=True)
        words = (text or "").strip() or _ask_for_words(lesson)
        if not words:
            return 0
        if not is_allowed:
            click.confirm(f"Apply exactly this ({size_of(words)})?", abort=True, err=True)
        made = _applied_edit(by, lesson, words)
        told = (in_force(each, by.home, by.database) for each in (made,))
        return give({"applied": [entry_record(made)]}, told)


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


@json_command("undo", epilog="Example: whet lessons undo 15")
@names_argument
def undo(names: tuple[str, ...]) -> int:
    """Take a decision back: what was approved is no longer told, what was refused, even for ever, waits again. ID is
    the lesson's, or the entry in `whet ledger` of the decision.
    """
    actor = actor_of(os.environ)
    with own_store() as (home, database):
        by = Decider(home, database, actor)
        decisions = [_decision(by, name) for name in names]
        is_reopening = all(each.step is Step.REFUSED for each in decisions)
        with database.writing() if is_reopening else contextlib.nullcontext():
            made = [_undone(by, each) for each in decisions]
        files = tell(home, database, now=time.time())
    lines = []
    for entry in made:
        what = f"{entry.patch.form} {plain(entry.patch.name)}"
        is_waiting = entry.step is Step.PROPOSED
        lines.append(f"Waits again: {what} (entry {entry.number})." if is_waiting else f"Taken back: {what}.")
    record = {"entries": [entry_record(entry) for entry in made], "files": touched(files)}
    return give(record, (*lines, *touched_lines(files)))


COMMANDS = (approve, edit, refuse, never, undo)


def _decision(by: Decider, name: str) -> Entry:
    """The entry of the decision that is meant."""
    if name.isdecimal():
        return ledger_of(by.home, by.database).entry(int(name))
    lesson = next((each for each in learned(by.home, by.database).lessons if each.id == name), None)
    if lesson is None or not lesson.standing.entry or lesson.standing.stage is LessonStage.WAITING:
        raise WhetError(f"Nobody has decided on a lesson {name}.", advice="`whet lessons --all` lists all of them.")
    return ledger_of(by.home, by.database).entry(lesson.standing.entry)


def _undone(by: Decider, entry: Entry) -> Entry:
    if entry.step is Step.REFUSED:
        return pending.reopen(by.home, by.database, entry.number, actor=by.actor, now=time.time())
    return revert(by.home, by.database, entry.number, actor=by.actor, now=time.time())


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


def chosen_lessons(by: Decider, names: tuple[str, ...], *, proposing: bool = False) -> list[Lesson]:
    """The waiting lessons of these ids or entries; nothing is done where one of them does not wait.

    With `proposing`, a lesson that nobody has decided on is proposed first.
    """
    found = waiting_lessons(by.home, by.database, now=time.time())
    if proposing and not all(_named(found, name) for name in names):
        known = {each.id: each for each in learned(by.home, by.database).lessons}
        if all(_named(found, name) or name in known for name in names):
            names = tuple(name if _named(found, name) else _proposed(by, known[name]) for name in names)
            found = waiting_lessons(by.home, by.database, now=time.time())
    for name in names:
        if not _named(found, name):
            advice = "Give the id of a lesson, as `whet lessons` shows it, or the entry of a change that waits."
            raise WhetError(f"No lesson {name} waits for you.", advice=advice)
    return list({each.standing.entry: each for name in names for each in _named(found, name)}.values())


def _proposed(by: Decider, lesson: Lesson) -> str:
    """The entry that proposes a lesson on which nobody has decided."""
    return str(propose_lesson(by.home, by.database, lesson, now=time.time()).number)


def _named(found: Sequence[Lesson], name: str) -> list[Lesson]:
    return [each for each in found if name in (str(each.standing.entry), each.id)]


def _refuse(names: tuple[str, ...], note: str, *, is_never: bool) -> int:
    actor = actor_of(os.environ)
    with own_store() as (home, database):
        chosen = chosen_lessons(Decider(home, database, actor), names)
        decide = pending.say_never if is_never else pending.refuse
        made = [decide(home, database, each.standing.entry, actor=actor, now=time.time(), note=note) for each in chosen]
    word = "Never again" if is_never else "Refused"
    lines = [f"{word}: {entry.patch.form} {plain(entry.patch.name)}." for entry in made]
    lines += [BACK.format(" ".join(str(entry.number) for entry in made))] if made else []
    return give({"refused": [entry_record(entry) for entry in made]}, lines)


def _decide_all(by: Decider, lessons: Sequence[Lesson]) -> None:
    """Ask about one change after another, until all are decided on or the person stops."""
    decided = 0
    for place, lesson in enumerate(lessons, start=1):
        say(f"[bold]{place} of {len(lessons)}: {plain(shown(lesson.group))}[/]")
        say(*change_lines(lesson, quotes=QUOTES_SHOWN))
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
        act = ACTS.get(key)
        if act is None:
            continue
        try:
            done = act(by, lesson)
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


def _approve_by_key(by: Decider, lesson: Lesson) -> str:
    made = pending.approve(by.home, by.database, lesson.standing.entry, actor=by.actor, now=time.time())
    return in_force(made, by.home, by.database)


def _live_by_key(by: Decider, lesson: Lesson) -> str:
    made = begin_waiting(by.home, by.database, lesson.proposal, actor=by.actor)
    [entry] = made.entries
    return f"Approved: {entry.patch.form} {plain(entry.patch.name)} is {plain(made.words)}."


def _edit_by_key(by: Decider, lesson: Lesson) -> str:
    """Apply the person's own words; empty if they are left unchanged."""
    words = _ask_for_words(lesson)
    return in_force(_applied_edit(by, lesson, words), by.home, by.database) if words else ""


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


def _applied_edit(by: Decider, lesson: Lesson, text: str) -> Entry:
    say(*reviewed(text), *cautions(text))
    return pending.approve_edited(by.home, by.database, lesson.standing.entry, text, actor=by.actor, now=time.time())


def _refuse_by_key(by: Decider, lesson: Lesson) -> str:
    made = pending.refuse(by.home, by.database, lesson.standing.entry, actor=by.actor, now=time.time())
    return f"Refused. {BACK.format(made.number)}"


def _never_by_key(by: Decider, lesson: Lesson) -> str:
    made = pending.say_never(by.home, by.database, lesson.standing.entry, actor=by.actor, now=time.time())
    return f"Refused. Nothing that says the same will be proposed again. {BACK.format(made.number)}"


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


ACTS: dict[str, Callable[[Decider, Lesson], str]] = {
    "a": _approve_by_key,
    "l": _live_by_key,
    "e": _edit_by_key,
    "r": _refuse_by_key,
    "n": _never_by_key,
}
