"""whet audit: the files that agents read, statement by statement."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from whet.cli.options import allowance_of, budget_option, json_command, own_store
from whet.cli.output import give, next_lines, plain, step_line
from whet.cli.shown.audit import audit_lines, audit_of, plan_lines, proposal_lines, read_record, reading_lines
from whet.cli.shown.lessons import lesson_record
from whet.improving.audit_proposals import ProposedStatement, propose_changes
from whet.improving.curating import Proposed, curate, look
from whet.lessons.statements.audit import Audit, lessons_of_files
from whet.lessons.statements.statement import StatementMark
from whet.telling.context.auditing import audit_folder
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import name_of_project
from whet.text.words import many
from whet.trials.design import Allowance

if TYPE_CHECKING:
    from whet.improving.audit_reading import ReadStatements

STALE_DAYS = 180.0  # from which on a note is stale


@json_command("audit", epilog="Example: whet audit --check")
@click.argument("project", required=False, type=click.Path(path_type=Path))
@click.option("--check", "is_check", is_flag=True, help="For CI: exit with 1 if a statement is wrong.")
@click.option(
    "--propose", "is_proposing", is_flag=True, help="Let corrections wait for your yes: `whet lessons --waiting`."
)
@click.option("--all", "everything", is_flag=True, help="Show every statement with its marks.")
@click.option(
    "--with",
    "reader",
    default="",
    metavar="NAME",
    help="Let an agent or a model read the files too: claude, codex, opencode, gemini, or provider:name.",
)
@budget_option
@click.option("--yes", is_flag=True, help="Let the reader start without asking.")
@click.option("--own", "is_own", is_flag=True, help="Whet's own notes and skills instead: what overlaps or is stale.")
def command(
    project: Path | None,
    is_check: bool,
    is_proposing: bool,
    everything: bool,
    reader: str,
    budget: tuple[str, ...],
    yes: bool,
    is_own: bool,
) -> int:
    """Read CLAUDE.md, AGENTS.md, rules, skills and what they import in a PROJECT (the current folder if none is named),
    split them into statements and show which are wrong, contradicted or said twice, each with its evidence; with
    stored sessions of the project also which cause failures, are not followed, or never came up. What cannot be told
    is counted as such. With --check, the repository alone is asked, no home and no sessions, and wrong statements
    make the exit code 1. With --with, a reader without tools sees the project's files beside what code knows of them,
    and code looks up all that it quotes and misses.
    """
    if reader and (is_check or is_own):
        raise click.UsageError("--with goes with neither --check nor --own: a check asks the repository alone.")
    if is_own:
        return _audit_own(is_proposing=is_proposing)

    folder = project or Path.cwd()
    found = audit_folder(folder, is_dated=False) if is_check else audit_of(folder)
    found, read = _read(found, reader, allowance_of(budget), yes=yes) if reader else (found, None)
    proposed = _propose(found) if is_proposing and not is_check else ()
    wrong = [each for each in found.statements if each.marked(StatementMark.WRONG)]
    lines = [
        *audit_lines(found, everything=everything),
        *reading_lines(read, everything=everything),
        *proposal_lines(proposed),
    ]
    if wrong and not is_check and not is_proposing:
        lines += next_lines("`whet audit --propose` lets corrections wait for your yes; `--check` keeps them in CI.")
    record = _record(found, proposed) | ({"read": read_record(read)} if read else {})
    return give(record, lines, code=int(is_check and bool(wrong)))


def _read(found: Audit, name: str, allowance: Allowance, *, yes: bool) -> "tuple[Audit, ReadStatements]":
    """The audit with what a reader says of the files, once a person agreed to what that takes."""
    from whet.cli.chat.inputs import interruptible
    from whet.cli.commands.learn import cost_words, reader_of
    from whet.cli.trying import expect_allowed
    from whet.improving.audit_reading import ReadStatements, read_files, reading_of, with_findings
    from whet.reading.learn import ReadingLimit
    from whet.shipped.guidance.reading import TEXTS
    from whet.store.files import guidance_texts
    from whet.store.home import find_home

    home = find_home(os.environ)
    reading = reading_of(found, guidance_texts(home, TEXTS.name))
    if not reading.passes:
        return found, ReadStatements()
    reader = reader_of(home, name)
    expect_allowed(reader.name, plan_lines(reading, cost_words(reader, reading.usage), reader.name), yes=yes)
    limit = ReadingLimit(allowance.tokens, allowance.dollars)
    with interruptible() as stop, step_line(f"{reader.name} reads") as step:
        read = read_files(
            reading,
            reader,
            limit=limit,
            interrupt=stop,
            observe=lambda number: step(f"pass {number} of {len(reading.passes)}"),
        )
    return with_findings(found, read), read


def _propose(found: Audit) -> tuple[ProposedStatement, ...]:
    with own_store() as (home, database):
        project = KnownProjects(database).identity(found.root)
        return propose_changes(home, database, found, project=project, now=time.time())


def _record(found: Audit, proposed: tuple[ProposedStatement, ...]) -> dict[str, object]:
    """The audit for programs: every statement with its findings, and as the lesson that it is."""
    lessons = lessons_of_files(found, project=name_of_project(found.root))
    return {
        "root": found.root,
        "counts": found.counts,
        "tokens": found.tokens,
        "needless_tokens": found.needless,
        "over_budget": found.over_budget,
        "files": [replace(file, text="") for file in found.files],
        "statements": found.statements,
        "volume": found.volume,
        "lessons": [lesson_record(each, None) for each in lessons],
        "proposed": proposed,
    }


def _audit_own(*, is_proposing: bool) -> int:
    """Overlapping skills, duplicate and stale notes; nothing changes until a person approves it."""
    with own_store() as (home, database):
        if is_proposing:
            found = curate(home, database, now=time.time(), days=STALE_DAYS)
        else:
            found = tuple(Proposed(finding, ()) for finding in look(home, database, now=time.time(), days=STALE_DAYS))
    records, lines = [], [] if found else ["No overlapping skills and no stale notes."]
    for each in found:
        pending = [entry.number for entry in each.entries]
        records.append({"what": each.finding.what, "pending": pending, "refused": list(each.refused)})
        waits = f" Pending as {', '.join(map(str, pending))}." if pending else ""
        lines += [f"{plain(each.finding.what)}.{waits}", *(f"  [dim]{plain(reason)}[/]" for reason in each.refused)]
    if found and is_proposing:
        lines.append(
            f"{many(sum(len(each.entries) for each in found), 'change')} pending. Next: `whet lessons show ID`."
        )
    return give(records, lines)
