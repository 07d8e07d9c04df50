"""The files that agents read, audited, in words: what is wrong first, each with its evidence, then what they cost."""

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from whet.cli.output import count, plain, step_line
from whet.improving.auditing import ProposedStatement, audit_with_sessions
from whet.ledger.folding import difference
from whet.ledger.patches import Form, Patch
from whet.lessons.statements.audit import BUDGET, FAULTS, Audit, AuditedStatement, InstructionFile, StatementMark
from whet.store.home import find_home
from whet.store.opening import opened
from whet.telling.context.auditing import audit_folder, unaudited
from whet.telling.context.instruction_files import PersonFolder
from whet.telling.targets.project_names import name_of_project, repository_root
from whet.text.words import cut, estimate, many, share, short

if TYPE_CHECKING:
    from whet.improving.audit_reading import AuditReading, ReadStatements

WORDS_SHOWN = 70
PROOFS_SHOWN = 2
FAULTY_SHOWN = 60
INSTEAD = 3
STYLES = {
    StatementMark.WRONG: "red",
    StatementMark.READ: "yellow",
    StatementMark.CAUSE: "red",
    StatementMark.CONTRADICTED: "yellow",
    StatementMark.BROKEN: "yellow",
}


def audit_lines(audit: Audit, *, everything: bool = False) -> Iterator[str]:
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
    yield f"Read at every start: {count(audit.tokens)} tokens{needless}."
    if audit.over_budget:
        first = audit.replaceable[:1]
        instead = f"; a new lesson could take the place of {plain(first[0].statement.place)}" if first else ""
        yield f"[yellow]That is {count(audit.over_budget)} tokens over the budget of {count(BUDGET)}{instead}.[/]"
    if audit.volume is not None and audit.volume.sessions:
        yield (
            f"{many(audit.volume.sessions, 'session')} and {many(audit.volume.turns, 'request')} in the last 30 days: "
            f"{count(audit.tokens * audit.volume.turns)} tokens a month, most of them cached."
        )


def proposal_lines(proposed: Iterable[ProposedStatement]) -> Iterator[str]:
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


def plan_lines(reading: "AuditReading", cost: str, reader: str) -> Iterator[str]:
    """What a reading takes, before it begins."""
    passes = f"{len(reading.passes)} pass{'' if len(reading.passes) == 1 else 'es'}"
    usage = reading.usage
    yield f"{plain(reader)} would read {many(len(reading.statements), 'statement')} in {passes}, two calls each."
    yield f"That takes about {short(usage.input)} tokens in and {short(usage.output)} out, {cost}."
    yield "It sees these files, the repository in short, the pieces of it that it asks for, and no tools."


def reading_lines(read: "ReadStatements | None", *, everything: bool) -> Iterator[str]:
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


def read_record(read: "ReadStatements") -> dict[str, object]:
    """A reading for programs, beside the statements that bear its marks."""
    return {
        "reader": read.reader,
        "statements": read.kept,
        "dropped": [{"said": each.said, "why": each.why} for each in read.dropped],
        "spent": read.spent,
        "stopped": read.stopped,
    }


def audit_of(folder: Path) -> Audit:
    """The audit of a folder with the person's own files and the sessions of its project, where there are any."""
    found = audit_folder(folder, person=PersonFolder(Path.home(), dict(os.environ)))
    home = find_home(os.environ)
    if not home.folder.is_dir():  # nothing was ever imported, and nothing is made for a look
        return found
    with opened(home) as database, step_line("Reading sessions") as step:
        return audit_with_sessions(
            database, found, now=time.time(), progress=lambda done, every: step(f"{done} of {every}")
        )


def budget_lines(patch: Patch, folder: Path, person: PersonFolder | None) -> Iterator[str]:
    """A warning where a rule would take what is read at every start past its budget, and what it could replace."""
    is_told_here = patch.scope.project in ("", name_of_project(folder)) and repository_root(folder) is not None
    if patch.form is not Form.RULE or patch.scope.at_call or not is_told_here:
        return
    after = unaudited(folder, person=person).tokens + estimate(patch.text)
    if after <= BUDGET:
        return
    audit = audit_folder(folder, person=person, is_dated=False)
    yield f"[yellow]With it, {count(after)} tokens are read at every start: more than the budget of {count(BUDGET)}.[/]"
    instead = audit.replaceable[:INSTEAD]
    if instead:
        places = ", ".join(f"{plain(each.statement.place)} ({each.words})" for each in instead)
        yield f"   It could take the place of {places}."
    else:
        yield f"   {many(len(audit.at_start), 'statement')}; `whet audit --all` lists them."
