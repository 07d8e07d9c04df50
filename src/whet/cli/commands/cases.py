"""whet cases: tasks with a check, made of what is there, listed, shown and run."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import click
import msgspec
from rich.table import Table

from whet.cli.analysed import lesson_named
from whet.cli.options import AskedRows, CommandList, json_command, json_group, model_option, own_store
from whet.cli.output import counted_bar, fields, give, next_lines, plain, table
from whet.errors import WhetError
from whet.evidence.intervals import wilson
from whet.improving.lessons_to_try import cases_of_session
from whet.proving.attempt import attempted
from whet.proving.cases_from_commits import (
    TRIED,
    CommitsAsked,
    LeftOut,
    MadeOfCommit,
    cases_from_commits,
    chosen_commits,
    sessions_way,
)
from whet.proving.cases_from_sessions import cases_from
from whet.proving.plan import screen
from whet.proving.repositories import root_of
from whet.store import sessions
from whet.store.case_files import (
    FOLDER,
    CaseFile,
    chosen,
    folders_of,
    home_cases,
    keep_case,
    keep_text,
    list_cases,
    load_case,
)
from whet.store.home import Home, find_home, prepare_home
from whet.store.listing import find
from whet.store.settings_file import load
from whet.text.words import many, short
from whet.trials.attempts import Attempt, AttemptConditions, total_spent
from whet.trials.cases import Case, write
from whet.trials.checks import Check
from whet.trials.ways_to_test import own_way

STRANGERS = "another member wrote or changed the session, and no command of theirs is run here"
EXAMPLE = files("whet.shipped.guidance").joinpath("cases/example.toml")
NONE = (
    "No cases yet. To write one, run `whet cases add --new NAME`; to create one from a failed session, `whet cases add"
    " ID`."
)
CASES: CommandList[CaseFile] = CommandList(
    {
        "case": lambda found: found.name,
        "kind": lambda found: f"{found.value.kind}{', standing' * found.value.guard}" if found.value else "–",
        "check": lambda found: ", ".join(_checks(found.value)) if found.value else "–",
        "task": lambda found: found.value.task if found.value else found.fault,
    }
)
folder_option = click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder with the cases. Default: the home folder's.",
)


def cases_folder(folder: Path | None) -> Path:
    """Where cases are kept, made where it is not there yet."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        return folder.absolute()
    home = find_home(os.environ)
    prepare_home(home)
    return home.folder / FOLDER


@json_command("add", epilog="Example: whet cases add . --last 30")
@click.argument("source", default=".", metavar="[REPO|ID]")
@click.option("--new", "name", default="", metavar="NAME", help="Only write a commented example case to edit.")
@click.option("--lesson", default="", metavar="ID", help="The lesson whose sessions are meant.")
@click.option(
    "--last", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many commits or sessions."
)
@click.option(
    "--commit", "named", multiple=True, metavar="REV", help="A commit to use instead of the last. Repeatable."
)
@click.option("--test", default="", metavar="COMMAND",
              help="How to run tests; {files} stands for the test files. Default: detected.")  # fmt: skip
@click.option("--install", is_flag=True,
              help="Install what lock files name, in the sandbox, with the network; tests run offline.")  # fmt: skip
@click.option("--setup", multiple=True, metavar="COMMAND", help="Run in each workspace before the agent. Repeatable.")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="Variable for its commands. Repeatable.")
@folder_option
@click.option("--dry-run", is_flag=True, help="Show which cases can be created, without saving them.")
def add_cases(
    source: str,
    name: str,
    lesson: str,
    last: int,
    named: tuple[str, ...],
    test: str,
    install: bool,
    setup: tuple[str, ...],
    variables: tuple[str, ...],
    folder: Path | None,
    dry_run: bool,
) -> int:
    """Create cases of what is there; what cannot be made is listed with the reason. Exit code 1 if none is kept.

    Of a repository's commits that change code and tests: the state before the commit, its message as the task, and as
    the check its tests, which the agent does not see. Each is run in the sandbox, and kept if its tests fail before the
    commit and pass after it.

    Of a session, by its ID: the step where a call failed and another worked later, and the whole task, with the
    repository as it was when the session began, and the tests of the commit that came of it or the last check that
    passed.

    Of each of the latest sessions that show a lesson, with --lesson: the conversation up to the call that failed, and
    the demand that the next call does what the one did that worked. Where the lesson is what a person objected to: the
    task, and the check that passed after it and fails with the work before it. A trial leaves out those of the sessions
    that the change was made from.
    """
    if name:
        path = keep_text(cases_folder(folder), name, EXAMPLE.read_text(encoding="utf-8"))
        told = f"Wrote {plain(path)}. Edit it, then: whet cases run {plain(name)}"
        return give({"case": name, "path": str(path)}, (told,))
    if lesson:
        return _of_lesson(lesson, last, folder)
    if not Path(source).exists() and "/" not in source:
        return _of_session(source, folder, dry_run=dry_run)
    # Dependencies are kept beside the home, which no command may look into.
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    asked = CommitsAsked(
        root_of(Path(source).absolute()),
        last=last,
        named=named,
        test=own_way(test) if test else None,
        installs=Path(cache, "whet", "dependencies").absolute() if install else None,
        setup=setup,
        environment=tuple(_variable(text) for text in variables),
    )
    return _of_commits(asked, None if dry_run else cases_folder(folder))


