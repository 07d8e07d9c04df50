"""whet audit: the files that agents read, looked at by code and by a reader: what is wrong, and what they cost."""

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from msgspec.structs import replace

from whet.cli.chat.inputs import interruptible
from whet.cli.commands.learn import cost_words, reader_of, reading_limit
from whet.cli.options import budget_option, json_command, own_store
from whet.cli.output import fields, give, next_lines, plain, step_line
from whet.cli.shown.lessons import lesson_record
from whet.cli.trying import expect_allowed
from whet.improving.audit_reading import AuditReading, ReadStatements, read_files, reading_of, with_findings
from whet.improving.auditing import ProposedStatement, audit_with_sessions, propose_changes
from whet.improving.curating import curate, look
from whet.ledger.folding import difference
from whet.lessons.statements.audit import (
    BUDGET,
    FAULTS,
    Audit,
    AuditedStatement,
    InstructionFile,
    StatementMark,
    lessons_of_files,
)
from whet.reading.learn import (
    ReadingLimit,
)
from whet.shipped.guidance import READING
from whet.store.files import guidance_texts
from whet.store.home import find_home
from whet.store.opening import opened
from whet.telling.context.auditing import audit_folder
from whet.telling.context.instruction_files import PersonFolder
from whet.telling.targets.known_projects import KnownProjects
from whet.telling.targets.project_names import name_of_project
from whet.text.words import cut, many, share, short

