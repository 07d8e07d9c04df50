"""whet live: rules that a share of the sessions is told, and what came of it."""

import os
import time
from collections.abc import Callable, Iterator, Sequence

import click
import msgspec
from rich.table import Table

from whet.changes.apply import promote, revert, try_out
from whet.cli.acting import actor_of, need_terminal, trust_at
from whet.cli.deciding import chosen_lessons
from whet.cli.delivery import SHARE, BegunLive, begin_waiting, begun, expect_told, touched, touched_lines
from whet.cli.options import AskedRows, CommandList, json_group, own_store, yes_option
from whet.cli.output import cautions, fields, give, moment, next_lines, plain, reviewed, say
from whet.cli.shown.entries import entry_record
from whet.errors import WhetError
from whet.improving.learned import LessonScope, lessons_of
from whet.improving.watch import live_lessons, look
from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch, digest
from whet.lessons.following import detector_of
from whet.lessons.record import UNDECIDED, Lesson
from whet.lessons.rungs import CanaryMove, LiveCounts
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.sync import tell
from whet.text.showing import shown, size_of
from whet.text.words import many

LIVE: CommandList[Lesson] = CommandList(
    {
        "entry": lambda lesson: lesson.standing.entry,
        "rule": lambda lesson: lesson.patch.name if lesson.patch.form is Form.RULE else lesson.standing.told_as,
        "since": lambda lesson: moment(lesson.counts.since),
        "share": lambda lesson: f"{100 * lesson.counts.share:.0f} %",
        "with": lambda lesson: _loss(lesson.counts.comparison.loss_told, lesson.counts.comparison.told),
        "without": lambda lesson: _loss(lesson.counts.comparison.loss_untold, lesson.counts.comparison.untold),
        "effect": lambda lesson: "{:+.2f} ({:+.2f} to {:+.2f})".format(
            lesson.counts.comparison.effect, *lesson.counts.comparison.interval
        ),
        "help": lambda lesson: _evidence(lesson.counts.comparison.evidence_help),
        "harm": lambda lesson: _evidence(lesson.counts.comparison.evidence_harm),
        "decision": lambda lesson: lesson.counts.comparison.decision.value,
    },
    numbers=("share", "with", "without", "effect", "help", "harm"),
    project=lambda lesson: lesson.patch.scope.project,
    at=lambda lesson: lesson.counts.since,
)


def live_lines(found: Sequence[Lesson], ended: Entry | None = None) -> Iterator[str | Table]:
    """What is live and how it goes; where nothing is, what became of the last."""
    if not found:
        yield "Nothing is live. To tell a rule to half of your sessions, run `whet live start ID`."
        if ended is not None:
            yield f"The last one: {plain(shown(ended.note))}. To take that back, run `whet ledger undo {ended.number}`."
        return
    yield LIVE.table(found)
    yield from _notes(found)
    yield from next_lines(
        "nothing to do: `whet live look`, or the worker every hour, decides. `whet live stop NAME` ends one."
    )


def live_record(lesson: Lesson) -> dict[str, object]:
    watched = lesson.counts
    return {
        "entry": lesson.standing.entry,
        "name": lesson.patch.name,
        "text": lesson.rule,
        **msgspec.to_builtins(watched),
        **fields(watched.comparison, "decision", "told", "untold"),
    }


def _notes(found: Sequence[Lesson]) -> Iterator[str]:
    by_score = tuple(each.counts for each in found if not each.counts.endpoint)
    if by_score:
        alpha = by_score[0].comparison.alpha
        yield (
            "[dim]Mean loss of sessions with and without the rule: 1 for one that ends in failure, else the share"
            " of its time that bought nothing"
            f" ({many(sum(each.sessions for each in by_score), 'session')}). Decided at evidence {1 / alpha:.0f}; error"
            f" rate at most {100 * alpha:g} % per side.[/]"
        )
    bundles = {each.counts.together.number: each.counts.together for each in found if each.counts.together}
    for bundle in bundles.values():
        yield f"{bundle.words}.{_next_look(bundle.counts)} They are decided on together."
        yield from _guard_notes(f"Bundle {bundle.number}", bundle.counts)
    uncounted = [plain(each.patch.name) for each in found if each.counts.endpoint and not each.counts.sessions]
    if uncounted:
        yield (
            f"[dim]{', '.join(uncounted)}: nothing is counted yet. A session counts an hour after its last message;"
            " where a file is drawn for by the day, that day's sessions count when it is over.[/]"
        )
    for each in found:
        if each.counts.endpoint:
            yield from _endpoint_notes(each.patch.name, each.counts)
        if each.counts.why:
            yield f"[bold]Entry {each.counts.decided or each.standing.entry}[/]: {plain(shown(each.counts.why))}."