def _of_lesson(lesson: str, last: int, folder: Path | None) -> int:
    kept: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    with own_store() as (home, database):
        _, found = lesson_named(home, database, lesson)
        latest = found.evidence.session_ids[-last:]
        with counted_bar("Making cases", len(latest)) as done:
            for number, id in enumerate(latest, 1):
                made = cases_of_session(home, database, found, id, tasks=False)
                kept |= {case.name: str(keep_case(cases_folder(folder), case)) for case in made.cases}
                left_out.update(made.left_out)
                done(number, len(latest))
    told = f"{many(len(kept), 'case')} from {many(len(latest), 'session')}: {plain(', '.join(kept)) or 'none'}."
    why = (f"[dim]{count:,} left out: {plain(reason)}.[/]" for reason, count in left_out.most_common())
    then = next_lines("`whet try --rule TEXT --cases NAME` tests a rule on them.") if kept else ()
    return give({"cases": kept, "left_out": dict(left_out)}, (told, *why, *then), code=int(not kept))


def _of_session(session: str, folder: Path | None, *, dry_run: bool) -> int:
    with own_store() as (home, database):
        found = find(database, session)
        unrun = "" if sessions.is_believed(database, found) else STRANGERS
        made = cases_from(home, sessions.load(database, found), unrun=unrun)
    kept = {case.name: "" if dry_run else str(keep_case(cases_folder(folder), case)) for case in made.cases}
    why = (f"[dim]{plain(reason[:1].upper() + reason[1:])}.[/]" for reason in made.left_out)
    return give({"cases": kept, "left_out": made.left_out}, (*_kept_lines(kept), *why), code=int(not kept))


def _of_commits(asked: CommitsAsked, target: Path | None) -> int:
    """Cases of commits, kept in the folder; without one, only shown."""
    home = find_home(os.environ)
    made: list[MadeOfCommit] = []
    most = len(chosen_commits(asked))
    with counted_bar("Trying commits", most) as done:
        for each in cases_from_commits(home, asked, known=lambda: sessions_way(home, asked.repository)):
            made.append(each)
            done(len(made), most)
    kept = {each.case.name: _keep(target, each.case) for each in made if each.case is not None}
    reasons = Counter(each.left_out for each in made if each.left_out is not None)
    commits = [
        {"commit": each.commit.id, "case": each.case and each.case.name, "left_out": each.left_out, "said": each.said}
        for each in made
    ]
    record = {"cases": kept, "left_out": {why.value: count for why, count in reasons.items()}, "commits": commits}
    return give(record, _commit_lines(made, kept, reasons), code=int(not kept))


