"""whet cases: tasks with their own check, for trials."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from whet.cli.case_making import add_cases, cases_folder, folder_option
from whet.cli.options import json_option
from whet.cli.output import counted_bar, give, next_lines, plain, table
from whet.errors import WhetError
from whet.store.case_files import CaseFile, chosen, folders_of, home_cases, list_cases
from whet.store.home import Home, find_home
from whet.text.words import many, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whet.trials.attempts import Attempt, AttemptConditions
    from whet.trials.cases import Case


NONE = (
    "No cases yet. To write one, run `whet cases add --new NAME`; to create one from a failed session, `whet cases add"
    " ID`."
)


@click.group(
    "cases",
    invoke_without_command=True,
    epilog="Example: whet cases add --new fix-the-port",
    help="List the cases: tasks with a check, on which `whet try` tests changes. A case is a TOML file.",
)
@folder_option
@json_option
@click.pass_context
def command(context: click.Context, folder: Path | None, as_json: bool) -> int:
    if context.invoked_subcommand:
        return 0
    found = list_cases(folder.absolute()) if folder else home_cases(find_home(os.environ).folder)
    rows = [(each.name, *_row(each)) for each in found]
    next_one = next_lines("`whet try --rule TEXT --cases NAME` tests a rule on them.")
    lines: tuple[str | Table, ...] = (table(("case", "kind", "check", "task"), rows), *next_one) if found else (NONE,)
    give([_record(each) for each in found], lines, as_json=as_json)
    return 1 if any(each.fault for each in found) else 0


@command.command(
    "show",
    epilog="Example: whet cases show fix-the-port",
    help="Show cases as their files are.",
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@folder_option
@json_option
def show(names: tuple[str, ...], folder: Path | None, as_json: bool) -> int:
    return max(_show(name, folder, as_json) for name in names)


def _show(name: str, folder: Path | None, as_json: bool) -> int:
    import msgspec

    from whet.store.case_files import load_case
    from whet.trials.cases import write

    case = load_case(cases_folder(folder), name)
    before = len(case.conversation)
    record = {**msgspec.to_builtins(case), "name": name, "key": case.key, "conversation": before}
    more = (f"[dim]{many(before, 'message')} stand before it.[/]",) if before else ()
    return give(record, (plain(write(case).rstrip()), *more), as_json=as_json)


@command.command(
    "run",
    epilog="Example: whet cases run fix-the-port --times 3",
    help="Run cases without any change and show how often they pass. Give folders, files, names or tag:WORD; the "
    "default is all cases. Exit code 1 if none passed. With --screen, the attempts count for no trial: a case that "
    "passes every time cannot show that a change helps, so `whet try` leaves it out, and keeps a few as standing cases "
    "that guard against harm.",
)
@click.argument("wanted", nargs=-1, metavar="[WHICH]...")
@click.option("--times", type=click.IntRange(1, 100), default=1, show_default=True, help="Attempts per case.")
@click.option("--model", default="", help="Model to use instead of the one in the settings, as provider:name.")
@click.option("--fresh", is_flag=True, help="Run again instead of reusing earlier results.")
@click.option("--screen", "is_screening", is_flag=True, help="Find out which cases can show anything.")
@json_option
def run(
    wanted: tuple[str, ...],
    times: int,
    model: str,
    fresh: bool,
    is_screening: bool,
    as_json: bool,
) -> int:
    from whet.proving.screening import attempted, screen

    home = find_home(os.environ)
    found = chosen(home.folder, wanted)
    if not found:
        raise WhetError("No cases found.", advice="To make some, run `whet cases add`.")
    conditions = _conditions(home, wanted, model)
    if is_screening:
        return _screened(screen(home, found, conditions, times=times), len(found), as_json)
    made = attempted(home, found, conditions, range(1, times + 1), fresh=fresh)
    return _report([each for _, attempts in made for each in attempts], as_json)


command.add_command(add_cases)


def _row(found: CaseFile) -> tuple[str, str, str]:
    case = found.case
    if case is None:
        return "–", "–", found.fault
    kind = f"{case.kind}, standing" if case.guard else case.kind
    return kind, ", ".join(_checks(case)), " ".join(case.task.split())


def _record(found: CaseFile) -> dict[str, object]:
    case = found.case
    record: dict[str, object] = {"name": found.name, "path": str(found.path), "fault": found.fault}
    if case is not None:
        record |= {"kind": case.kind, "guard": case.guard, "task": case.task, "checks": _checks(case), "key": case.key,
                   "tags": case.tags}  # fmt: skip
    return record


def _checks(case: "Case") -> list[str]:
    from whet.trials.checks import Check

    check, empty = case.check, Check()
    names = ("command", "answer", "json_schema", "files", "calls", "rubric")
    return [name for name in names if getattr(check, name) != getattr(empty, name)]


def _conditions(home: Home, wanted: tuple[str, ...], model: str) -> "AttemptConditions":
    from whet.store.settings_file import load
    from whet.trials.attempts import AttemptConditions

    settings = load(home)
    return AttemptConditions(model or settings.model, settings.sampling, hidden=folders_of(home.folder, wanted))


def _report(attempts: "list[Attempt]", as_json: bool) -> int:
    from whet.evidence.classical import wilson
    from whet.trials.attempts import total_spent

    rows: list[dict[str, object]] = []
    for name in dict.fromkeys(each.case for each in attempts):
        counted = [each for each in attempts if each.case == name and not each.invalid]
        passed = sum(each.measures.passed for each in counted)
        why = next((each.invalid or each.measures.why for each in attempts if each.case == name and _why(each)), "")
        rows.append({"case": name, "passed": passed, "attempts": len(counted), "why": why,
                     "interval": list(wilson(passed, len(counted)))})  # fmt: skip
    spent = total_spent(attempts)
    whole = [each for each in attempts if not each.invalid]
    passed = sum(each.measures.passed for each in whole)
    interval = wilson(passed, len(whole))
    reused = sum(each.reused for each in attempts)
    record = {"cases": rows, "passed": passed, "attempts": len(whole), "interval": list(interval), "spent": spent,
              "reused": reused, "sessions": [each.session for each in attempts]}  # fmt: skip
    listed = [(row["case"], f"{row['passed']} of {row['attempts']}", row["why"]) for row in rows]
    dollars = f", ${spent.dollars:.4f}" if spent.dollars is not None else ""
    share = f"{passed} of {len(whole)} passed ({interval.low:.0%} to {interval.high:.0%})"
    told = f"{share}; {short(spent.input + spent.output)} tokens{dollars}, {reused} reused."
    give(record, (table(("case", "passed", "why not"), listed), told), as_json=as_json)
    return 0 if passed else 1


def _why(attempt: "Attempt") -> str:
    return attempt.invalid or attempt.measures.why


def _screened(made: "Iterator[tuple[Case, list[Attempt]]]", cases: int, as_json: bool) -> int:
    """Say which cases always pass, in attempts that no trial counts."""
    rows: list[tuple[str, int, int]] = []
    with counted_bar("Screening", cases) as done:
        for case, attempts in made:
            valid = [each for each in attempts if not each.invalid]
            rows.append((case.name, sum(each.measures.passed for each in valid), len(valid)))
            done(len(rows), cases)
    always = [name for name, passed, attempts in rows if attempts and passed == attempts]
    told = [{"case": name, "passed": passed, "attempts": attempts} for name, passed, attempts in rows]
    listed = table(("case", "passed"), [(name, f"{passed} of {attempts}") for name, passed, attempts in rows])
    counted = f"{many(len(rows) - len(always), 'case')} can show something; {len(always)} always passed."
    return give({"cases": told, "always_pass": always}, (listed, counted), as_json=as_json)