def _endpoint_notes(name: str, watched: LiveCounts) -> Iterator[str]:
    found = watched.comparison
    seen = found.told + found.untold
    yield (
        f"[dim]{plain(name)}: with and without it, the share of the sessions in its situation ({seen} of"
        f" {watched.sessions}) that failed: {watched.endpoint}.{_next_look(watched)}[/]"
    )
    yield from _guard_notes(name, watched)


def _guard_notes(name: str, watched: LiveCounts) -> Iterator[str]:
    for guard in watched.guards:
        if guard.stops:
            told, untold = (f"{mean:.2f}" if mean is not None else "–" for mean in (guard.told, guard.untold))
            yield f"[yellow]{plain(name)}: {guard.name} {told} with it, {untold} without.[/]"
    if watched.held_by and watched.comparison.decision is CanaryMove.WAIT:
        yield f"[yellow]{plain(name)} is not promoted: worse with it: {plain(watched.held_by)}.[/]"


def _next_look(watched: LiveCounts) -> str:
    return f" Next look after {watched.next_look}." if watched.next_look else ""


def _loss(loss: float | None, number: int) -> str:
    """A mean loss, and of how many."""
    return f"{loss:.2f} ({number})" if loss is not None else "–"


def _evidence(value: float) -> str:
    return f"{value:.2g}" if value < 1000 else "> 1000"


@json_group("live", epilog="Example: whet live start 12")
@LIVE.options
def command(asked: AskedRows) -> int:
    """List the rules that only a share of sessions gets, with the evidence so far. A hash of the session id decides
    which sessions; for the files of other agents, a hash of the day. `whet live look` tells a rule that helps to
    every session, and takes back one that harms.
    """
    with own_store() as (home, database):
        found = LIVE.chosen(live_lessons(home, database), asked, KnownProjects(database))
        ended = _last_ended(home, database)
    return give({"live": [live_record(each) for each in found]}, live_lines(found, ended))


@command.command("start", epilog="Example: whet live start 4 --share 0.3")
@click.argument("names", metavar="[ID]...", nargs=-1)
@click.option("--rule", default="", metavar="TEXT", help="Text of the rule, in place of ID.")
@click.option(
    "--share",
    default=SHARE,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of sessions that get the rule.",
)
@yes_option
def start(names: tuple[str, ...], rule: str, share: float, yes: bool) -> int:
    """Tell a rule to a share of new sessions until it is known whether it helps. ID is a change that waits: this
    approves it for these sessions. Several are a bundle: lessons too rare to be known one by one are told to the
    same sessions and decided on together. `all` is every lesson of this folder's project that waits or is new and
    has a failure that can be counted. It says who is told, and does nothing where nobody would be.
    """
    if bool(rule) == bool(names):
        raise WhetError("Give what to try.", advice="Give one of: ID, several IDs, all, --rule TEXT.")
    actor, now = actor_of(os.environ), time.time()
    with own_store() as (home, database):
        if names:
            asked = _of_this_project(home, database) if names == ("all",) else names

            def expect(lessons: Sequence[Lesson]) -> None:
                expect_told(home, database, lessons[0].patch)
                _expect_countable(lessons)

            lessons = chosen_lessons(home, database, asked, expect)
            for lesson in lessons:
                _expect_approval(lesson.proposal.patch)
            made = begin_waiting(home, database, *(each.proposal for each in lessons), actor=actor, share=share)
        else:
            trust = trust_at(home, actor, yes=yes)
            patch = Patch(Form.RULE, Action.ADD, f"tried-{digest(rule)[:8]}", rule.strip(), trust=trust)
            told = expect_told(home, database, patch)
            entry = try_out(home, database, patch, actor=actor, now=now, share=share)
            made = begun(home, database, (entry,), told, share=share)
    return _said(made)


