"""An audit with the sessions of the project, and what could be done about its statements, which waits for a person."""

import os
import posixpath
import re
import textwrap
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from whet.agents.places import is_read_by_agents
from whet.changes.pending import propose
from whet.errors import WhetError
from whet.improving.taught import Progress, silent
from whet.ledger.entries import Actor, Entry
from whet.ledger.marked_block import MARK, PassageChange, lines_of, passage
from whet.ledger.patches import Action, Form, Patch, PatchOrigin, PatchWriter, RuleSituation, Scope, digest
from whet.lessons.statements.audit import (
    FAULTS,
    Audit,
    AuditedStatement,
    InstructionFile,
    ReadVolume,
    Statement,
    StatementFinding,
    StatementKind,
    StatementMark,
)
from whet.lessons.statements.naming import ThingKind, things_in
from whet.lessons.statements.records import CallsOnRecord, Records, calls_of, judge_by_records
from whet.store import files
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.listing import Filters, count_sessions, list_sessions
from whet.store.sessions import load
from whet.telling.targets.known_projects import KnownProjects
from whet.text.words import folded
from whet.trouble.outcomes.view import gather

MOST_SESSIONS = 400  # the latest: what agents did long ago says little of the files as they stand
MONTH = 30 * 86_400.0
LATE = (StatementMark.FOLLOWED, StatementMark.NEVER)
MOST = 50  # at once: a person has to read them
LONGEST_RULE = 400
REMOVABLE = (StatementMark.DOUBLED, StatementMark.KNOWN, StatementMark.CAUSE)
MOVABLE = (StatementKind.ITEM, StatementKind.LINE)
FEWEST_NAMES = 2  # that show which skill a statement belongs to
_LEAD = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")


def audit_with_sessions(database: Database, audit: Audit, *, now: float, progress: Progress = silent) -> Audit:
    """The audit with what the stored sessions of its project show; as it was where there are none."""
    known = KnownProjects(database)
    name = known.identity(audit.root)
    every = list_sessions(database, Filters(), limit=count_sessions(database, Filters()))
    sessions = [each for each in every if each.folder and known.identity(each.folder) == name][:MOST_SESSIONS]
    calls: list[CallsOnRecord] = []
    for session in sessions:
        progress(len(calls) + 1, len(sessions))
        calls.append(calls_of(session.id, gather(load(database, session))))
    return judged_by_sessions(audit, tuple(calls), now=now) if calls else audit


def judged_by_sessions(audit: Audit, calls: tuple[CallsOnRecord, ...], *, now: float) -> Audit:
    """The audit with what these sessions show."""
    records = Records(calls)
    recent = [each for each in calls if each.at >= now - MONTH]
    volume = ReadVolume(len(recent), sum(each.turns for each in recent), len(calls))
    judged = []
    for each in audit.statements:
        # What has a grave mark needs no word on whether it came up.
        found = (one for one in judge_by_records(each, records) if not each.findings or one.mark not in LATE)
        tokens = each.statement.tokens * volume.turns
        judged.append(replace(each, findings=(*each.findings, *found), tokens_month=tokens))
    return replace(audit, statements=tuple(judged), volume=volume)


class ProposalKind(StrEnum):
    """What is proposed."""

    CORRECT = "correct"
    REMOVE = "remove"
    SHORTEN = "shorten"  # the lines of a block that are wrong go, the others stay
    MERGE = "merge"  # it stands elsewhere too: one of the two goes
    REMIND = "remind"  # told and not followed: at the call
    MOVE = "move"  # to where it is needed: it need not be read at every start


class StatementProposal(NamedTuple):
    """One change of one statement, and the evidence for it."""

    kind: ProposalKind
    audited: AuditedStatement
    finding: StatementFinding
    passage: PassageChange | None = None  # None: nothing in the file changes
    reminder: str = ""
    file: str = ""  # that the passage is of, where it is not the statement's own


class ProposedStatement(NamedTuple):
    """A proposal and the entry that waits, or why there is none."""

    proposal: StatementProposal
    entry: Entry | None
    refused: str = ""


def propose_changes(
    home: Home, database: Database, audit: Audit, *, project: str, now: float
) -> tuple[ProposedStatement, ...]:
    """Let every change that an audit proposes wait for a person; nothing is changed before a yes."""
    state = ledger_of(home, database).state()
    reminders = frozenset(
        name for each in audit.statements if state.get(Form.RULE, name := _reminder_of(each)) is not None
    )
    found: list[ProposedStatement] = []
    for proposal, patch in islice(patches_of(audit, project=project, reminders=reminders), MOST):
        try:
            entry = propose(home, database, patch, actor=Actor.POLICY, now=now)
            found.append(ProposedStatement(proposal, entry))
        except WhetError as error:
            found.append(ProposedStatement(proposal, None, str(error)))
    return tuple(found)


