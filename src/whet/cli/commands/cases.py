"""whet cases: tasks with their own check, for trials."""

import os
from pathlib import Path

import click
import msgspec

from whet.cli.case_making import add_cases, cases_folder, folder_option
from whet.cli.options import CommandList, json_group, model_option, sort_option
from whet.cli.output import counted_bar, give, next_lines, plain, table
from whet.errors import WhetError
from whet.evidence.classical import wilson
from whet.proving.screening import attempted, screen
from whet.store.case_files import CaseFile, chosen, folders_of, home_cases, list_cases, load_case
from whet.store.home import Home, find_home
from whet.store.settings_file import load
from whet.text.words import many, short
from whet.trials.attempts import Attempt, AttemptConditions, total_spent
from whet.trials.cases import Case, write
from whet.trials.checks import Check

NONE = (
    "No cases yet. To write one, run `whet cases add --new NAME`; to create one from a failed session, `whet cases add"
    " ID`."
)


CASES: CommandList[CaseFile] = CommandList(
    {
        "case": lambda found: found.name,
        "kind": lambda found: _kind(found.case) if found.case else "–",
        "check": lambda found: ", ".join(_checks(found.case)) if found.case else "–",
        "task": lambda found: found.case.task if found.case else found.fault,
    },
    {"name": lambda found: found.name, "kind": lambda found: found.case.kind if found.case else ""},
)


@json_group("cases", epilog="Example: whet cases add --new fix-the-port")
@sort_option(*CASES.orders)
@folder_option
def command(sort: str, folder: Path | None) -> int:
    """List the cases: tasks with a check, on which `whet try` tests changes. A case is a TOML file."""
    every = list_cases(folder.absolute()) if folder else home_cases(find_home(os.environ).folder)
    found = CASES.sorted(every, sort)
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


def _kind(case: Case) -> str:
    return f"{case.kind}, standing" if case.guard else case.kind


def _record(found: CaseFile) -> dict[str, object]:
    case = found.case
    record: dict[str, object] = {"name": found.name, "path": str(found.path), "fault": found.fault}
    if case is not None:
        record |= {"kind": case.kind, "guard": case.guard, "task": case.task}
        record |= {"checks": _checks(case), "key": case.key, "tags": case.tags}
    return record


def _checks(case: Case) -> list[str]:
    check, empty = case.check, Check()
    names = ("command", "answer", "json_schema", "files", "calls", "rubric")
    return [name for name in names if getattr(check, name) != getattr(empty, name)]


def _report(attempts: list[Attempt]) -> int:
    rows: list[dict[str, object]] = []
    for name in dict.fromkeys(each.case for each in attempts):
        counted = [each for each in attempts if each.case == name and not each.invalid]
        passed = sum(each.measures.passed for each in counted)
        why = next((why for each in attempts if each.case == name and (why := each.invalid or each.measures.why)), "")
        interval = list(wilson(passed, len(counted)))
        rows.append({"case": name, "passed": passed, "attempts": len(counted), "why": why, "interval": interval})
    spent = total_spent(attempts)
    whole = [each for each in attempts if not each.invalid]
    passed = sum(each.measures.passed for each in whole)
    low, high = wilson(passed, len(whole))
    reused = sum(each.reused for each in attempts)
    record = {"cases": rows, "passed": passed, "attempts": len(whole), "interval": [low, high], "spent": spent}
    record |= {"reused": reused, "sessions": [each.session for each in attempts]}
    listed = [(row["case"], f"{row['passed']} of {row['attempts']}", row["why"]) for row in rows]
    dollars = f", ${spent.dollars:.4f}" if spent.dollars is not None else ""
    share = f"{passed} of {len(whole)} passed ({low:.0%} to {high:.0%})"
    told = f"{share}; {short(spent.input + spent.output)} tokens{dollars}, {reused} reused."
    return give(record, (table(("case", "passed", "why not"), listed), told), code=int(not passed))


def _screen(home: Home, found: tuple[Case, ...], conditions: AttemptConditions, *, times: int) -> int:
    """Run cases without any change, in attempts that no trial counts, and say which always pass."""
    rows: list[tuple[str, int, int]] = []
    with counted_bar("Screening", len(found)) as done:
        for case, attempts in screen(home, found, conditions, times=times):
            valid = [each for each in attempts if not each.invalid]
            rows.append((case.name, sum(each.measures.passed for each in valid), len(valid)))
            done(len(rows), len(found))
    always = [name for name, passed, attempts in rows if attempts and passed == attempts]
    told = [{"case": name, "passed": passed, "attempts": attempts} for name, passed, attempts in rows]
    listed = table(("case", "passed"), [(name, f"{passed} of {attempts}") for name, passed, attempts in rows])
    counted = f"{many(len(rows) - len(always), 'case')} can show something; {len(always)} always passed."
    return give({"cases": told, "always_pass": always}, (listed, counted))