@command.command("stop", epilog="Example: whet live stop read-before-edit")
@click.argument("name")
@click.option("--keep", is_flag=True, help="Tell the rule to every session from now on.")
def stop(name: str, keep: bool) -> int:
    """End a comparison by its name or entry, and take the rule back; with --keep, tell it to every session."""
    act: Callable[..., Entry] = promote if keep else revert
    now = time.time()
    with own_store() as (home, database):
        live = {
            key: item
            for item in ledger_of(home, database).state().rules
            if item.canary
            for key in (item.name, str(item.number))
        }
        if name not in live:
            known = ", ".join(dict.fromkeys(item.name for item in live.values())) or "none"
            raise WhetError(f"No rule {name} is live.", advice=f"Live: {known}.")
        entry = act(home, database, live[name].number, actor=actor_of(os.environ), now=now, note="by hand")
        files = tell(home, database, now=now)
    return _said(BegunLive((entry,), None, files, "applied to every new session" if keep else "taken back"))


@command.command("look", epilog="Example: whet live look --json")
@click.option(
    "--settled",
    default=60.0,
    show_default=True,
    hidden=True,
    type=click.FloatRange(0),
    help="Minutes of inactivity after which a session counts as finished.",
)
def look_(settled: float) -> int:
    """Compare finished sessions with and without each rule that is live, tell rules that clearly help to every session
    and take back rules that harm. A rule that came of a lesson is compared by its own failure in sessions in its
    situation, as a detector sees it, with guards beside it. Templates chosen by `--warm auto` are compared like
    rules; one that harms or is not worth its tokens is retired. The worker does this every hour.
    """
    with own_store() as (home, database):
        found = look(home, database, now=time.time(), settled_seconds=60 * settled)
        ended = _last_ended(home, database)
    record = {"live": [live_record(each) for each in found.canaries], "templates": [*map(live_record, found.templates)]}
    return give(record, live_lines((*found.canaries, *found.templates), ended))


def _last_ended(home: Home, database: Database) -> Entry | None:
    """The entry by which the watch last decided on a rule that was live."""
    entries = reversed(ledger_of(home, database).entries())
    decided = (each for each in entries if each.actor is Actor.WATCH)
    return next((each for each in decided if each.step in (Step.PROMOTED, Step.REVERTED)), None)


def _of_this_project(home: Home, database: Database) -> tuple[str, ...]:
    """The lessons of this folder's project that nobody has decided on and whose own failure can be counted."""
    project = KnownProjects(database).identity(os.getcwd())
    lessons = lessons_of(home, database, LessonScope(project=project, is_whole_name=True))
    new = (each for each in lessons if each.standing.stage in UNDECIDED and each.patch.scope.project == project)
    found = tuple(str(each.standing.entry or each.id) for each in new if _is_countable(each))
    if not found:
        raise WhetError("No lesson of this project waits or is new.", advice="To see all lessons, run `whet lessons`.")
    return found


def _is_countable(lesson: Lesson) -> bool:
    return lesson.patch.form is Form.RULE and bool(detector_of(lesson.patch.situation))


def _expect_countable(lessons: Sequence[Lesson]) -> None:
    """Lessons are decided on together by their own failures, so each must have one that a detector sees."""
    if len(lessons) > 1 and not all(map(_is_countable, lessons)):
        names = ", ".join(str(each.standing.entry or each.id) for each in lessons if not _is_countable(each))
        raise WhetError(f"Nothing tells whether {names} failed in a session.", advice="Start the others without it.")


def _expect_approval(patch: Patch) -> None:
    """Text that comes from elsewhere is told to nobody before a person at a terminal approves exactly that."""
    if patch.is_foreign:
        need_terminal()
        say(*reviewed(patch.text), *cautions(patch.text), aloud=True)
        click.confirm(f"Approve exactly this ({size_of(patch.text)}) for a share of sessions?", abort=True, err=True)


def _said(made: BegunLive) -> int:
    entries, told, files, what = made
    readers = {} if told is None else {"told": [each._asdict() for each in told]}
    others = {"bundle": [entry_record(each) for each in entries]} if len(entries) > 1 else {}
    subject = f"Entry {entries[0].number}: rule {plain(entries[0].patch.name)} is"
    if others:
        subject = f"Rules {', '.join(f'{plain(each.patch.name)} (entry {each.number})' for each in entries)} are"
    record = {**entry_record(entries[0]), "files": touched(files), **readers, **others}
    return give(record, (f"{subject} {plain(what)}.", *touched_lines(files)))