def _variable(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise WhetError(f"{text} is not a variable.", advice="Give it as NAME=VALUE.")
    return name, value


def _keep(target: Path | None, case: Case) -> str:
    if target is None:
        return ""
    standing = target / f"{case.name}.toml"
    return str(standing if standing.exists() else keep_case(target, case))


def _kept_lines(kept: dict[str, str]) -> Iterator[str]:
    yield from (f"{plain(name)}: {plain(path or 'can be made')}" for name, path in kept.items())


def _commit_lines(made: list[MadeOfCommit], kept: dict[str, str], reasons: Counter[LeftOut]) -> Iterator[str | Table]:
    yield from _kept_lines(kept)
    for why, count in reasons.most_common():
        if why not in TRIED:
            yield f"[dim]{many(count, 'commit')} left out: {why.value}.[/]"
    tried = [each for each in made if each.left_out in TRIED]
    if tried:
        rows = [(each.commit.id[:8], each.commit.message.partition("\n")[0][:40], each.reason) for each in tried]
        yield table(("commit", "message", "left out, because"), rows)
    if kept:
        counted = f"{many(len(kept), 'case')} of {many(len(made), 'commit')}"
        yield f"{counted}. To see how often they pass now: whet cases run tag:commits"
    else:
        yield "No case. Try --test COMMAND (how tests run), --setup COMMAND (what they need) or a larger --last."


@json_group("cases", epilog="Example: whet cases add --new fix-the-port")
@CASES.options
@folder_option
def command(asked: AskedRows, folder: Path | None) -> int:
    """List the cases: tasks with a check, on which `whet try` tests changes. A case is a TOML file."""
    every = list_cases(folder.absolute()) if folder else home_cases(find_home(os.environ).folder)
    found = CASES.chosen(every, asked)
    lines = CASES.lines(found, *next_lines("`whet try --rule TEXT --cases NAME` tests a rule on them."), none=NONE)
    return give([_record(each) for each in found], lines, code=int(any(each.fault for each in found)))


@command.command("show", epilog="Example: whet cases show fix-the-port")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@folder_option
def show(names: tuple[str, ...], folder: Path | None) -> int:
    """Show cases as their files are."""
    return max(_show(name, folder) for name in names)


def _show(name: str, folder: Path | None) -> int:
    case = load_case(cases_folder(folder), name)
    before = len(case.conversation)
    record = {**msgspec.to_builtins(case), "name": name, "key": case.key, "conversation": before}
    more = (f"[dim]{many(before, 'message')} stand before it.[/]",) if before else ()
    return give(record, (plain(write(case).rstrip()), *more))


@command.command("run", epilog="Example: whet cases run fix-the-port --times 3")
@click.argument("wanted", nargs=-1, metavar="[WHICH]...")
@click.option("--times", type=click.IntRange(1, 100), default=1, show_default=True, help="Attempts per case.")
@model_option
@click.option("--fresh", is_flag=True, help="Run again instead of reusing earlier results.")
@click.option("--screen", "is_screening", is_flag=True, help="Find out which cases can show anything.")
def run(wanted: tuple[str, ...], times: int, model: str, fresh: bool, is_screening: bool) -> int:
    """Run cases without any change and show how often they pass. Give folders, files, names or tag:WORD; the default is
    all cases. Exit code 1 if none passed. With --screen, the attempts count for no trial: a case that passes every
    time cannot show that a change helps, so `whet try` leaves it out, and keeps a few as standing cases that guard
    against harm.
    """
    home = find_home(os.environ)
    found = chosen(home.folder, wanted)
    if not found:
        raise WhetError("No cases found.", advice="To make some, run `whet cases add`.")
    settings = load(home)
    conditions = AttemptConditions(model or settings.model, settings.sampling, hidden=folders_of(home.folder, wanted))
    if is_screening:
        return _screen(home, found, conditions, times=times)
    made = attempted(home, found, conditions, range(1, times + 1), fresh=fresh)
    return _report([each for _, attempts in made for each in attempts])


command.add_command(add_cases)


def _record(found: CaseFile) -> dict[str, object]:
    case = found.value
    record: dict[str, object] = {"name": found.name, "path": str(found.path), "fault": found.fault}
    if case is None:
        return record
    return {**record, **fields(case, "kind", "guard", "task"), "checks": _checks(case), **fields(case, "key", "tags")}


def _checks(case: Case) -> list[str]:
    check, empty = case.check, Check()
    names = ("command", "answer", "json_schema", "files", "calls", "rubric")
    return [name for name in names if getattr(check, name) != getattr(empty, name)]


def _report(attempts: list[Attempt]) -> int:
    rows = []
    for name in dict.fromkeys(each.case for each in attempts):
        own = [each for each in attempts if each.case == name]
        why = next((why for each in own if (why := each.invalid or each.measures.why)), "")
        passed, number, interval = _passed(own)
        rows.append({"case": name, "passed": passed, "attempts": number, "why": why, "interval": interval})
    spent, (passed, number, interval) = total_spent(attempts), _passed(attempts)
    reused = sum(each.reused for each in attempts)
    record = {"cases": rows, "passed": passed, "attempts": number, "interval": interval, "spent": spent}
    record |= {"reused": reused, "sessions": [each.session for each in attempts]}
    listed = [(row["case"], f"{row['passed']} of {row['attempts']}", row["why"]) for row in rows]
    dollars = f", ${spent.dollars:.4f}" if spent.dollars is not None else ""
    share = "{} of {} passed ({:.0%} to {:.0%})".format(passed, number, *interval)
    told = f"{share}; {short(spent.input + spent.output)} tokens{dollars}, {reused} reused."
    return give(record, (table(("case", "passed", "why not"), listed), told), code=int(not passed))


def _passed(attempts: Sequence[Attempt]) -> tuple[int, int, tuple[float, float]]:
    """How many of the attempts that count passed, of how many, and where the rate lies."""
    counted = [each.measures.passed for each in attempts if not each.invalid]
    return sum(counted), len(counted), wilson(sum(counted), len(counted))


def _screen(home: Home, found: tuple[Case, ...], conditions: AttemptConditions, *, times: int) -> int:
    """Run cases without any change, in attempts that no trial counts, and say which always pass."""
    rows: list[tuple[str, int, int]] = []
    with counted_bar("Screening", len(found)) as done:
        for case, attempts in screen(home, found, conditions, times=times):
            rows.append((case.name, *_passed(attempts)[:2]))
            done(len(rows), len(found))
    always = [name for name, passed, attempts in rows if attempts and passed == attempts]
    told = [{"case": name, "passed": passed, "attempts": attempts} for name, passed, attempts in rows]
    listed = table(("case", "passed"), [(name, f"{passed} of {attempts}") for name, passed, attempts in rows])
    counted = f"{many(len(rows) - len(always), 'case')} can show something; {len(always)} always passed."
    return give({"cases": told, "always_pass": always}, (listed, counted))