def patches_of(
    audit: Audit, *, project: str, reminders: frozenset[str] = frozenset()
) -> Iterator[tuple[StatementProposal, Patch]]:
    """The changes of an audit, each as a patch of the passage that it shows; `reminders` are those in force."""
    texts = {file.path: _text(Path(audit.root) / file.path, audit.root) for file in audit.files if file.text}
    places = {each: found for each in audit.statements if (found := better_place(each, audit.files))}
    kept = {(found.path, folded(each.statement.text)) for each, found in places.items()}
    for audited in audit.statements:
        real, text = texts.get(audited.statement.file) or ("", "")
        # What was copied to where it is needed stands there on purpose.
        if not text or (audited.statement.file, folded(audited.statement.text)) in kept:
            continue
        reminder, place = _reminder_of(audited), places.get(audited)
        is_said = f"the reminder {reminder} at the call" if reminder in reminders else ""
        if place and folded(audited.statement.text) in folded(place.text):
            is_said = place.path
        there = texts.get(place.path) if place and not is_said else None
        copied = copied_to(audited, place, there[1]) if place and there else None
        gone = moved(audited, text, is_said) if is_said else None
        for proposal in (gone,) if gone else (copied,) if copied else proposals(audited, text):
            if proposal.passage is not None:
                yield proposal, _change(proposal, proposal.passage, there[0] if there and proposal.file else real)
            elif reminder not in reminders:
                yield proposal, _rule(proposal, reminder, project)


def proposals(audited: AuditedStatement, text: str) -> Iterator[StatementProposal]:
    """What could be done about a statement of a file with this text, at most one change of its lines."""
    broken = audited.marked(StatementMark.BROKEN)
    if broken is not None:
        said = " ".join(_LEAD.sub("", audited.statement.text).split())
        if len(said) <= LONGEST_RULE and audited.statement.kind is not StatementKind.CODE:
            yield StatementProposal(ProposalKind.REMIND, audited, broken, reminder=said)
    for finding in audited.findings:
        changed = _corrected(finding, text) if finding.instead and finding.named else None
        if changed is not None:
            yield StatementProposal(ProposalKind.CORRECT, audited, finding, changed)
            return
    shorter = _shortened(audited, text)
    if shorter is not None:
        wrong = next(each for each in audited.findings if each.mark is StatementMark.WRONG)
        yield StatementProposal(ProposalKind.SHORTEN, audited, wrong, shorter)
        return
    for finding in audited.findings:
        if finding.mark in REMOVABLE or (finding.mark is StatementMark.WRONG and _says_nothing_else(audited, finding)):
            gone = passage_without(audited.statement, text)
            if gone is not None:
                kind = ProposalKind.MERGE if finding.mark is StatementMark.DOUBLED else ProposalKind.REMOVE
                yield StatementProposal(kind, audited, finding, gone)
            return


def moved(audited: AuditedStatement, text: str, where: str) -> StatementProposal | None:
    """The file without a statement that is said where it is needed. First the one, then the other: at no time is it
    said nowhere.
    """
    gone = passage_without(audited.statement, text)
    finding = StatementFinding(StatementMark.DOUBLED, f"{where} says it", audited.statement.line, where=where)
    return StatementProposal(ProposalKind.MOVE, audited, finding, gone) if gone else None


def copied_to(audited: AuditedStatement, file: InstructionFile, text: str) -> StatementProposal | None:
    """A file that is read where a statement is needed, with the statement at its end."""
    lines = lines_of(text.removeprefix(MARK))
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    said = [f"{line.rstrip()}{ending}" for line in textwrap.dedent(audited.statement.text).split("\n")]
    is_list = audited.statement.kind is StatementKind.ITEM and bool(lines) and bool(_LEAD.match(lines[-1]))
    gap = [] if is_list or (lines and not lines[-1].strip()) else [ending]
    last = [] if not lines or lines[-1].endswith("\n") else [f"{lines[-1]}{ending}"]
    change = passage(text, len(lines) + 1 - len(last), len(lines), [*last, *gap, *said])
    why = f"all that it names is in `{posixpath.dirname(file.path)}/`: {file.path} is read there"
    if file.is_on_demand:
        why = f"{file.path} names all that it names, and is read when it is needed"
    finding = StatementFinding(StatementMark.DOUBLED, why, audited.statement.line, where=file.path)
    return StatementProposal(ProposalKind.MOVE, audited, finding, change, file=file.path) if change else None