WORDS_SHOWN = 70
PROOFS_SHOWN = 2
FAULTY_SHOWN = 60
STYLES = {
    StatementMark.WRONG: "red",
    StatementMark.READ: "yellow",
    StatementMark.CAUSE: "red",
    StatementMark.CONTRADICTED: "yellow",
    StatementMark.BROKEN: "yellow",
}


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
def audit_command(
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
    found = audit_folder(folder, is_dated=False) if is_check else _audit_of(folder)
    found, read = _read_files(found, reader, reading_limit(budget), yes=yes) if reader else (found, None)
    proposed: tuple[ProposedStatement, ...] = ()
    if is_proposing and not is_check:
        with own_store() as (home, database):
            name = KnownProjects(database).identity(found.root)
            proposed = propose_changes(home, database, found, project=name, now=time.time())
    wrong = [each for each in found.statements if each.marked(StatementMark.WRONG)]
    lines = [
        *_audit_lines(found, everything=everything),
        *_reading_lines(read, everything=everything),
        *_proposal_lines(proposed),
    ]
    if wrong and not is_check and not is_proposing:
        lines += next_lines("`whet audit --propose` lets corrections wait for your yes; `--check` keeps them in CI.")
    record = _audit_record(found, proposed) | ({"read": _read_record(read)} if read else {})
    return give(record, lines, code=int(is_check and bool(wrong)))


def _read_files(found: Audit, name: str, limit: ReadingLimit, *, yes: bool) -> tuple[Audit, ReadStatements]:
    """The audit with what a reader says of the files, once a person agreed to what that takes."""
    home = find_home(os.environ)
    reading = reading_of(found, guidance_texts(home, READING.name))
    if not reading.passes:
        return found, ReadStatements()
    reader = reader_of(home, name)
    expect_allowed(reader.name, _plan_lines(reading, cost_words(reader, reading.usage), reader.name), yes=yes)
    with interruptible() as stop, step_line(f"{reader.name} reads") as step:

        def observe(number: int) -> None:
            step(f"pass {number} of {len(reading.passes)}")

        read = read_files(reading, reader, limit=limit, interrupt=stop, observe=observe)
    return with_findings(found, read), read


def _audit_record(found: Audit, proposed: tuple[ProposedStatement, ...]) -> dict[str, object]:
    """The audit for programs: every statement with its findings, and as the lesson that it is."""
    lessons = lessons_of_files(found, project=name_of_project(found.root))
    return {
        **fields(found, "root", "counts", "tokens"),
        "needless_tokens": found.needless,
        "over_budget": found.over_budget,
        "files": [replace(file, text="") for file in found.files],
        **fields(found, "statements", "volume"),
        "lessons": [lesson_record(each, None) for each in lessons],
        "proposed": proposed,
    }


def _audit_own(*, is_proposing: bool) -> int:
    """Overlapping skills, duplicate and stale notes; nothing changes until a person approves it."""
    with own_store() as (home, database):
        found = (curate if is_proposing else look)(home, database, now=time.time())
    lines = [] if found else ["No overlapping skills and no stale notes."]
    for each in found:
        waits = f" Pending as {', '.join(map(str, each.pending))}." if each.pending else ""
        lines += [f"{plain(each.what)}.{waits}", *(f"  [dim]{plain(reason)}[/]" for reason in each.refused)]
    number = sum(len(each.pending) for each in found)
    lines += [f"{many(number, 'change')} pending. Next: `whet lessons show ID`."] if number else []
    return give([fields(each, "what", "pending", "refused") for each in found], lines)


def _audit_lines(audit: Audit, *, everything: bool = False) -> Iterator[str]:
    """The audit for people; with everything, each statement and not the faulty ones alone."""
    if not audit.files:
        yield "No file that agents read: no CLAUDE.md, AGENTS.md or the like."
        return
    for file in audit.files:
        yield from _file_line(file)
    found = audit.statements if everything else audit.faulty
    shown = found if everything else sorted(found, key=lambda each: not each.marked(StatementMark.WRONG))[:FAULTY_SHOWN]
    for each in shown:
        yield from _statement_lines(each, everything=everything)
    if shown:
        yield ""
    if len(shown) < len(found):
        yield f"{many(len(found) - len(shown), 'more statement')} with a fault: --all shows every one."
    yield from _sums(audit)


def _file_line(file: InstructionFile) -> Iterator[str]:
    if file.fault:
        yield f"{plain(file.path)}: {plain(file.fault)}"
    elif file.copied:
        yield f"[yellow]{plain(file.path)}[/]: {plain(file.copied.words)}; one of the two could go"
    elif file.same_as:
        yield f"[dim]{plain(file.path)}: the same as {plain(file.same_as)}[/]"


def _statement_lines(each: AuditedStatement, *, everything: bool) -> Iterator[str]:
    statement = each.statement
    wanted = [one for one in each.findings if everything or one.mark in FAULTS]
    at = f"{statement.file}:{(wanted[0].line if wanted else 0) or statement.line}"
    yield ""
    yield f"[bold]{plain(at)}[/]  {plain(cut(' '.join(statement.text.split()), WORDS_SHOWN))}"
    for finding in wanted:
        style = STYLES.get(finding.mark, "dim")
        counted = f" ({finding.seen} of {many(finding.came_up, 'session')})" if finding.came_up else ""
        where = f" \\[{plain(finding.where)}]" if finding.where and finding.where not in finding.why else ""
        yield f"  [{style}]{finding.mark}[/]: {plain(finding.why)}{counted}{where}"
        for proof in finding.proofs[:PROOFS_SHOWN]:
            yield f"    [dim]{plain(proof.session[:12])} #{proof.message}  {plain(cut(proof.quote, WORDS_SHOWN))}[/]"
    if not wanted:
        yield f"  [dim]{each.words}[/]"


def _sums(audit: Audit) -> Iterator[str]:
    counts = [f"{number} {mark}" for mark, number in audit.counts.items()]
    read = [file for file in audit.files if file.text]
    yield f"{many(len(audit.statements), 'statement')} in {many(len(read), 'file')}: {', '.join(counts)}."
    needless = f", {share(audit.needless, audit.tokens)} of it needless" if audit.needless and audit.tokens else ""
    yield f"Read at every start: {audit.tokens:,} tokens{needless}."
    if audit.over_budget:
        first = audit.replaceable[:1]
        instead = f"; a new lesson could take the place of {plain(first[0].statement.place)}" if first else ""
        yield f"[yellow]That is {audit.over_budget:,} tokens over the budget of {BUDGET:,}{instead}.[/]"
    if audit.volume is not None and audit.volume.sessions:
        yield (
            f"{many(audit.volume.sessions, 'session')} and {many(audit.volume.turns, 'request')} in the last 30 days: "
            f"{audit.tokens * audit.volume.turns:,} tokens a month, most of them cached."
        )


def _proposal_lines(proposed: Iterable[ProposedStatement]) -> Iterator[str]:
    """What waits for the person now, each with its difference."""
    every = tuple(proposed)
    for each in every:
        proposal, entry = each.proposal, each.entry
        yield ""
        waits = f"pending as {entry.number}" if entry else f"not proposed: {plain(each.refused)}"
        to = f" to {plain(proposal.file)}" if proposal.file else ""
        yield f"[bold]{proposal.kind}[/] {plain(proposal.audited.statement.place)}{to}: {waits}"
        if proposal.passage is not None:
            for line in difference(proposal.passage.before, proposal.passage.after).splitlines()[3:]:
                yield f"  {plain(cut(line, WORDS_SHOWN))}"
        else:
            yield f"  at the call: {plain(cut(proposal.reminder, WORDS_SHOWN))}"
    if any(each.entry for each in every):
        yield ""
        yield "Approve with `whet lessons approve ID`; `whet ledger undo` takes a change back to the byte."


def _plan_lines(reading: "AuditReading", cost: str, reader: str) -> Iterator[str]:
    """What a reading takes, before it begins."""
    passes = f"{len(reading.passes)} pass{'' if len(reading.passes) == 1 else 'es'}"
    usage = reading.usage
    yield f"{plain(reader)} would read {many(len(reading.statements), 'statement')} in {passes}, two calls each."
    yield f"That takes about {short(usage.input)} tokens in and {short(usage.output)} out, {cost}."
    yield "It sees these files, the repository in short, the pieces of it that it asks for, and no tools."


def _reading_lines(read: "ReadStatements | None", *, everything: bool) -> Iterator[str]:
    """What a reading came to; with everything also what was dropped, and why."""
    if read is None or not read.reader:
        return
    spent = read.spent
    used = f"{many(spent.model_calls, 'call')}, {short(spent.input)} tokens in, {short(spent.output)} out"
    dropped = f"; {many(len(read.dropped), 'line')} dropped" if read.dropped else ""
    wrong = f"{many(read.kept, 'statement')} wrong, each with evidence that code found"
    yield f"{plain(read.reader)}: {wrong}{dropped}. {used}."
    if read.stopped:
        yield f"[yellow]Ended early: {plain(read.stopped)}[/]"
    for each in read.dropped if everything else ():
        yield f"  [dim]dropped: {plain(cut(each.said, 2 * WORDS_SHOWN))}: {plain(each.why)}[/]"


def _read_record(read: "ReadStatements") -> dict[str, object]:
    """A reading for programs, beside the statements that bear its marks."""
    return {
        "reader": read.reader,
        "statements": read.kept,
        "dropped": [{"said": each.said, "why": each.why} for each in read.dropped],
        "spent": read.spent,
        "stopped": read.stopped,
    }


def _audit_of(folder: Path) -> Audit:
    """The audit of a folder with the person's own files and the sessions of its project, where there are any."""
    found = audit_folder(folder, person=PersonFolder(Path.home(), dict(os.environ)))
    home = find_home(os.environ)
    if not home.folder.is_dir():  # nothing was ever imported, and nothing is made for a look
        return found
    with opened(home) as database, step_line("Reading sessions") as step:
        return audit_with_sessions(
            database, found, now=time.time(), progress=lambda done, every: step(f"{done} of {every}")
        )