def better_place(audited: AuditedStatement, files: Iterable[InstructionFile]) -> InstructionFile | None:
    """The file that is read only where a statement is needed: of the folder that all its paths lie in, or of the one
    skill that names all that it names. None for what is read there already, or wants another change.
    """
    statement, every = audited.statement, {file.path: file for file in files if file.text and not file.same_as}
    own = every.get(statement.file)
    is_sound = statement.kind in MOVABLE and not any(each.mark in FAULTS for each in audited.findings)
    if own is None or own.is_on_demand or not is_sound or statement.text[:1].isspace():
        return None
    things = [each for each in things_in(statement) if each.kind in (ThingKind.PATH, ThingKind.COMMAND)]
    paths = [each.text for each in things if each.kind is ThingKind.PATH and each.is_certain]
    folder = posixpath.commonpath([posixpath.dirname(each) for each in paths]) if len(paths) == len(things) > 0 else ""
    while folder:
        nested = every.get(posixpath.join(folder, posixpath.basename(statement.file)))
        if nested and nested is not own and not nested.is_on_demand:
            return nested
        folder = posixpath.dirname(folder)
    skills = [file for path, file in every.items() if file.is_on_demand and posixpath.basename(path) == "SKILL.md"]
    told = [file for file in skills if len(things) >= FEWEST_NAMES and all(each.text in file.text for each in things)]
    return told[0] if len(told) == 1 else None


def _corrected(finding: StatementFinding, text: str) -> PassageChange | None:
    """The line with what is there in the place of what is not, where it names it once."""
    lines = lines_of(text.removeprefix(MARK))
    if not 0 < finding.line <= len(lines):
        return None
    line = lines[finding.line - 1]
    found = list(re.finditer(rf"(?<![\w/.-]){re.escape(finding.named)}(?![\w-])", line))
    if len(found) != 1:
        return None
    new = line[: found[0].start()] + finding.instead + line[found[0].end() :]
    return passage(text, finding.line, finding.line, [new])


def _says_nothing_else(audited: AuditedStatement, finding: StatementFinding) -> bool:
    """Whether a statement is an item or a row that is about the missing thing alone: it names it before all else."""
    statement = audited.statement
    is_short = statement.kind in (StatementKind.ITEM, StatementKind.ROW) and statement.line == statement.last
    lead = _LEAD.sub("", statement.text).lstrip(" |*`")
    return is_short and lead.startswith(finding.named.rstrip("/"))


def _shortened(audited: AuditedStatement, text: str) -> PassageChange | None:
    """A block without its lines that are wrong; None where a line belongs to others, or nothing would be left."""
    statement = audited.statement
    first, last = statement.line, statement.last
    wrong = {each.line for each in audited.findings if each.mark is StatementMark.WRONG}
    if statement.kind is not StatementKind.CODE or not wrong or not all(first < line < last for line in wrong):
        return None
    lines = lines_of(text.removeprefix(MARK))[first - 1 : last]
    goes_on = {first + place for place, line in enumerate(lines) if line.rstrip().endswith("\\")}
    if any(line in goes_on or line - 1 in goes_on for line in wrong):
        return None
    kept = [line for number, line in enumerate(lines, first) if number not in wrong]
    return passage(text, first, last, kept) if any(line.strip() for line in kept[1:-1]) else None


def passage_without(statement: Statement, text: str) -> PassageChange | None:
    """The file without a statement, and without the blank line that would be doubled."""
    lines = lines_of(text.removeprefix(MARK))
    first, last = statement.line, statement.last
    is_blank_before = first == 1 or not lines[first - 2].strip()
    if is_blank_before and last < len(lines) and not lines[last].strip():
        last += 1
    return passage(text, first, last, [])


def _reminder_of(audited: AuditedStatement) -> str:
    return f"told-{audited.statement.id}"


def _origin(proposal: StatementProposal) -> PatchOrigin:
    by = PatchWriter.MODEL if proposal.finding.mark is StatementMark.READ else PatchWriter.POLICY
    return PatchOrigin(by, said=f"{proposal.audited.statement.place}: {proposal.finding.why}.")


def _rule(proposal: StatementProposal, name: str, project: str) -> Patch:
    scope, moment = Scope(project=project, at_call=True), proposal.finding.where
    # What was to be done before a call is said at that call; else at the calls that it is against.
    said = RuleSituation(moment, before=proposal.finding.named) if moment else RuleSituation(said=proposal.reminder)
    proofs, origin = proposal.finding.proofs, _origin(proposal)
    return Patch(Form.RULE, Action.ADD, name, proposal.reminder, scope, origin, proofs=proofs, situation=said)


def _change(proposal: StatementProposal, changed: PassageChange, real: str) -> Patch:
    name, before = changed.name(real), digest(changed.before)
    proofs, origin = proposal.finding.proofs, _origin(proposal)
    return Patch(Form.STATEMENT, Action.CHANGE, name, changed.after, origin=origin, proofs=proofs, before=before)


def _text(path: Path, root: str) -> tuple[str, str] | None:
    """Where a file of the project really is, and its words; None for one that Whet does not change."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)) or not is_read_by_agents(str(real)):
        return None
    try:
        return str(real), files.decoded(files.read(files.at(real)) or b"", real)
    except WhetError:  # it is not UTF-8, or nobody may read it: the audit says so
        return None
